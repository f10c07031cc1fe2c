// Command proofsuite proves what can be proved of the algorithms, the code that is generated from them, and the
// protocols below, stage after stage, and prints one table of it:
//
//	schedule   verify proves the schedule of every number of ranks up to 64, of each root
//	code       the generated functions do what the proved schedules say, step by step, and wrong ones do not
//	           (go test ./fast/internal/emittest)
//	text       the text of these functions, read back, is the algorithm, for every number of ranks, and wrong text
//	           is not (gen/readback)
//	trace      what jobs note of what they do is what the proved schedules say (go test ./verify/replay)
//	every      invariants, decided by SMT solvers: every number of ranks (collgen prove)
//	refute     a solver refutes wrong algorithms and invariants, for each part of each obligation one
//	           (go test ./verify/smtproof)
//	model      two checkers of TLA+ agree on the models of what runs below, and on what fails without its guards
//	           (tlaplus)
//	mutant     mistakes that are planted are found (verify/mutate)
//
// It runs the command of each stage, whose progress it shows, and fails if anything is not as it has to be. The
// module's root is the current directory.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// row is a line of the table.
type row struct {
	What    string  `json:"what"` // an algorithm, a model, a kind of mutants
	Stage   string  `json:"stage"`
	Sizes   string  `json:"sizes"` // numbers of ranks
	Verdict string  `json:"verdict"`
	Failed  bool    `json:"failed,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

// stage is a command and what its output means.
type stage struct {
	name    string
	env     []string
	command []string
	rows    func(output []byte) ([]row, error)
}

func main() {
	tla := flag.String("tla", "", "the `command` that checks the models and writes JSON; make prove gives it")
	long := flag.Bool("long", false, "also what takes longer: larger models, every mutant of schedules and algorithms, "+
		"more of source code")
	recorded := flag.Bool("recorded", false, "the stage every does not ask the solvers again what they decided according "+
		"to the record")
	only := flag.String("stages", "", "only `these`, with commas between them")
	asJSON := flag.Bool("json", false, "write JSON")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	stages, err := choose(stages(strings.Fields(*tla), *long, *recorded), *only)
	if err == nil {
		err = runAll(ctx, stages, os.Stdout, os.Stderr, *asJSON)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "proofsuite:", err)
		os.Exit(1)
	}
}

// stages returns all stages.
func stages(tla []string, long, recorded bool) []stage {
	mutate := []string{"go", "run", "./verify/mutate", "-json"}
	code := "4"
	if long {
		tla, mutate, code = append(tla, "-long"), append(mutate, "-long"), "40"
	}
	// of each package, with the seed that the table says; four are the same at each run, a smoke test as the table says
	mutate = append(mutate, "-code", code)
	var replay []string
	if long {
		replay = []string{"COLLGEN_REPLAY=all"}
	}
	every := []string{"prove", "-v", "-json", "-catalogue", "-limit", "10m"}
	if recorded {
		every = append(every, "-recorded")
	}
	collgen := func(args ...string) []string { return append([]string{"go", "run", "./cmd/collgen"}, args...) }
	return []stage{
		{"schedule", nil, collgen("verify", "-v", "-json", "-catalogue"), schedules},
		{"code", []string{"COLLGEN_EMITTED=all"}, []string{"go", "test", "-count=1", "-json", "-timeout", "2h",
			"-run", "^(TestEmittedCodeIsTheSchedule|TestEmittedCodeReturnsErrors|TestCallsAreTheSpecification|" +
				"TestMutatedCodeIsNotTheSchedule)$", "./fast/internal/emittest"}, tests("holds", "does not hold")},
		{"text", nil, []string{"go", "test", "-count=1", "-json", "-timeout", "1h",
			"-run", "^(TestCatalogue|TestMutants|TestTableMutants)$", "./gen/readback"}, tests("holds", "does not hold")},
		{"trace", replay, []string{"go", "test", "-count=1", "-json", "-timeout", "1h", "-run", "^Test", "./verify/replay"},
			tests("holds", "does not hold")},
		{"every", nil, collgen(every...), everySize},
		{"refute", []string{"COLLGEN_SOLVERS=required"}, []string{"go", "test", "-count=1", "-json", "-timeout", "1h", "-run",
			"^Test", "./verify/smtproof"},
			tests("holds", "does not hold")},
		{"model", nil, tla, models},
		{"mutant", nil, mutate, mutants},
	}
}

// choose returns those of all that are named; no names: all.
func choose(all []stage, names string) ([]stage, error) {
	if names == "" {
		return all, nil
	}
	var chosen []stage
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(s stage) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no stage %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// runAll runs one stage after the other, also after one that failed, and prints the table.
func runAll(ctx context.Context, stages []stage, out, progress io.Writer, asJSON bool) error {
	var table []row
	var errs []error
	for _, r := range stages {
		fmt.Fprintf(progress, "%s: %s\n", r.name, strings.Join(r.command, " "))
		start := time.Now()
		rows, err := r.run(ctx, progress)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", r.name, err))
		}
		table = append(append(table, rows...), total(r.name, rows, time.Since(start)))
	}
	return errors.Join(append(errs, show(out, table, asJSON))...)
}

// total returns the last line of a stage.
func total(stage string, rows []row, took time.Duration) row {
	failed := 0
	for _, r := range rows {
		if r.Failed {
			failed++
		}
	}
	return row{What: "in all", Stage: stage, Verdict: fmt.Sprintf("%d of %d as they should be", len(rows)-failed,
		len(rows)),
		Failed: failed > 0 || len(rows) == 0, Seconds: took.Seconds()}
}

// run returns what the stage's command finds. A stage without rows has failed, whatever its command says.
func (r *stage) run(ctx context.Context, progress io.Writer) ([]row, error) {
	if len(r.command) == 0 {
		return nil, errors.New("no command is given; make prove does")
	}
	cmd := exec.CommandContext(ctx, r.command[0], r.command[1:]...)
	cmd.Env, cmd.Stderr = append(os.Environ(), r.env...), progress
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	output, failed := cmd.Output()
	rows, err := r.rows(output)
	if failed == nil && err == nil && len(rows) == 0 {
		err = errors.New("it has proved nothing")
	}
	for i := range rows {
		rows[i].Stage = r.name
		if rows[i].Failed {
			err = errors.Join(err, fmt.Errorf("%s: %s", rows[i].What, rows[i].Verdict))
		}
	}
	return rows, errors.Join(failed, err)
}

// show prints the table.
func show(out io.Writer, table []row, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(table)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\trung\tsizes\tverdict\tseconds")
	for _, r := range table {
		seconds := ""
		if r.Seconds > 0 { // not all stages measure each row
			seconds = fmt.Sprintf("%.1f", r.Seconds)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.What, r.Stage, r.Sizes, r.Verdict, seconds)
	}
	return w.Flush()
}

// decodeAll decodes one JSON value after the other.
func decodeAll[T any](output []byte) (all []T, err error) {
	for d := json.NewDecoder(bytes.NewReader(output)); ; {
		var x T
		switch err := d.Decode(&x); err {
		case nil:
			all = append(all, x)
		case io.EOF:
			return all, nil
		default:
			return all, fmt.Errorf("its output: %w", err)
		}
	}
}
