package mesh

import (
	"errors"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// kill ends m's connections as the system does when its process dies.
func (m *Mesh) kill() {
	m.mu.Lock()
	peers := m.peers()
	m.mu.Unlock()
	for _, p := range peers {
		_ = p.conn.Close()
	}
}

// TestKill: a death is known to all others at once, and to nobody of another.
func TestKill(t *testing.T) {
	for name, way := range ways(t) {
		t.Run(name, func(t *testing.T) {
			job := newJob(t, 4, way)
			for victim := range 3 {
				var all []falls
				for _, m := range job[victim+1:] {
					all = append(all, watch(m))
				}
				start := time.Now()
				job[victim].kill()
				for i, f := range all {
					for range victim { // who was killed before
						f.next(t)
					}
					if x := f.next(t); x != (fallen{victim, wire.ErrDied}) {
						t.Errorf("process %d: %v", victim+1+i, x)
					}
				}
				t.Logf("process %d was dead for %d others after %v", victim, len(all), time.Since(start))
			}
		})
	}
}

// TestClose: who leaves is down with ErrClosed for the others; closing is quick, and can be done again.
func TestClose(t *testing.T) {
	for name, way := range ways(t) {
		t.Run(name, func(t *testing.T) {
			job := newJob(t, 3, way)
			var all []falls
			for _, m := range job[:2] {
				all = append(all, watch(m))
			}
			start := time.Now()
			job[2].Close()
			t.Logf("closed after %v", time.Since(start))
			job[2].Close()
			for _, f := range all {
				if x := f.next(t); x != (fallen{2, wire.ErrClosed}) {
					t.Error(x)
				}
			}
			if _, err := job[2].Receive(soon(t), topic(0)); err != wire.ErrClosed {
				t.Error(err)
			}
			job[2].Send(0, topic(0), nil)
			job[2].Fence(0, wire.ErrDied)
		})
	}
}

// TestFence: who is fenced learns it, and is sent away when it comes back; others do not hear of it.
func TestFence(t *testing.T) {
	for name, way := range ways(t) {
		t.Run(name, func(t *testing.T) {
			job := newJob(t, 3, way)
			heard := watch(job[2])
			cause := errors.New("a reason")
			job[0].Fence(2, cause)
			job[0].Fence(2, wire.ErrDied)
			if x := heard.next(t); x != (fallen{2, wire.ErrFenced}) {
				t.Error(x)
			}
			if x := heard.next(t); x != (fallen{0, wire.ErrFenced}) {
				t.Error(x)
			}
			if x, y := job[0].Down(2), job[1].Down(2); x != cause || y != nil {
				t.Error(x, y)
			}
			err := job[2].dialControl(soon(t), job[2].cardOf(0), secure.Hello{Purpose: secure.Control, Token: job[2].card.Token})
			if !errors.Is(err, wire.ErrFenced) {
				t.Error(err)
			}
			job[0].Fence(0, cause)
			if err := job[0].Down(0); err != nil {
				t.Error("a process fences itself:", err)
			}
		})
	}
}

// TestFencedFirst: a process that was given up learns so before it takes for dead who has ended meanwhile, however long
// it takes to handle what it reads.
func TestFencedFirst(t *testing.T) {
	job := newJob(t, 3, nil)
	heard, from, ended := watch(job[0]), job[0].peer(1), job[0].peer(2)
	job[1].Send(0, topic(1), nil) // a dormant connection starts
	if _, err := job[0].Receive(soon(t), topic(1)); err != nil {
		t.Fatal(err)
	}
	for is := true; is; is = from.handling.Load() {
		time.Sleep(time.Millisecond)
	}
	from.mu.Lock() // which Read needs after it has read
	job[1].Fence(0, wire.ErrFrozen)
	for !from.handling.Load() {
		time.Sleep(time.Millisecond)
	}
	job[2].kill()
	for !ended.broke.Load() {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(10 * time.Millisecond)
	from.mu.Unlock()
	if x := heard.next(t); x != (fallen{0, wire.ErrFenced}) {
		t.Error(x)
	}
}

// TestFenceIsFlushed: a process learns that it was given up even if the one that says so ends as soon as Flush returns.
func TestFenceIsFlushed(t *testing.T) {
	for name, way := range ways(t) {
		t.Run(name, func(t *testing.T) {
			job := newJob(t, 2, way)
			heard, to := watch(job[0]), job[1].peer(0)
			job[1].Fence(0, wire.ErrFrozen)
			job[1].Flush(time.Minute)
			_ = to.conn.Close()
			if x := heard.next(t); x != (fallen{0, wire.ErrFenced}) {
				t.Error(x)
			}
		})
	}
}

// TestNonsense: a process that does not keep to the protocol is given up.
func TestNonsense(t *testing.T) {
	good := newFrame(frameNote, topic(0), []byte("text"), nil).bytes
	for name, b := range map[string][]byte{
		"kind":    append([]byte{0, 0, 0, 0, 99}, good[5:]...),
		"length":  append([]byte{255, 255, 255, 255}, good[4:]...),
		"files":   append([]byte{4, 0, 0, 0, frameNote, 200}, good[6:]...),
		"no file": append([]byte{4, 0, 0, 0, frameNote, 1}, good[6:]...),
		"bye":     newFrame(frameBye, wire.Topic{}, []byte{7}, nil).bytes,
	} {
		t.Run(name, func(t *testing.T) {
			job := newJob(t, 2, nil)
			heard := watch(job[0])
			if err := job[1].peer(0).send(frame{bytes: b}); err != nil {
				t.Fatal(err)
			}
			if x := heard.next(t); x.process != 1 || !errors.Is(x.err, wire.ErrDied) || x.err == wire.ErrDied {
				t.Error(x)
			}
		})
	}
}
