package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var sampleLimits = []limit{
	{Name: "copy", Where: "DRAM", Bytes: 64 << 20, Cores: 2, Value: 20.5, Unit: "GB/s"},
	{Name: "reduce", Where: "DRAM", Bytes: 64 << 20, Cores: 2, Value: 21, Unit: "GB/s"},
	{Name: "cache line", Where: "between cores", Bytes: 8, Cores: 2, Value: .05, Unit: "us"},
	{Name: "futex", Refused: "there is none"},
}

func TestPlot(t *testing.T) {
	var b bytes.Buffer
	if err := plot(&b, "2 cores & <more>", sampleResults(t), sampleLimits); err != nil {
		t.Fatal(err)
	}
	wantXML(t, b.String())
	golden(t, "plot.svg", b.String())
}

// wantXML fails the test unless text can be read to its end as XML, and has no number that is none.
func wantXML(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Error(text)
	}
}

// TestPlotOfLittle: of one size, and of none.
func TestPlotOfLittle(t *testing.T) {
	all := sampleResults(t)
	for _, some := range [][]*result{all[:1], all[len(all)-1:]} {
		var b bytes.Buffer
		if err := plot(&b, "little", some, nil); err != nil {
			t.Fatal(err)
		}
		wantXML(t, b.String())
	}
}

func TestLabelsDoNotOverlap(t *testing.T) {
	lines := limitLines(append([]limit(nil), sampleLimits[:2]...), &axis{least: 1, most: 100, from: 300, to: 0})
	if len(lines) != 2 || lines[1].LabelAt-lines[0].LabelAt < labelHeight || !strings.HasPrefix(lines[0].Label, "reduce") {
		t.Errorf("%+v", lines)
	}
}

func TestPlotsWhatItMeasures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plot.svg")
	runs(t, 0, "-plot", file, "-transport", inproc, "-ranks", "2", "-e", "1K", "-f", "16", "-n", "1")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	wantXML(t, string(text))
	if !strings.Contains(string(text), "all-reduce, 2 ranks over inproc, in place: 128, ") {
		t.Errorf("%s", text)
	}
	runs(t, 2, "-plot", filepath.Join(file, "none", "none"), "-transport", inproc, "-ranks", "2", "-e", "8", "-n", "1")
}
