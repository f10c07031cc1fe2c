package mesh

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/simnet"
	"github.com/collgen/collgen/fast/internal/wire"
)

const (
	freeze = 2 * time.Second
	bound  = 2500 * time.Millisecond // within which a process that is stopped or cut off has to be known to be down
	plenty = 1 << 20
)

// wantDown checks why m takes a process for dead.
func wantDown(t *testing.T, m *Mesh, process int, want error) {
	t.Helper()
	if err := m.Down(process); !errors.Is(err, want) {
		t.Errorf("process %d says of process %d: %v, want %v", m.Self(), process, err, want)
	}
}

func wantAllUp(t *testing.T, job []*Mesh) {
	t.Helper()
	for _, m := range job {
		for p := range job {
			wantDown(t, m, p, nil)
		}
	}
}

// TestFrozen stops a process: the others know it in time, and do not take each other for stopped. When it goes on it
// learns that it was given up.
func TestFrozen(t *testing.T) {
	for phase := time.Duration(0); phase < freeze/4; phase += freeze / 40 {
		synctest.Test(t, func(t *testing.T) {
			job, processes, _ := cabled(t, plenty, 3)
			heard := watch(job[2])
			time.Sleep(time.Minute + phase)
			processes[2].Stop()
			time.Sleep(freeze / 2)
			for p, m := range job {
				wantDown(t, m, (p+1)%3, nil)
			}
			time.Sleep(bound - freeze/2)
			for _, m := range job[:2] {
				wantDown(t, m, 2, wire.ErrFrozen)
				wantDown(t, m, 1-m.Self(), nil)
			}
			wantDown(t, job[2], 0, nil)
			processes[2].Continue()
			time.Sleep(time.Second)
			for p := range job {
				wantDown(t, job[2], p, wire.ErrFenced)
			}
			if first := heard.next(t); first.err != wire.ErrFenced {
				t.Error(first)
			}
			closeAll(job)
		})
	}
}

// TestShortStop stops each process for less time than that: nobody is given up.
func TestShortStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job, processes, _ := cabled(t, plenty, 3)
		for i := range 30 {
			time.Sleep(time.Duration(i) * 77 * time.Millisecond)
			processes[i%3].Stop()
			time.Sleep(freeze * 7 / 10)
			processes[i%3].Continue()
			time.Sleep(freeze / 4)
			wantAllUp(t, job)
		}
		closeAll(job)
	})
}

// TestLate has processes wake up so late every time that they leave out turns, always the same ones: they send
// heartbeats all the same, and nobody is given up.
func TestLate(t *testing.T) {
	const wait = freeze / 16
	for _, late := range []time.Duration{wait / 2, wait * 3 / 2, wait * 5 / 2, wait * 7 / 2} {
		for phase := range 4 {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Duration(phase) * wait)
				job, processes, _ := cabled(t, plenty, 2)
				for _, p := range processes {
					p.Delay(late)
				}
				time.Sleep(time.Minute)
				wantAllUp(t, job)
				for _, p := range processes {
					p.Delay(0)
				}
				closeAll(job)
			})
		}
	}
}

// TestDue: one heartbeat for each four turns, or two over TCP, whichever of them are left out; and one at once at
// first.
func TestDue(t *testing.T) {
	for _, x := range []struct {
		last, turn int64
		host, tcp  bool
	}{
		{never, 0, true, true}, {never, 7, true, true},
		{7, 8, true, true}, {8, 9, false, false}, {9, 10, false, true}, {10, 11, false, false}, {11, 12, true, true},
		{7, 9, true, true}, {9, 11, false, true}, {11, 13, true, true}, // every second turn, and never an even one
		{5, 9, true, true}, {6, 7, false, false}, {100, 3, true, true}, // the clock was set back
		{8, 8, false, false},
	} {
		if host, tcp := due(x.last, x.turn, false), due(x.last, x.turn, true); host != x.host || tcp != x.tcp {
			t.Errorf("turn %d after %d: %v, and %v over TCP", x.turn, x.last, host, tcp)
		}
	}
}

// TestOwnStop stops all processes, as when the machine sleeps: whoever wakes up first does not blame the others.
func TestOwnStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job, processes, _ := cabled(t, plenty, 3)
		time.Sleep(time.Minute)
		for _, p := range processes {
			p.Stop()
		}
		time.Sleep(time.Hour)
		for _, p := range processes {
			p.Continue()
			time.Sleep(freeze * 2 / 5)
		}
		time.Sleep(time.Minute)
		wantAllUp(t, job)
		closeAll(job)
	})
}

// TestCut cuts a connection, in one direction or both: both sides know it in time, and no other connection suffers.
func TestCut(t *testing.T) {
	for name, cut := range map[string]func(a, b *simnet.End){
		"to":     func(a, _ *simnet.End) { a.Sever() },
		"fro":    func(_, b *simnet.End) { b.Sever() },
		"to+fro": func(a, b *simnet.End) { a.Sever(); b.Sever() },
	} {
		synctest.Test(t, func(t *testing.T) {
			job, _, ends := cabled(t, plenty, 3)
			time.Sleep(time.Minute)
			cut(ends[0][1], ends[1][0])
			time.Sleep(bound)
			if x, y := job[0].Down(1), job[1].Down(0); x == nil || y == nil || (!errors.Is(x, wire.ErrFrozen) &&
				!errors.Is(y, wire.ErrFrozen)) {
				t.Errorf("%s: %v and %v", name, x, y)
			}
			wantDown(t, job[2], 0, nil)
			wantDown(t, job[2], 1, nil)
			closeAll(job)
		})
	}
}

// TestStuck: a process to which nothing can be written, though it sends, is given up, and so is one for which too much
// waits. Nobody who sends has to wait.
func TestStuck(t *testing.T) {
	for name, bytes := range map[string]int{"a little": 100, "too much": 2 * maxQueued} {
		synctest.Test(t, func(t *testing.T) {
			job, _, ends := cabled(t, plenty, 2)
			time.Sleep(time.Minute)
			ends[0][1].Clog()
			start := time.Now()
			for ; bytes > 0; bytes -= wire.MaxNote {
				job[0].Send(1, topic(0), make([]byte, min(bytes, wire.MaxNote)))
			}
			if d := time.Since(start); d > 0 {
				t.Errorf("%s: sending took %v", name, d)
			}
			if name == "too much" {
				wantDown(t, job[0], 1, wire.ErrFrozen)
			}
			time.Sleep(bound)
			if x, y := job[0].Down(1), job[1].Down(0); x == nil || y == nil { // the other side hears nothing, and may be first
				t.Errorf("%s: %v and %v", name, x, y)
			}
			closeAll(job)
		})
	}
}

// TestNextTurn: whenever processes begin to wait, they turn to their peers at the same moments.
func TestNextTurn(t *testing.T) {
	const wait = 125 * time.Millisecond
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for after := time.Duration(0); after < time.Second; after += time.Millisecond {
		turn, left := nextTurn(noon.Add(after), wait)
		if at := after + left; left <= 0 || left > wait || at%wait != 0 || turn != noon.Add(at).UnixNano()/int64(wait) {
			t.Fatalf("%v after noon: turn %d in %v", after, turn, left)
		}
	}
}
