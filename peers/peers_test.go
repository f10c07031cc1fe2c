package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// runnerFor returns a runner with the program of a peer. It skips the test if that program cannot be built here.
func runnerFor(t *testing.T, p *peer) *runner {
	t.Helper()
	r, err := newRunner("0,1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	if err := r.build(t.Context(), []*peer{p}); err != nil {
		t.Fatal(err)
	}
	if err := r.missing[p.name]; err != nil {
		t.Skipf("%s is left out: %v", p.name, err)
	}
	return r
}

// TestPeersCheckResults runs all benchmarks of a peer, whose results must be right, and expects a changed element to be
// found.
func TestPeersCheckResults(t *testing.T) {
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			r := runnerFor(t, p)
			tested := make(map[benchmark]bool)
			for _, c := range comparisons(func(_ *row, bytes int) bool { return bytes <= 64 }) {
				b := c.benchmark
				b.Bytes = 48 * kib // long enough that single calls are timed
				if b.Collective == "barrier" {
					b.Bytes = 0
				}
				i := firstFitting(p, b)
				if i < 0 || b.Ranks > 2 || tested[b] {
					continue
				}
				tested[b] = true
				quick := p.tunings[i]
				quick.program = append([]string{"-n", "1", "-w", "0"}, quick.program...)
				e := competitor{name: name{Who: p.name}, peer: p, tuning: &quick}
				if _, err := r.measure(t.Context(), b, &e); err != nil {
					t.Errorf("%+v: %v", b, err)
				}
				quick.program = append(quick.program, "-spoil", "yes")
				const want = "1 elements of the result are wrong"
				if _, err := r.measure(t.Context(), b, &e); b.Bytes > 0 && (err == nil || !strings.Contains(err.Error(), want)) {
					t.Errorf("%+v: a changed element: %v", b, err)
				}
			}
			if len(tested) == 0 {
				t.Error("nothing was tested")
			}
		})
	}
}

func firstFitting(p *peer, b benchmark) int {
	if !slices.Contains(p.transports, b.Transport) {
		return -1
	}
	return slices.IndexFunc(p.tunings, fits(b))
}

// TestMissing: for a peer that is not installed, the reason is reported.
func TestMissing(t *testing.T) {
	for _, p := range []*peer{
		{name: openMPI, compile: []string{"no-such-compiler"}, launcher: []string{"true"}},
		{name: openMPI, compile: []string{"true"}, launcher: []string{"no-such-launcher"}},
	} {
		r, err := newRunner("0,1")
		if err != nil {
			t.Fatal(err)
		}
		defer r.close()
		if err := r.build(t.Context(), []*peer{p}); err != nil {
			t.Fatal(err)
		}
		e := competitor{name: name{Who: openMPI, Tuning: "default"}, peer: p, tuning: new(tuning)}
		_, err = r.measure(t.Context(), testBenchmark, &e)
		if err == nil || !strings.Contains(err.Error(), "no-such-") {
			t.Errorf("%v does not say what is missing", err)
		}
	}
}

// TestInterrupted ends a command that ignores SIGTERM, with all its children.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	script := `trap '' TERM; echo $$ >"$0"; sleep 1000 & echo $! >>"$0"; wait; wait; sleep 1000`
	ctx, interrupt := context.WithCancelCause(t.Context())
	pids := filepath.Join(dir, "pids")
	because := errors.New("it was enough")
	go func() {
		for {
			if text, _ := os.ReadFile(pids); strings.Count(string(text), "\n") == 2 {
				interrupt(because)
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if _, err := run(ctx, []string{"sh", "-c", script, pids}, os.Environ()); !errors.Is(err, because) {
		t.Fatal(err)
	}
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range strings.Fields(string(text)) {
		for alive(pid) {
			time.Sleep(time.Millisecond) // until the kernel has killed it
		}
	}
}

// alive reports whether a process runs. A zombie does not.
func alive(pid string) bool {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	return err == nil && !strings.Contains(string(text), ") Z ")
}

// TestRun: what the error of a failed command says.
func TestRun(t *testing.T) {
	_, err := run(t.Context(), []string{"sh", "-c", "echo ----- >&2; echo 'the reason' >&2; exit 3"}, os.Environ())
	if err == nil || err.Error() != "sh: exit status 3: the reason" {
		t.Errorf("got %v", err)
	}
	out, err := run(t.Context(), []string{"sh", "-c", "head -c 3000000 /dev/zero"}, os.Environ())
	if len(out) != maxOutput || err != nil {
		t.Errorf("%d bytes are kept, %v", len(out), err)
	}
}
