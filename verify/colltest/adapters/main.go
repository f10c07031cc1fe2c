// Command adapters has Open MPI, MPICH and Gloo make the calls that package colltest draws, and prints a table of what came out.
// It builds the programs in this folder; what cannot be built is left out, with the reason. docs/peers.md tells of what was
// found: a cell of the table that says so names its section there. Anything else that fails is new, and the exit status is 1.
//
//	go run ./verify/colltest/adapters [-ranks 8] [-checks 50] [-only name]
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/collgen/collgen/verify/colltest"
)

// options are the flags.
type options struct {
	ranks, checks int
	only          string
	primitives    []string // none: all
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	flag.IntVar(&o.ranks, "ranks", 8, "the largest `number` of ranks")
	flag.IntVar(&o.checks, "checks", 50, "`number` of cases drawn at random for each primitive, besides one for each size, type, op and form")
	flag.StringVar(&o.only, "only", "", "only the entrants whose name begins with `name`")
	flag.Parse()
	unknown, err := run(ctx, o, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || unknown > 0 {
		os.Exit(1)
	}
}

// run runs all entrants, and returns how many failures are new.
func run(ctx context.Context, o options, stdout, stderr io.Writer) (unknown int, err error) {
	w, err := newWorkshop()
	if err != nil {
		return 0, err
	}
	defer w.close()
	var results []*result
	for i := range entrants {
		e := &entrants[i]
		if !strings.HasPrefix(e.name, o.only) {
			continue
		}
		begin := time.Now()
		r := w.enter(ctx, e, o)
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		fmt.Fprintf(stderr, "%s: %v\n", e.title(), time.Since(begin).Round(time.Second/10))
		results = append(results, r)
		unknown += r.unknown()
	}
	write(stdout, results)
	return unknown, nil
}

// write prints the table, then what is new, and what was not tested.
func write(out io.Writer, results []*result) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\t%s\tcalls\n", strings.Join(columns, "\t"))
	for _, r := range results {
		fmt.Fprintf(t, "%s\t%s\t%d\n", r.entrant.title(), strings.Join(r.cells(), "\t"), r.calls())
	}
	t.Flush()
	for _, r := range results {
		if r.missing != nil {
			fmt.Fprintf(out, "\n%s is left out: %v\n", r.entrant.title(), r.missing)
		}
		for name, f := range r.failures {
			if r.entrant.known[name] == "" {
				fmt.Fprintf(out, "\nNew: %s, %s\n  %v\n", r.entrant.title(), name, f)
			}
		}
		if len(r.untested) > 0 {
			fmt.Fprintf(out, "\n%s (%s), not tested: %s\n", r.entrant.title(), r.name, strings.Join(r.untested, "; "))
		}
	}
}

// result is what came of an entrant.
type result struct {
	entrant  *entrant
	missing  error // why it is left out
	name     string
	tested   map[string]colltest.Counts
	failures map[string]*colltest.Failure // by primitive
	untested []string
}

// unknown is how many failures are not known.
func (r *result) unknown() (n int) {
	for name := range r.failures {
		if r.entrant.known[name] == "" {
			n++
		}
	}
	return n
}

func (r *result) calls() (n int) {
	for _, c := range r.tested {
		n += c.Calls
	}
	return n
}

// cells are what the table says of each primitive.
func (r *result) cells() (cells []string) {
	for _, name := range columns {
		_, tested := r.tested[name]
		known := r.entrant.known[name]
		switch {
		case !tested:
			cells = append(cells, "-")
		case r.failures[name] == nil && known != "":
			cells = append(cells, "not "+known) // what is known was not found this time
		case r.failures[name] == nil:
			cells = append(cells, "ok")
		case known != "":
			cells = append(cells, known)
		default:
			cells = append(cells, "NEW")
		}
	}
	return cells
}

// columns are the primitives of the table.
var columns = []string{"Broadcast", "Scatter", "Gather", "Reduce", "AllGather", "AllReduce", "ReduceScatter", "AllToAll", "Barrier", "Send"}
