//go:build unix && !aix && !solaris

package main

import (
	"errors"
	"go/build"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// TestProcessIdsStay until the goroutine that sends signals knows that they are no more.
func TestProcessIdsStay(t *testing.T) {
	t.Setenv(asCollrun, "1")
	t.Setenv("TMPDIR", t.TempDir())
	runtime.LockOSThread() // see dieWithParent
	defer runtime.UnlockOSThread()
	j := &job{options: &options{n: 3, raw: true, program: []string{"true"}}, output: new(output)}
	if err := j.settle(); err != nil {
		t.Fatal(err)
	}
	j.start()
	time.Sleep(300 * time.Millisecond) // they have ended long ago
	for _, r := range j.ranks {
		if err := syscall.Kill(r.cmd.Process.Pid, 0); err != nil || r.ended {
			t.Errorf("rank %d: %v", r.index, err)
		}
	}
	for end := time.Now().Add(deadline); j.reap() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	for _, r := range j.ranks {
		if err := syscall.Kill(r.cmd.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) || !r.ended || r.failed() {
			t.Errorf("rank %d: %v, %#x", r.index, err, r.state)
		}
	}
	if err := j.keeper.close(); err != nil {
		t.Error(err)
	}
}

// TestFirstFailure: the order of looks decides, and at one look the rarest status.
func TestFirstFailure(t *testing.T) {
	exit := func(index, look, status int) *rank {
		return &rank{index: index, look: look, ended: true, state: syscall.WaitStatus(status << 8)}
	}
	killed := &rank{index: 5, look: 3, ended: true, state: syscall.WaitStatus(syscall.SIGKILL)}
	for name, test := range map[string]struct {
		failures []*rank
		want     int
	}{
		"one look":               {[]*rank{exit(0, 1, 1), exit(1, 1, 7), exit(2, 1, 1)}, 1},
		"another, later":         {[]*rank{exit(0, 1, 1), exit(1, 1, 7), exit(2, 2, 1)}, 1},
		"the odd one, but later": {[]*rank{exit(0, 1, 1), exit(2, 1, 1), exit(1, 2, 7)}, 0},
		"no odd one":             {[]*rank{exit(2, 1, 3), exit(3, 1, 3)}, 2},
		"a signal":               {[]*rank{exit(0, 1, 1), exit(1, 1, 7), killed}, 5},
	} {
		if got := (&job{failures: test.failures}).firstFailure(); got.index != test.want {
			t.Errorf("%s: rank %d, want %d", name, got.index, test.want)
		}
	}
	if (&job{}).firstFailure() != nil {
		t.Error("no failure: there is a first one")
	}
}

// TestNothingToBuildElsewhere: a system that lacks what the command needs leaves the command out, instead of failing at
// it.
func TestNothingToBuildElsewhere(t *testing.T) {
	for _, system := range []string{"windows", "plan9", "js", "wasip1", "aix", "solaris", "illumos"} {
		c := build.Default
		c.GOOS = system
		_, err := c.ImportDir(".", 0)
		if none := new(build.NoGoError); !errors.As(err, &none) {
			t.Errorf("%s: %v", system, err)
		}
	}
}
