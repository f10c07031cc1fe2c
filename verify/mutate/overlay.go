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
	name    string
	dir     string        // below the module's root
	timeout time.Duration // a mutant that takes longer is killed: it does not end
	args    []string
}

// tests runs the tests of packages that take seconds.
func tests(name string, timeout time.Duration, packages ...string) rung {
	return rung{name, ".", timeout, slices.Concat([]string{"test", "-count=1", "-vet=off", "-failfast", "-short", "-skip=^(" + slow + ")$"}, packages)}
}

// slow are the tests that run whole jobs: they test package fast, and not what is mutated here.
const slow = "TestCombinations|TestInProcess|TestProcesses|TestCommunicators"

// verdict is what became of a mutant of source code.
type verdict struct {
	killer string // the name of the rung; "": none
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
	r := rung{p.run, ".", time.Minute, []string{"test", "-count=1", "-vet=off", "-run=" + p.run, "-timeout=20s", p.pkg}}
	return tryFile(root, file, []byte(strings.Replace(string(text), p.old, p.new, 1)), []rung{r})
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
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
	if err != nil {
		return verdict{}, err
	}
	if err := errors.Join(os.WriteFile(changed, mutant, 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		return verdict{}, err
	}
	v := verdict{}
	for _, r := range rungs {
		output, failed := r.run(root, overlay)
		if !failed {
			continue
		}
		v.killer, v.output = r.name, output
		v.absent = strings.Contains(output, "[build failed]") || strings.Contains(output, "[setup failed]")
		break
	}
	v.took = time.Since(start)
	return v, nil
}

// memory is how many KiB a mutant may have: some would take all that there is.
const memory = 8 << 20

func (r rung) run(root, overlay string) (output string, failed bool) {
	ctx, cancel := context.WithTimeout(context.Background(), r.timeout)
	defer cancel()
	script := fmt.Sprintf(`ulimit -v %d 2>/dev/null; exec "$@"`, memory)
	args := append([]string{"-c", script, "sh", "go"}, slices.Insert(slices.Clone(r.args), 1, "-overlay="+overlay)...)
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Dir = filepath.Join(root, r.dir)
	cmd.SysProcAttr, cmd.Cancel = ownGroup(cmd)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err != nil
}
