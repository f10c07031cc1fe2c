package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
	"github.com/collgen/collgen/cmd/collperf/internal/limits"
)

var sampleLimits = []limits.Limit{
	{Name: "copy", Where: "DRAM", Bytes: 64 << 20, Cores: 2, Value: 20.5, Unit: "GB/s"},
	{Name: "reduce", Where: "DRAM", Bytes: 64 << 20, Cores: 2, Value: 21, Unit: "GB/s"},
	{Name: "cache line", Where: "between cores", Bytes: 8, Cores: 2, Value: .05, Unit: "us"},
	{Name: "futex", Refused: "there is none"},
}

func TestPlot(t *testing.T) {
	var b bytes.Buffer
	if err := Plot(&b, "2 cores & <more>", sampleResults(t), sampleLimits); err != nil {
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
	for _, some := range [][]*bench.Result{all[:1], all[len(all)-1:]} {
		var b bytes.Buffer
		if err := Plot(&b, "little", some, nil); err != nil {
			t.Fatal(err)
		}
		wantXML(t, b.String())
	}
}

func TestLabelsDoNotOverlap(t *testing.T) {
	lines := limitLines(append([]limits.Limit(nil), sampleLimits[:2]...), &axis{least: 1, most: 100, from: 300, to: 0})
	if len(lines) != 2 || lines[1].LabelAt-lines[0].LabelAt < labelHeight || !strings.HasPrefix(lines[0].Label, "reduce") {
		t.Errorf("%+v", lines)
	}
}
