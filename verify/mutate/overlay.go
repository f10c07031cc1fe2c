package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// rung is what may kill a mutant of source code: a command of the go tool.
type rung struct {
	name  string
	dir   string // below the module's root
	args  []string
	limit time.Duration // a mutant that takes longer is killed: it does not end
}

// tests runs the tests of packages that take seconds.
func tests(name string, packages ...string) rung {
	args := []string{"test", "-count=1", "-vet=off", "-failfast", "-short", "-skip=^(" + slow + ")$"}
	return rung{name: name, dir: ".", args: slices.Concat(args, packages)}
}

// slow are the tests that run whole jobs: they test package fast, and not what is mutated here.
const slow = "TestCombinations|TestInProcess|TestProcesses|TestCommunicators"

// verdict is what became of a mutant of source code.
type verdict struct {
	killer string // the name of the rung, or timeout; "": none
	absent bool   // the compiler refuses it
	output string // of the rung that killed it
	took   time.Duration
}

// try has one rung after the other run with the edit in place. The tree is not touched: the go tool reads the changed file from
// elsewhere.
func (p patch) try(root string, rungs []rung) (verdict, error) {
	file := filepath.Join(root, p.file)
	text, err := os.ReadFile(file)
	if err != nil {
		return verdict{}, err
	}
	return tryFile(root, file, slices.Concat(text[:p.from], []byte(p.text), text[p.to:]), rungs)
}

// try has the test that is named run with the mistake in place.
func (p planted) try(root string) (verdict, error) {
	file := filepath.Join(root, p.file)
	text, err := os.ReadFile(file)
	if err != nil {
		return verdict{}, err
	}
	if n := strings.Count(string(text), p.old); n != 1 {
		return verdict{}, fmt.Errorf("what is to be changed stands %d times in %s", n, p.file)
	}
	rungs, err := baseline(root, []rung{{name: p.run, dir: ".", args: []string{"test", "-count=1", "-vet=off", "-run=" + p.run, p.pkg}}})
	if err != nil {
		return verdict{}, err
	}
	return tryFile(root, file, []byte(strings.Replace(string(text), p.old, p.new, 1)), rungs)
}

// tryFile has one rung after the other run with another text for a file, until one fails.
func tryFile(root, file string, mutant []byte, rungs []rung) (verdict, error) {
	start := time.Now()
	file, err := filepath.Abs(file)
	if err != nil {
		return verdict{}, err
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return verdict{}, err
	}
	defer os.RemoveAll(dir)
	changed := filepath.Join(dir, "changed.go")
	overlay, err := writeOverlay(dir, map[string]string{file: changed})
	if err := errors.Join(err, os.WriteFile(changed, mutant, 0o600)); err != nil {
		return verdict{}, err
	}
	v := verdict{}
	for _, r := range rungs {
		v.killer, v.output = r.run(root, overlay)
		v.absent = strings.Contains(v.output, "[build failed]") || strings.Contains(v.output, "[setup failed]")
		if v.killer != "" {
			break
		}
	}
	v.took = time.Since(start)
	return v, nil
}

// baseline are the rungs after each has passed with nothing changed, with the time that a mutant may take: twice as long as that,
// and half a minute for the compiler.
func baseline(root string, rungs []rung) ([]rung, error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	overlay, err := writeOverlay(dir, nil)
	if err != nil {
		return nil, err
	}
	measured := slices.Clone(rungs)
	for i := range measured {
		start := time.Now()
		measured[i].limit = longest
		if killer, output := measured[i].run(root, overlay); killer != "" {
			return nil, fmt.Errorf("%s: fails with nothing changed (%s):\n%s", rungs[i].name, killer, output)
		}
		measured[i].limit = 2*time.Since(start) + 30*time.Second
	}
	return measured, nil
}

// writeOverlay has the go tool read other files instead of some.
func writeOverlay(dir string, replace map[string]string) (path string, err error) {
	text, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	path = filepath.Join(dir, "overlay.json")
	return path, errors.Join(err, os.WriteFile(path, text, 0o600))
}

const (
	timeout = "timeout"        // kills what takes longer than a rung's limit
	longest = 10 * time.Minute // of a rung with nothing changed
	memory  = 8 << 20          // how many KiB a mutant may have: some would take all that there is
)

// run is what kills the mutant that the overlay has, "" if nothing does, and the command's output.
func (r rung) run(root, overlay string) (killer, output string) {
	ctx, cancel := context.WithTimeout(context.Background(), r.limit)
	defer cancel()
	script := fmt.Sprintf(`ulimit -v %d 2>/dev/null; exec "$@"`, memory)
	args := append([]string{"-c", script, "sh", "go"}, slices.Insert(slices.Clone(r.args), 1, "-overlay="+overlay)...)
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Dir = filepath.Join(root, r.dir)
	cmd.SysProcAttr, cmd.Cancel = ownGroup(cmd)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return "", string(out)
	case ctx.Err() != nil:
		return timeout, string(out)
	}
	return r.name, string(out)
}
