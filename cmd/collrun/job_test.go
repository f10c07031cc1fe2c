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
	k, err := newKeeper()
	if err != nil {
		t.Fatal(err)
	}
	j := &job{options: &options{n: 3, raw: true, program: []string{"true"}}, keeper: k, output: new(output)}
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
	if err := k.close(); err != nil {
		t.Error(err)
	}
}

// TestNothingToBuildElsewhere: a system that lacks what the command needs leaves the command out, instead of failing at it.
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
