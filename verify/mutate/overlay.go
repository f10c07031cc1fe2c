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

// stage is a go command that may kill a mutant of source code.
type stage struct {
	name     string
	dir      string // below the module's root
	args     []string
	patience time.Duration // added to limit
	// for the tests of one package, or for the command if it is no test; a mutant that takes longer is killed
	limit  time.Duration
	cpu    time.Duration // the same for the CPU time of a process, which does not depend on other load
	twice  bool          // a mutant has to fail twice to be killed
	memory int           // limit of a mutant's address space in KiB: some would take all memory
}

func (r stage) isTest() bool { return r.args[0] == "test" }

// verdict is the result of trying a mutant of source code.
type verdict struct {
	killer string // the name of the stage; "": none
	absent bool   // it does not compile
	output string // of the stage that killed it
	took   time.Duration
}

// try runs the stages with the patch applied. It does not touch the tree: the go tool reads the changed file through an
// overlay.
func (p patch) try(ctx context.Context, root string, stages []measured) (verdict, error) {
	file := filepath.Join(root, p.file)
	text, err := os.ReadFile(file)
	if err != nil {
		return verdict{}, err
	}
	return tryFile(ctx, root, file, slices.Concat(text[:p.from], []byte(p.text), text[p.to:]), stages)
}

// tryBug runs the test that has to find a bug, with the bug planted.
func tryBug(ctx context.Context, root string, b *bugs.Source) (verdict, error) {
	file := filepath.Join(root, b.File)
	text, err := os.ReadFile(file)
	if err != nil {
		return verdict{}, err
	}
	if n := strings.Count(string(text), b.Old); n != 1 {
		return verdict{}, fmt.Errorf("the text to replace occurs %d times in %s", n, b.File)
	}
	test := stage{name: b.Run, dir: ".", patience: computing - time.Second, args: []string{"test", "-count=1", "-vet=off",
		"-run=" + b.Run, b.Package}}
	return tryFile(ctx, root, file, []byte(strings.Replace(string(text), b.Old, b.New, 1)), baseline(ctx, root, test))
}

// tryFile runs one stage after the other with another text for a file, until one fails.
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

// measured returns a stage with its time limits. The first call measures them.
type measured func() (stage, error)

// baseline returns the stages, each to be measured when a mutant first reaches it.
func baseline(ctx context.Context, root string, stages ...stage) (all []measured) {
	for _, r := range stages {
		all = append(all, sync.OnceValues(func() (stage, error) { return r.measure(ctx, root) }))
	}
	return all
}

// measure returns the stage with limits that are a multiple of the time it takes without a mutant. It has to pass then.
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

// passed matches the line that go test prints for a package.
var passed = regexp.MustCompile(`(?m)^ok\s+\S+\s+(\S+s)\b`)

// testTime returns how long the tests of the slowest package ran, without compilation.
func testTime(output string) (longest time.Duration) {
	for _, m := range passed.FindAllStringSubmatch(output, -1) {
		if d, err := time.ParseDuration(m[1]); err == nil {
			longest = max(longest, d)
		}
	}
	return longest
}

// writeOverlay writes an overlay file for the go tool and returns its path.
func writeOverlay(dir string, replace map[string]string) (path string, err error) {
	text, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	path = filepath.Join(dir, "overlay.json")
	return path, errors.Join(err, os.WriteFile(path, text, 0o600))
}

const (
	longest = 10 * time.Minute // for a stage, with compilation
	// computing is added to the CPU time of every processor. Where patience is less, go test itself ends a test that
	// hangs, and says so.
	computing = 5 * time.Second
)

// isAbsent reports whether a mutant did not compile.
func isAbsent(output string) bool {
	return strings.Contains(output, "[build failed]") || strings.Contains(output, "[setup failed]")
}

// judge returns the result of run, of a second one if a mutant has to fail twice and has failed once.
func (r stage) judge(ctx context.Context, root, overlay string) (killer, output string) {
	killer, output = r.run(ctx, root, overlay)
	if killer == "" || !r.twice || isAbsent(output) {
		return killer, output
	}
	return r.run(ctx, root, overlay)
}

// run runs the command with an overlay. It returns the stage's name if that kills the mutant, "" if not, and the
// output.
func (r stage) run(ctx context.Context, root, overlay string) (killer, output string) {
	flags, limit := []string{"-overlay=" + overlay}, r.limit
	if r.isTest() { // go test starts its clock after compilation
		flags, limit = append(flags, "-timeout="+r.limit.String()), longest
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	script := fmt.Sprintf(`ulimit -v %d 2>/dev/null; ulimit -t %d; exec "$@"`, cmp.Or(r.memory, 8<<20),
		int(r.cpu.Seconds())+1)
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
