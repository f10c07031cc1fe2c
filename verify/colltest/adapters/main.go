// Command adapters has other libraries, such as Open MPI and Gloo, make the calls that package colltest draws. It
// prints a table of what came out. It builds the programs in this folder. docs/lab/peers.md tells of what was found: a
// cell of the table that says so names its section there. Anything else that fails is new, and the exit status is 1; so
// it is where an entrant cannot be built or does not run to its end, and where next to nothing was called. Libraries
// that are not installed are said not to be tested.
//
//	go run ./verify/colltest/adapters [-ranks 8] [-checks 10] [-only name] [-write docs/lab/peers.md]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/collgen/collgen/verify/colltest"
)

// options are the flags.
type options struct {
	ranks, checks int
	only, write   string
	kept          bool
	primitives    []string // none: all
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	flag.IntVar(&o.ranks, "ranks", 8, "the largest `number` of ranks")
	flag.IntVar(&o.checks, "checks", 10, "`number` of cases drawn at random for each primitive and size, besides "+
		"those for each type, op, form and length")
	flag.StringVar(&o.only, "only", "", "only the entrants whose name begins with `name`")
	flag.StringVar(&o.write, "write", "", "write the document to `file`, run at the root of the repository. Rows of "+
		"entrants that are not run stay as they are in "+kept)
	flag.BoolVar(&o.kept, "kept", false, "with -write: run nothing, and write what is kept")
	flag.Parse()
	if err := run(ctx, o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs all entrants. Its error is what is wrong with any of them.
func run(ctx context.Context, o options, stdout, stderr io.Writer) error {
	w, err := newWorkshop()
	if err != nil {
		return err
	}
	defer w.close()
	var results []*result
	for i := range entrants {
		e := &entrants[i]
		if !strings.HasPrefix(e.name, o.only) || o.kept {
			continue
		}
		begin := time.Now()
		r := w.enter(ctx, e, o)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		fmt.Fprintf(stderr, "%s: %v\n", e.title(), time.Since(begin).Round(time.Second/10))
		results = append(results, r)
	}
	if len(results) == 0 && !o.kept {
		return fmt.Errorf("there is no entrant whose name begins with %q", o.only)
	}
	write(stdout, results)
	var wrong []error
	if o.write != "" {
		wrong = append(wrong, rewrite(o, results))
	}
	for _, r := range results {
		wrong = append(wrong, r.wrong())
	}
	return errors.Join(wrong...)
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
			fmt.Fprintf(out, "\n%s was not tested: %v\n", r.entrant.title(), r.missing)
		}
		for _, name := range slices.Sorted(maps.Keys(r.failures)) {
			for _, f := range r.failures[name] {
				if _, isKnown := r.entrant.which(name, f); !isKnown {
					fmt.Fprintf(out, "\nNew: %s, %s\n  %v\n", r.entrant.title(), name, f)
				}
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
	missing  error // why it could not be tested, or not to its end
	name     string
	version  string
	tested   map[string]colltest.Counts
	failures map[string][]*colltest.Failure // by primitive
	untested []string
}

// unknown returns how many failures are not known.
func (r *result) unknown() (n int) {
	for name, failures := range r.failures {
		for _, f := range failures {
			if _, isKnown := r.entrant.which(name, f); !isKnown {
				n++
			}
		}
	}
	return n
}

// leastCalls are fewer than those of any entrant that was tested and has not failed.
const leastCalls = 100

// wrong returns why r does not say that the entrant conforms, but for what is known.
func (r *result) wrong() error {
	switch {
	case errors.Is(r.missing, errAbsent):
		return nil
	case r.missing != nil:
		return fmt.Errorf("%s was not tested: %w", r.entrant.title(), r.missing)
	case r.unknown() > 0:
		return fmt.Errorf("%s has %d failures that are new", r.entrant.title(), r.unknown())
	case r.calls() < leastCalls && len(r.failures) == 0:
		return fmt.Errorf("%s has made %d calls, fewer than %d", r.entrant.title(), r.calls(), leastCalls)
	}
	return nil
}

func (r *result) calls() (n int) {
	for _, c := range r.tested {
		n += c.Calls
	}
	return n
}

// cells returns what the table says of each primitive.
func (r *result) cells() (cells []string) {
	for _, name := range columns {
		cells = append(cells, r.cell(name))
	}
	return cells
}

// cell returns what the table says of a primitive: the sections of what was found, and of what is known and was not.
func (r *result) cell(name string) string {
	if _, tested := r.tested[name]; !tested {
		return "-"
	}
	var sections []string
	for _, f := range r.failures[name] {
		is, isKnown := r.entrant.which(name, f)
		if !isKnown {
			return "NEW"
		}
		sections = append(sections, is.section)
	}
	for _, known := range r.entrant.known[name] {
		if !slices.Contains(sections, known.section) {
			sections = append(sections, "not "+known.section)
		}
	}
	if len(sections) == 0 {
		return "ok"
	}
	slices.Sort(sections)
	return strings.Join(slices.Compact(sections), ", ")
}

// columns are the primitives of the table, and all of them together.
var columns = []string{"Broadcast", "Scatter", "Gather", "Reduce", "AllGather", "AllReduce", "ReduceScatter",
	"AllToAll", "Barrier", "Send", "Scan", "Exscan", "NeighborAllToAll", "NeighborAllGather", colltest.Mixed}
