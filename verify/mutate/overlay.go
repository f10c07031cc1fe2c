package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/collgen/collgen/internal/scratch"
	"github.com/collgen/collgen/verify/bugs"
)

// stage is what may kill a mutant of source code: a command of the go tool.
type stage struct {
	name     string
	dir      string // below the module's root
	args     []string
	patience time.Duration // how much longer than a few times as long a mutant may take
	limit    time.Duration // a mutant whose tests of one package, or whose command if it is no test, take longer does not end
	cpu      time.Duration // nor one of which a process computes longer: that a busy machine does not prolong
	twice    bool          // it kills what it refuses twice alone
	memory   int           // how many KiB of addresses a mutant may have: some would take all that there is
}

func (r stage) isTest() bool { return r.args[0] == "test" }

// verdict is what became of a mutant of source code.
type verdict struct {
	killer string // the name of the stage; "": none
	absent bool   // the compiler refuses it
	output string // of the stage that killed it
	took   time.Duration
}

// try has one stage after the other run with the edit in place. The tree is not touched: the go tool reads the changed
// file from elsewhere.
func (p patch) try(ctx context.Context, root string, stages []measured) (verdict, error) {
	file := filepath.Join(root, p.file)
	text, err := os.ReadFile(file)
	if err != nil {
		return verdict{}, err
	}
	return tryFile(ctx, root, file, slices.Concat(text[:p.from], []byte(p.text), text[p.to:]), stages)
}

// tryBug runs the test that has to find a bug, with the bug in place.
func tryBug(ctx context.Context, root string, b *bugs.Source) (verdict, error) {
	file := filepath.Join(root, b.File)
	text, err := os.ReadFile(file)
	if err != nil {
		return verdict{}, err
	}
	if n := strings.Count(string(text), b.Old); n != 1 {
		return verdict{}, fmt.Errorf("the text to replace occurs %d times in %s", n, b.File)
	}
	test := stage{name: b.Run, dir: ".", patience: computing - time.Second, args: []string{"test", "-count=1", "-vet=off", "-run=" + b.Run, b.Package}}
	return tryFile(ctx, root, file, []byte(strings.Replace(string(text), b.Old, b.New, 1)), baseline(ctx, root, test))
}

// tryFile has one stage after the other run with another text for a file, until one fails.
func tryFile(ctx context.Context, root, file string, mutant []byte, stages []measured) (verdict, error) {
	start := time.Now()
	file, err := filepath.Abs(file)
	if err != nil {
		return verdict{}, err
	}
	dir, remove, err := scratch.Dir("mutate")
	if err != nil {
		return verdict{}, err
	}
	defer remove()
	changed := filepath.Join(dir, "changed.go")
	overlay, err := writeOverlay(dir, map[string]string{file: changed})
	if err := errors.Join(err, os.WriteFile(changed, mutant, 0o600)); err != nil {
		return verdict{}, err
	}
	v := verdict{}
	for _, measured := range stages {
		r, err := measured()
		if err != nil {
			return verdict{}, err
		}
		v.killer, v.output = r.judge(ctx, root, overlay)
		v.absent = isAbsent(v.output)
		if v.killer != "" {
			break
		}
	}
	v.took = time.Since(start)
	return v, ctx.Err()
}

// measured is a stage with the time that a mutant may take. It is found out when a mutant first gets so far.
type measured func() (stage, error)

// baseline returns the stages, each to be measured.
func baseline(ctx context.Context, root string, stages ...stage) (all []measured) {
	for _, r := range stages {
		all = append(all, sync.OnceValues(func() (stage, error) { return r.measure(ctx, root) }))
	}
	return all
}

// measure gives a mutant a few times as long as the stage takes with nothing changed. That has to pass.
func (r stage) measure(ctx context.Context, root string) (stage, error) {
	dir, remove, err := scratch.Dir("mutate")
	if err != nil {
		return r, err
	}
	defer remove()
	overlay, err := writeOverlay(dir, nil)
	if err != nil {
		return r, err
	}
	start := time.Now()
	r.limit, r.cpu = longest, longest
	killer, output := r.judge(ctx, root, overlay)
	if killer != "" {
		return r, fmt.Errorf("%s: fails with nothing changed:\n%s", r.name, output)
	}
	took := time.Since(start)
	if r.isTest() {
		took = testTime(output)
	}
	r.limit, r.cpu = 4*took+r.patience, time.Duration(runtime.NumCPU())*(4*took+computing)
	return r, nil
}

// passed is the line of go test for a package.
var passed = regexp.MustCompile(`(?m)^ok\s+\S+\s+(\S+s)\b`)

// testTime returns how long the tests of the slowest package have run, the compiler left out.
func testTime(output string) (longest time.Duration) {
	for _, m := range passed.FindAllStringSubmatch(output, -1) {
		if d, err := time.ParseDuration(m[1]); err == nil {
			longest = max(longest, d)
		}
	}
	return longest
}

// writeOverlay has the go tool read other files instead of some.
func writeOverlay(dir string, replace map[string]string) (path string, err error) {
	text, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	path = filepath.Join(dir, "overlay.json")
	return path, errors.Join(err, os.WriteFile(path, text, 0o600))
}

const (
	longest = 10 * time.Minute // of a stage, the compiler included
	// computing is how much longer every processor may compute. Where the patience is less, a test that does not end is
	// ended by the go tool, which says so.
	computing = 5 * time.Second
)

// isAbsent reports whether the compiler has refused what it was given.
func isAbsent(output string) bool {
	return strings.Contains(output, "[build failed]") || strings.Contains(output, "[setup failed]")
}

// judge is run, once more where the stage has to refuse a mutant twice.
func (r stage) judge(ctx context.Context, root, overlay string) (killer, output string) {
	killer, output = r.run(ctx, root, overlay)
	if killer == "" || !r.twice || isAbsent(output) {
		return killer, output
	}
	return r.run(ctx, root, overlay)
}

// run returns what kills the mutant that the overlay has, "" if nothing does, and the command's output.
func (r stage) run(ctx context.Context, root, overlay string) (killer, output string) {
	flags, limit := []string{"-overlay=" + overlay}, r.limit
	if r.isTest() { // go test knows when the compiler is done
		flags, limit = append(flags, "-timeout="+r.limit.String()), longest
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	script := fmt.Sprintf(`ulimit -v %d 2>/dev/null; ulimit -t %d; exec "$@"`, cmp.Or(r.memory, 8<<20), int(r.cpu.Seconds())+1)
	args := append([]string{"-c", script, "sh", "go"}, slices.Insert(slices.Clone(r.args), 1, flags...)...)
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Dir = filepath.Join(root, r.dir)
	cmd.SysProcAttr, cmd.Cancel = ownGroup(cmd)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return "", string(out)
	case ctx.Err() != nil:
		return r.name, fmt.Sprintf("%s\npanic: it does not end in %v\n", out, limit)
	}
	return r.name, string(out)
}
