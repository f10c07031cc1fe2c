// Package report prints the results of measurements as text, JSON, CSV and Go benchmarks, and draws them.
package report

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
)

// Format is a way to print results.
type Format struct {
	Name string
	// print prints one result; before is the one printed before, nil at first.
	print func(o *Options, w io.Writer, r, before *bench.Result) error
	// end prints what follows the last result; nil: nothing.
	end func(o *Options, w io.Writer, last *bench.Result) error
}

// Formats are all formats.
var Formats = []Format{
	{"text", printText, endText},
	{"json", printJSON, nil},
	{"csv", printCSV, nil},
	{"go", printGo, nil},
}

// Printer prints results one after another.
type Printer struct {
	Options
	format Format
	w      io.Writer
	before *bench.Result
}

// NewPrinter returns a printer in one of Formats.
func NewPrinter(format string, o Options, w io.Writer) *Printer {
	i := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == format })
	return &Printer{Options: o, format: Formats[i], w: w}
}

// Print prints a result.
func (p *Printer) Print(r *bench.Result) error {
	err := p.format.print(&p.Options, p.w, r, p.before)
	p.before = r
	return err
}

// End prints what follows the last result.
func (p *Printer) End() error {
	if p.format.end == nil {
		return nil
	}
	return p.format.end(&p.Options, p.w, p.before)
}

func printJSON(_ *Options, w io.Writer, r, _ *bench.Result) error {
	return json.NewEncoder(w).Encode(r)
}
