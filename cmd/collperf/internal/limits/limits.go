// Package limits measures the best that this machine can do: copying and adding at each level of memory, handing over
// between cores and threads, messages over TCP.
package limits

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/collgen/collgen/internal/figures"
	"github.com/collgen/collgen/internal/program"
)

// Limit is the best that this machine can do, with any algorithm: a bandwidth or a latency.
type Limit struct {
	Name    string  `json:"limit"` // copy, reduce, …
	Where   string  `json:"where"` // the level of the memory, or between what
	Bytes   int     `json:"bytes"` // of one operand or message
	Cores   int     `json:"cores"` // at work at the same time
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`              // GB/s (10⁹ bytes of one operand) or us (one way)
	Refused string  `json:"refused,omitempty"` // why there is no value
}

// probe measures limits of one kind.
type probe struct {
	name string
	run  func(ctx context.Context) ([]Limit, error)
}

// probes are all probes of this system.
var probes = append([]probe{
	{"memory", memoryLimits},
	{"cache line", lineLimits},
	{"tcp", tcpLimits},
}, systemProbes...)

// probeTime is how long a value is measured at least. The best of several such times counts, because a limit is what
// can be reached.
const (
	probeTime  = 10 * time.Millisecond
	probeTries = 5
)

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

// best returns the shortest time of one repetition, in seconds. f repeats something n times; n grows until that is long
// enough for the clock.
func best(ctx context.Context, f func(n int) error) (float64, error) {
	shortest := 0.0
	for n, tries := 1, 0; tries < probeTries; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		start := time.Now()
		if err := f(n); err != nil {
			return 0, err
		}
		took := time.Since(start)
		if took < probeTime {
			n *= 2
			continue
		}
		if once := took.Seconds() / float64(n); tries == 0 || once < shortest {
			shortest = once
		}
		tries++
	}
	return shortest, nil
}
