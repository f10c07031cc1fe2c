package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

// result is what a checker says of a check.
type result struct {
	Model   string `json:"model"`
	Config  string `json:"config"`
	Checker string `json:"checker"`
	Verdict string `json:"verdict"` // "ok", "deadlock", or the name of what is violated
	States  int    `json:"states"`  // distinct ones; as far as it has looked
	Trace   int    `json:"trace"`   // states of the counterexample
	// the line of a trace of a run, by its rank, that the model cannot follow
	Refused string        `json:"refused,omitempty"`
	Time    time.Duration `json:"nanoseconds"`
	Problem string        `json:"problem,omitempty"` // why it is not what was expected
}

// task is a check, in files for a checker: Model.tla and Model.cfg in dir.
type task struct {
	*check
	dir        string
	cfg        string   // the text of the configuration
	invariants []string // those of the configuration, in order
	property   string   // its only property
}

// checker runs a task. Its error says that the checker could not do its work, with what it printed.
type checker struct {
	name string
	run  func(ctx context.Context, t *task) (result, error)
}

// refusal is what the last state of a counterexample says that is refused.
var refusal = regexp.MustCompile(`refused = <<(\d+), (\d+)>>`)

// refusedIn returns the rank and the line that a checker's output names, of a trace of a run.
func (t *task) refusedIn(out []byte) string {
	all := refusal.FindAllSubmatch(out, -1)
	if all == nil {
		return ""
	}
	last := all[len(all)-1]
	rank, _ := strconv.Atoi(string(last[1]))
	event, _ := strconv.Atoi(string(last[2]))
	if rank >= len(t.lines) || event < 1 || event > len(t.lines[rank]) {
		return "" // what is refused is then not what is expected
	}
	return fmt.Sprintf("rank %d, line %s", rank, t.lines[rank][event-1])
}

// output returns what the command prints. Checkers exit with a status of their own when they have found something.
func output(cmd *exec.Cmd) ([]byte, error) {
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return out, fmt.Errorf("%s: %w", cmd.Path, err)
	}
	return out, nil
}
