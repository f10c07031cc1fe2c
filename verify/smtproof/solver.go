package smtproof

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// Solver is a program that decides scripts of SMT-LIB 2.
type Solver struct {
	Name    string
	Version string                             // as the program says, such as 4.8.12; "?": it says none
	args    func(limit time.Duration) []string // of the command line; scripts are its standard input
	each    func(limit time.Duration) string   // first lines of every script
}

var solvers = []Solver{
	{"z3", "", func(time.Duration) []string { return []string{"-in"} },
		func(limit time.Duration) string {
			return fmt.Sprintf("(set-option :timeout %d)\n", limit.Milliseconds())
		}},
	{"cvc5", "", func(limit time.Duration) []string {
		return []string{"--lang=smt2", "--incremental", "--produce-models", fmt.Sprintf("--tlimit-per=%d",
			limit.Milliseconds()), "-"}
	}, func(time.Duration) string { return "" }},
}

// Solvers returns solvers by their names. All have to be installed.
func Solvers(names ...string) (found []Solver, err error) {
	for _, name := range names {
		s, ok := solverCalled(name)
		if !ok {
			err = errors.Join(err, fmt.Errorf("there is no solver %q; there are z3 and cvc5", name))
			continue
		}
		if _, missing := exec.LookPath(name); missing != nil {
			err = errors.Join(err, fmt.Errorf("%s is not installed: .ci/deps prove installs it: %w", name, missing))
		} else {
			s.Version = versionOf(name)
		}
		found = append(found, s)
	}
	return found, err
}

func solverCalled(name string) (Solver, bool) {
	for _, s := range solvers {
		if s.Name == name {
			return s, true
		}
	}
	return Solver{}, false
}

// versionOf returns the version that a program says it has.
func versionOf(program string) string {
	text, _ := exec.Command(program, "--version").Output() // one that fails says none
	if found := version.FindSubmatch(text); found != nil {
		return string(found[1])
	}
	return unknown
}

var version = regexp.MustCompile(`version (\d[\d.]*)`)

const unknown = "?" // the version of a program that says none

// Answers of a solver. Any other answer is its own text, for example an error, and proves nothing.
const (
	unsat = "unsat" // it is proved
	sat   = "sat"   // it is refuted
)

// input returns what the solver gets to decide scripts.
func (s Solver) input(scripts []string, limit time.Duration) string {
	var b strings.Builder
	for _, script := range scripts {
		fmt.Fprintf(&b, "(reset)\n%s%s(echo \"%s\")\n", s.each(limit), script, end)
	}
	return b.String()
}

// decide runs the solver on one script after the other, each with a time limit, and calls tell with each answer.
func (s Solver) decide(ctx context.Context, scripts []string, limit time.Duration,
	tell func(i int, answer string)) error {
	if len(scripts) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, limit*time.Duration(len(scripts)+1)+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.Name, s.args(limit)...)
	cmd.Stdin = strings.NewReader(s.input(scripts, limit))
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	answered, answer := 0, ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := strings.Trim(strings.TrimSpace(lines.Text()), `"`)
		switch {
		case line != end:
			answer = strings.TrimSpace(answer + " " + line)
		case answered < len(scripts):
			tell(answered, answer)
			answered, answer = answered+1, ""
		}
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case answered < len(scripts):
		return fmt.Errorf("%s ended after %d of %d scripts: %s (%w)", s.Name, answered, len(scripts), answer,
			errors.Join(err, errEnded))
	}
	return nil
}

var errEnded = errors.New("a solver has to answer every script")

// end is the line that a solver prints after each script.
const end = "collgen: end of script"
