package launchers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// place is where programs of a test run.
type place struct {
	t     *testing.T
	tmp   string   // their temporary directory, in which they leave nothing
	env   []string // what they find in their environment
	enter []string // the beginning of a command line that runs the rest there
}

// here returns this host, with an environment in which nothing speaks of launchers.
func here(t *testing.T) *place {
	p := &place{t: t, tmp: t.TempDir()}
	for _, v := range os.Environ() {
		if !ofLauncher(v) {
			p.env = append(p.env, v)
		}
	}
	p.env = append(p.env, "TMPDIR="+p.tmp)
	t.Cleanup(p.wantNothingLeft)
	return p
}

// ofLauncher reports whether a variable is one that a launcher sets. These tests may be run by one.
func ofLauncher(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	if slices.Contains([]string{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "TMPDIR"}, name) {
		return true
	}
	return slices.ContainsFunc([]string{"COLL_", "MASTER_", "OMPI_", "PMI", "SLURM", "JOB_COMPLETION_"},
		func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// with returns p with more in its environment.
func (p *place) with(env ...string) *place {
	more := *p
	more.env = append(slices.Clip(p.env), env...)
	return &more
}

func (p *place) wantNothingLeft() {
	left, err := os.ReadDir(p.tmp)
	if err != nil || len(left) > 0 {
		p.t.Errorf("left in %s: %v %v", p.tmp, left, err)
	}
}

// command returns a program there, not yet started, that is killed with all that it started at the test's end.
func (p *place) command(ctx context.Context, args ...string) *exec.Cmd {
	args = append(slices.Clip(p.enter), args...)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = p.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// run runs a program there and returns what it prints.
func (p *place) run(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), deadline)
	defer cancel()
	cmd := p.command(ctx, args...)
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%v: %w\n%s%s", args, err, &out, &diag)
	}
	return out.String(), nil
}

// output returns what a program there prints. The test fails if it does not end well.
func (p *place) output(args ...string) string {
	p.t.Helper()
	out, err := p.run(args...)
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// together returns what programs in several places print, which run at the same time.
func together(t *testing.T, places []*place, args ...string) string {
	t.Helper()
	out, errs := tryTogether(places, args...)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, "")
}

// tryTogether is together for programs that may fail.
func tryTogether(places []*place, args ...string) (out []string, errs []error) {
	out, errs = make([]string, len(places)), make([]error, len(places))
	var all sync.WaitGroup
	for i, p := range places {
		all.Go(func() { out[i], errs[i] = p.run(args...) })
	}
	all.Wait()
	return out, errs
}
