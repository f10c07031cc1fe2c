package main

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

// limit is what this machine can do at best, whatever the algorithm: a bandwidth or a latency.
type limit struct {
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
	run  func(ctx context.Context) ([]limit, error)
}

// probes are all that there are here, those of the system last.
var probes = append([]probe{
	{"memory", memoryLimits},
	{"cache line", lineLimits},
	{"tcp", tcpLimits},
}, systemProbes...)

// probeTime is how long one value is measured. The best of several such times counts: a limit is what can be reached.
const (
	probeTime  = 10 * time.Millisecond
	probeTries = 5
)

// limitsOf measures all limits. One that cannot be measured says why.
func limitsOf(ctx context.Context, p *program.Progress) (all []limit) {
	for _, probe := range probes {
		p.Stage("limits: %s", probe.name)
		found, err := probe.run(ctx)
		if err != nil {
			found = append(found, limit{Name: probe.name, Refused: err.Error()})
		}
		all = append(all, found...)
	}
	p.Clear()
	return all
}

// printLimits is collperf -limits.
func (o *options) printLimits(ctx context.Context, stdout, stderr io.Writer) error {
	all := limitsOf(ctx, program.NewProgress(stderr))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if o.format == "json" {
		e := json.NewEncoder(stdout)
		for i := range all {
			if err := e.Encode(&all[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return limitTable(stdout, all)
}

func limitTable(w io.Writer, all []limit) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "limit\twhere\tbytes\tcores\tvalue")
	for _, l := range all {
		value := number(l.Value) + " " + l.Unit
		if l.Refused != "" {
			value = "refused: " + l.Refused
		}
		fmt.Fprintf(t, "%s\t%s\t%v\t%d\t%s\n", l.Name, l.Where, figures.Size(l.Bytes), l.Cores, value)
	}
	return t.Flush()
}

// best returns how long f takes at its shortest, which does something n times, in seconds for one time. n grows until
// that is long enough for the clock.
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
