// Package limits measures the best that this machine can do: copying and adding at each level of memory, handing over
// between cores and threads, messages over TCP.
package limits

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/collgen/collgen/internal/figures"
	"github.com/collgen/collgen/internal/program"
)

// probes are all probes of this system.
var probes = append([]probe{
	{"memory", memoryLimits},
	{"cache line", lineLimits},
	{"tcp", tcpLimits},
}, systemProbes...)

// Measure measures all limits. One that cannot be measured says why.
func Measure(ctx context.Context, p *program.Progress) (all []Limit) {
	for _, probe := range probes {
		p.Stage("limits: %s", probe.name)
		found, err := probe.run(ctx)
		if err != nil {
			found = append(found, Limit{Name: probe.name, Refused: err.Error()})
		}
		all = append(all, found...)
	}
	p.Clear()
	return all
}

// Print prints limits as a table or, for the format json, as one object per line.
func Print(w io.Writer, format string, all []Limit) error {
	if format != "json" {
		return printTable(w, all)
	}
	e := json.NewEncoder(w)
	for i := range all {
		if err := e.Encode(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

func printTable(w io.Writer, all []Limit) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "limit\twhere\tbytes\tcores\tvalue")
	for _, l := range all {
		value := figures.Number(l.Value) + " " + l.Unit
		if l.Refused != "" {
			value = "refused: " + l.Refused
		}
		fmt.Fprintf(t, "%s\t%s\t%v\t%d\t%s\n", l.Name, l.Where, figures.Size(l.Bytes), l.Cores, value)
	}
	return t.Flush()
}
