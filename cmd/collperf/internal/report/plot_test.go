package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
	"github.com/collgen/collgen/cmd/collperf/internal/limits"
	"github.com/collgen/collgen/internal/drawing"
	"github.com/collgen/collgen/internal/drawing/drawingtest"
)

var sampleLimits = []limits.Limit{
	{Name: "copy", Where: "DRAM", Bytes: 64 << 20, Cores: 2, Value: 20.5, Unit: "GB/s"},
	{Name: "reduce", Where: "DRAM", Bytes: 64 << 20, Cores: 2, Value: 21, Unit: "GB/s"},
	{Name: "cache line", Where: "between cores", Bytes: 8, Cores: 2, Value: .05, Unit: "us"},
	{Name: "futex", Refused: "there is none"},
}

func TestPlot(t *testing.T) {
	var b bytes.Buffer
	if err := Plot("2 cores & <more>", sampleResults(t), sampleLimits).SVG(&b); err != nil {
		t.Fatal(err)
	}
	drawingtest.Plain(t, b.String())
	golden(t, "plot.svg", b.String())
}

// TestPlotOfLittle: of one size, and of none.
func TestPlotOfLittle(t *testing.T) {
	all := sampleResults(t)
	for _, some := range [][]*bench.Result{all[:1], all[len(all)-1:]} {
		var b bytes.Buffer
		if err := Plot("little", some, nil).SVG(&b); err != nil {
			t.Fatal(err)
		}
		drawingtest.Plain(t, b.String())
	}
}

func TestLabelsDoNotOverlap(t *testing.T) {
	lines := limitLines(append([]limits.Limit(nil), sampleLimits[:2]...),
		&drawing.Axis{Least: 1, Most: 100, From: 300, To: 0})
	if len(lines) != 2 || lines[1].labelAt-lines[0].labelAt < labelHeight || !strings.HasPrefix(lines[0].label, "reduce") {
		t.Errorf("%+v", lines)
	}
}
