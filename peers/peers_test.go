package main

import (
	"context"
	"errors"
	"io"
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

// TestPeersCheckResults runs the all-reduces of each peer among two ranks, and each other call with one peer of each
// program; with -short, nothing else. Their results must be right, and a changed element must be found.
func TestPeersCheckResults(t *testing.T) {
	type form struct {
		source, collective string
		twoBuffers         bool
	}
	tested := make(map[form]bool)
	for _, p := range append(slices.Clone(peers), &torchOurs) {
		t.Run(p.name, func(t *testing.T) {
			r := runnerFor(t, p)
			calls := 0
			for _, c := range comparisons(func(r *row, _ int) bool { return r.Ranks == 2 }) {
				f := form{p.source, c.Collective, c.TwoBuffers}
				takesPart := slices.Contains((&session{comparisons: []*comparison{c}}).neededPeers(), p)
				if !takesPart || tested[f] && (testing.Short() || c.Collective != "all-reduce") {
					continue
				}
				tested[f] = true
				calls++
				checkResults(t, r, p, c)
			}
			if calls == 0 && !testing.Short() {
				t.Error("nothing was tested")
			}
		})
	}
}

// checkResults runs a call with the default of a peer at two sizes: calls of one are timed in batches, of the other one
// by one.
func checkResults(t *testing.T, r *runner, p *peer, c *comparison) {
	t.Helper()
	sizes := c.sizes
	if len(sizes) > 1 {
		sizes = []int{32 * kib, 256 * kib}
	}
	quick := p.tunings[0]
	quick.program = append([]string{"-n", "1", "-w", "0"}, quick.program...)
	e := competitor{name: name{Who: p.name}, peer: p, tuning: &quick, sizes: sizes}
	measure := func() error {
		_, err := r.measure(t.Context(), c.call, &e)
		if errors.Is(err, errTooLong) { // a peer that polls, or that is aborted, sometimes hangs on a busy machine
			t.Logf("%+v: %v; once more", c.call, err)
			_, err = r.measure(t.Context(), c.call, &e)
		}
		return err
	}
	if err := measure(); err != nil {
		t.Errorf("%+v: %v", c.call, err)
	}
	quick.program = append(quick.program, "-spoil", "yes")
	const want = "1 elements of the result are wrong"
	if err := measure(); len(sizes) > 1 && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%+v: a changed element: %v", c.call, err)
	}
}

// TestMissing: for a peer that is not installed, the reason is reported.
func TestMissing(t *testing.T) {
	for _, p := range []*peer{
		{name: "a", compile: []string{"no-such-compiler"}, launcher: []string{"true"}},
		{name: "b", compile: []string{"true"}, launcher: []string{"no-such-launcher"}},
		{name: "c", has: []string{"no-such-library"}, launcher: []string{"true"}},
	} {
		r, err := newRunner("0,1")
		if err != nil {
			t.Fatal(err)
		}
		defer r.close()
		if err := r.build(t.Context(), []*peer{p}); err != nil {
			t.Fatal(err)
		}
		e := competitor{name: name{Who: p.name, Tuning: byDefault}, peer: p, tuning: new(tuning)}
		_, err = r.measure(t.Context(), testBenchmark.call, &e)
		if err == nil || !strings.Contains(err.Error(), "no-such-") {
			t.Errorf("%v does not say what is missing", err)
		}
	}
}

// TestNothingCompared: a run without a ratio fails, and leaves the page alone.
func TestNothingCompared(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte(begin+"before\n"+end), 0o600); err != nil {
		t.Fatal(err)
	}
	failed := result{Row: "a", Bytes: 8, Missing: "it fell over"}
	for want, r := range map[string]*report{"no cell": {}, "it fell over": {results: []result{failed}}} {
		o := options{write: page}
		err := errors.Join(r.check(), o.print(r, io.Discard))
		if !errors.Is(err, errNothing) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if text, _ := os.ReadFile(page); !strings.Contains(string(text), "before") {
		t.Errorf("the page was replaced: %q", text)
	}
	if err := (&report{results: []result{failed, {Row: "b"}}}).check(); err != nil {
		t.Errorf("with one ratio: %v", err)
	}
	err := command(t.Context(), []string{"-only", "no such row", "-write", page}, io.Discard, io.Discard)
	if !errors.Is(err, errNothing) {
		t.Errorf("no row is selected: %v", err)
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
