package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

//go:embed tlachecker.mjs
var driver string

var violated = regexp.MustCompile(`^Invariant (\d+) violated`)

// tlaChecker returns the npm package tla-checker in that folder, which runs in Node.
func tlaChecker(folder string) checker {
	return checker{"tla-checker", func(ctx context.Context, t *task) (r result, err error) {
		cmd := exec.CommandContext(ctx, "node", "--input-type=module", "-", folder,
			filepath.Join(t.dir, t.model+".tla"), filepath.Join(t.dir, t.model+".cfg"))
		cmd.Stdin = strings.NewReader(driver)
		out, err := output(cmd)
		if err != nil {
			return r, err
		}
		var said struct {
			Success  bool     `json:"success"`
			Type     string   `json:"error_type"`
			Message  string   `json:"error_message"`
			States   int      `json:"states_explored"`
			Trace    []string `json:"trace"`
			Warnings []string `json:"warnings"`
		}
		if err := json.Unmarshal(out, &said); err != nil {
			return r, fmt.Errorf("tla-checker: %w:\n%s", err, out)
		}
		r.States = said.States
		r.Trace = strings.Count("\n"+strings.Join(said.Trace, "\n"), "\nState ")
		switch invariant := violated.FindStringSubmatch(said.Message); {
		case len(said.Warnings) > 0:
			err = fmt.Errorf("tla-checker warns: %s", strings.Join(said.Warnings, "; "))
		case said.Success:
			r.Verdict = "ok"
		case invariant != nil:
			r.Verdict, err = t.invariant(invariant[1])
			r.Refused = t.refusedIn(out)
		case said.Type == "Deadlock":
			r.Verdict = "deadlock"
		case said.Type == "LivenessViolation":
			r.Verdict = t.property
		default:
			err = fmt.Errorf("tla-checker gave no verdict: %s: %s", said.Type, said.Message)
		}
		return r, err
	}}
}

// invariant returns the name of the configuration's invariant of that index.
func (t *task) invariant(index string) (string, error) {
	i, err := strconv.Atoi(index)
	if err != nil || i >= len(t.invariants) {
		return "", fmt.Errorf("tla-checker names invariant %s of %d", index, len(t.invariants))
	}
	return t.invariants[i], nil
}
