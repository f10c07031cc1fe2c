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

// workshopFor builds the program of a peer, or prints why that is not possible here, which is no failure.
func workshopFor(t *testing.T, p *peer) *workshop {
	t.Helper()
	w, err := newWorkshop("0,1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	if err := w.build(t.Context(), []*peer{p}); err != nil {
		t.Fatal(err)
	}
	if err := w.missing[p.name]; err != nil {
		t.Skipf("%s is left out: %v", p.name, err)
	}
	return w
}

// TestPeersCheckResults has a peer run everything that it can, and finds nothing wrong; nor does it miss an element
// that is changed.
func TestPeersCheckResults(t *testing.T) {
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			w := workshopFor(t, p)
			tested := make(map[contest]bool)
			for _, f := range fields(func(_ *row, bytes int) bool { return bytes <= 64 }) {
				c := f.contest
				c.Bytes = 48 * kib // long enough that single calls are timed
				if c.Collective == "barrier" {
					c.Bytes = 0
				}
				i := firstFitting(p, c)
				if i < 0 || c.Ranks > 2 || tested[c] {
					continue
				}
				tested[c] = true
				quick := p.tunings[i]
				quick.program = append([]string{"-n", "1", "-w", "0"}, quick.program...)
				e := entrant{name: name{Who: p.name}, peer: p, tuning: &quick}
				if _, err := w.measure(t.Context(), c, &e); err != nil {
					t.Errorf("%+v: %v", c, err)
				}
				quick.program = append(quick.program, "-spoil", "yes")
				if _, err := w.measure(t.Context(), c, &e); c.Bytes > 0 && (err == nil || !strings.Contains(err.Error(), "1 elements of the result are wrong")) {
					t.Errorf("%+v: a changed element: %v", c, err)
				}
			}
			if len(tested) == 0 {
				t.Error("nothing was tested")
			}
		})
	}
}

func firstFitting(p *peer, c contest) int {
	if !slices.Contains(p.transports, c.Transport) {
		return -1
	}
	return slices.IndexFunc(p.tunings, fits(c))
}

// TestMissing is a peer that is not installed: the table is printed without it, and says why.
func TestMissing(t *testing.T) {
	for _, p := range []*peer{
		{name: openMPI, compile: []string{"no-such-compiler"}, launcher: []string{"true"}},
		{name: openMPI, compile: []string{"true"}, launcher: []string{"no-such-launcher"}},
	} {
		w, err := newWorkshop("0,1")
		if err != nil {
			t.Fatal(err)
		}
		defer w.close()
		if err := w.build(t.Context(), []*peer{p}); err != nil {
			t.Fatal(err)
		}
		e := entrant{name: name{Who: openMPI, Tuning: "default"}, peer: p, tuning: new(tuning)}
		_, err = w.measure(t.Context(), testContest, &e)
		if err == nil || !strings.Contains(err.Error(), "no-such-") {
			t.Errorf("%v does not say what is missing", err)
		}
	}
}

// TestInterrupted ends what runs, also what does not want to, with all its children.
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
			time.Sleep(time.Millisecond) // until the kernel has done what it was told
		}
	}
}

// alive reports whether a process runs. One that has ended and that nobody has asked after does not.
func alive(pid string) bool {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	return err == nil && !strings.Contains(string(text), ") Z ")
}

// TestRun is what a command's failure says.
func TestRun(t *testing.T) {
	_, err := run(t.Context(), []string{"sh", "-c", "echo ----- >&2; echo 'the reason' >&2; exit 3"}, os.Environ())
	if err == nil || err.Error() != "sh: exit status 3: the reason" {
		t.Errorf("got %v", err)
	}
	out, err := run(t.Context(), []string{"sh", "-c", "head -c 3000000 /dev/zero"}, os.Environ())
	if len(out) != mostPrinted || err != nil {
		t.Errorf("%d bytes are kept, %v", len(out), err)
	}
}
