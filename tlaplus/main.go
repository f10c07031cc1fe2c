// Command tlaplus checks the models in this folder with two checkers, TLC and tla-checker, and fails unless both find
// of each configuration what the manifest expects. Most configurations take a guard out of a model, and have to fail.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/collgen/collgen/internal/scratch"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir := flag.String("dir", "tlaplus", "`folder` that has models and config")
	jar := flag.String("jar", os.Getenv("TLA2TOOLS_JAR"), "the TLA+ tools: a `file`")
	folder := flag.String("tla-checker", "", "`folder` of the npm package tla-checker")
	long := flag.Bool("long", false, "also what takes longer")
	bin := flag.String("traces", "", "check what real runs wrote down, of the programs collrun and job in that "+
		"`folder`, instead of the models")
	match := flag.String("run", "", "only the configurations whose file, MODEL/CONFIG.cfg, matches the `pattern`")
	asJSON := flag.Bool("json", false, "write JSON")
	jobs := flag.Int("j", 2, "`number` of checkers that run at once")
	flag.Parse()
	pattern, err := regexp.Compile(*match)
	if err == nil {
		*jar, err = filepath.Abs(*jar)
	}
	if err == nil {
		err = tools(*jar, filepath.Join(*folder, "tla_checker.js"))
	}
	var results []result
	if err == nil {
		r := &runner{dir: *dir, checkers: []checker{tlc(*jar), tlaChecker(*folder)}, jobs: *jobs, limit: 10 * time.Minute,
			progress: os.Stderr}
		results, err = r.all(ctx, pattern, *long, *bin)
	}
	if err == nil {
		err = report(os.Stdout, results, *asJSON)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tlaplus:", err)
		os.Exit(1)
	}
}

// all checks the models, or the traces of the programs in bin.
func (r *runner) all(ctx context.Context, pattern *regexp.Regexp, long bool, bin string) ([]result, error) {
	if bin == "" {
		return r.run(ctx, chosen(pattern, long))
	}
	temp, remove, err := scratch.Dir("traces")
	if err != nil {
		return nil, err
	}
	defer remove()
	checks, err := traced(ctx, bin, temp)
	if err != nil {
		return nil, err
	}
	return r.run(ctx, slices.DeleteFunc(checks, func(c *check) bool { return !pattern.MatchString(c.config) }))
}

// tools says which of the checkers' files is missing.
func tools(files ...string) error {
	for _, f := range files {
		if _, err := os.Stat(f); err != nil {
			return fmt.Errorf("a checker is missing; `make tla` installs both: %w", err)
		}
	}
	return nil
}

// chosen returns the checks of the manifest whose files match.
func chosen(pattern *regexp.Regexp, long bool) (checks []*check) {
	for i := range manifest {
		if c := &manifest[i]; pattern.MatchString(c.file()) && (long || !c.long) {
			checks = append(checks, c)
		}
	}
	return checks
}

// runner runs checks.
type runner struct {
	dir      string
	checkers []checker
	jobs     int
	limit    time.Duration // of one checker with one check
	progress io.Writer
}

// run returns what all checkers find, in the order of the checks. It stops at the first checker that cannot do its
// work.
func (r *runner) run(ctx context.Context, checks []*check) ([]result, error) {
	temp, remove, err := scratch.Dir("tlaplus")
	if err != nil {
		return nil, err
	}
	defer remove()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make([]result, len(checks)*len(r.checkers))
	free := make(chan struct{}, r.jobs)
	var all sync.WaitGroup
	for i := range results {
		c, k := checks[i/len(r.checkers)], r.checkers[i%len(r.checkers)]
		free <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-free }()
			var err error
			if results[i], err = r.one(ctx, c, k, filepath.Join(temp, fmt.Sprint(i))); err != nil {
				cancel(fmt.Errorf("%s, %s: %w", c.file(), k.name, err))
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for i := range checks {
		compare(checks[i], results[i*len(r.checkers):(i+1)*len(r.checkers)])
	}
	return results, nil
}

// one has one checker do one check.
func (r *runner) one(ctx context.Context, c *check, k checker, dir string) (result, error) {
	t, err := c.prepare(r.dir, dir)
	if err != nil {
		return result{}, err
	}
	start := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, r.limit, fmt.Errorf("it has not ended after %v", r.limit))
	defer cancel()
	found, err := k.run(ctx, t)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	found.Model, found.Config, found.Checker, found.Time = c.model, c.config, k.name, time.Since(start)
	if err == nil {
		fmt.Fprintf(r.progress, "%-40s %-12s %-12s %7d states %6.1fs\n", c.model+" "+c.config, k.name, found.Verdict,
			found.States, found.Time.Seconds())
	}
	return found, err
}

// compare says in results what is not as c expects.
func compare(c *check, results []result) {
	for i := range results {
		switch r := &results[i]; {
		case r.Verdict != c.want:
			r.Problem = fmt.Sprintf("want %s", c.want)
			if r.Refused != "" {
				r.Problem += "; refused at " + r.Refused
			}
		case r.Refused != c.refused:
			r.Problem = fmt.Sprintf("refused at %s, want %s", r.Refused, c.refused)
		case c.refused != "":
		case c.states < 0 && r.States != results[0].States:
			r.Problem = fmt.Sprintf("%s has found %d states", results[0].Checker, results[0].States)
		case c.states >= 0 && c.trace == 0 && r.States != c.states:
			r.Problem = fmt.Sprintf("want %d states", c.states)
		case c.trace != 0 && r.Trace != c.trace:
			r.Problem = fmt.Sprintf("a counterexample of %d states, want %d", r.Trace, c.trace)
		}
	}
}

// report writes the table, or JSON. Its error names each result that is not as expected.
func report(w io.Writer, results []result, asJSON bool) error {
	var wrong []string
	for _, r := range results {
		if r.Problem != "" {
			wrong = append(wrong, fmt.Sprintf("\n%s %s, %s: %s; %s", r.Model, r.Config, r.Checker, r.Verdict, r.Problem))
		}
	}
	if err := write(w, results, asJSON); err != nil {
		return err
	}
	switch {
	case len(results) == 0:
		return fmt.Errorf("no configuration was checked")
	case len(wrong) > 0:
		return fmt.Errorf("%d of %d results are not what the manifest expects:%s", len(wrong), len(results),
			strings.Join(wrong, ""))
	}
	return nil
}

func write(w io.Writer, results []result, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(results)
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "model\tconfig\tchecker\tverdict\tstates\ttrace\ttime\t")
	for _, r := range results {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%d\t%.1fs\t%s\n", r.Model, r.Config, r.Checker, r.Verdict, r.States, r.Trace,
			r.Time.Seconds(), r.Problem)
	}
	return t.Flush()
}
