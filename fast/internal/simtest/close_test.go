package simtest

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/simnet"
)

// TestCloseAtOnce: what a rank has sent before Close arrives, over links that are slow, or that are there for one of
// the two long after the other one has closed: where the process ends as soon as Close has returned, and where it lives
// on with another communicator.
func TestCloseAtOnce(t *testing.T) {
	for lag, count := range map[time.Duration]int{0: 16 * capacity / 8, longLag: capacity / 16} {
		for _, exits := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				x, err := newSimulation(scenario{size: 4, lag: lag, weather: simnet.Weather{Delay: 150 * time.Millisecond,
					Capacity: capacity}}, meshes)
				if err != nil {
					t.Fatal(err)
				}
				var all sync.WaitGroup
				others := make([]*fast.Comm, x.size)
				for process := range x.size {
					all.Go(func() {
						if err := x.broadcastAndClose(process, count, &others[process], exits); err != nil {
							t.Errorf("lag %v, exits %v, process %d: %v", lag, exits, process, err)
						}
						if exits {
							x.processes[process].Crash(func() bool { return lag == 0 }) // with what is still in the process
						}
					})
				}
				all.Wait()
				for process, p := range x.processes {
					p.Continue()
					_ = others[process].Close()
					_ = x.worlds[process].Plane.Close()
				}
				time.Sleep(time.Minute)
			})
		}
	}
}

const (
	longLag  = 5 * time.Second // less than a handshake may take, and more than anything else here
	capacity = 4 << 10         // bytes that a link takes
)

// broadcastAndClose makes a process's part in a broadcast. Unless the process exits, it has another communicator, which
// is of no other process, so that nothing but the broadcast needs links.
func (x *simulation) broadcastAndClose(process, count int, other **fast.Comm, exits bool) error {
	c, err := x.first(process)
	if err == nil && !exits {
		*other, err = c.Group(context.Background(), []int{c.Rank()})
	}
	if err != nil {
		return err
	}
	return errors.Join(x.attempt(process, c, 0, simulatedCall{name: "Broadcast", count: count}), c.Close())
}

// TestCloseIsRead: the others read that a process has closed, and do not take it for dead, though it ends as soon as
// Close has returned, over slow links on which nothing else is on its way.
func TestCloseIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, err := newSimulation(scenario{size: 2, weather: simnet.Weather{Delay: 225 * time.Millisecond, Capacity: capacity}},
			meshes)
		if err != nil {
			t.Fatal(err)
		}
		c := x.pair(t)
		var all sync.WaitGroup
		all.Go(func() {
			if err := fast.Recv(context.Background(), c[1], make([]byte, 1), 0); !errors.Is(err, fast.ErrClosed) ||
				errors.Is(err, fast.ErrDied) {
				t.Error(err)
			}
		})
		if err := c[0].Close(); err != nil {
			t.Error(err)
		}
		x.processes[0].Crash(func() bool { return true })
		all.Wait()
		x.processes[0].Continue()
		_ = c[1].Close()
		time.Sleep(time.Minute)
	})
}

// pair returns the world on both of two processes.
func (x *simulation) pair(t *testing.T) (c [2]*fast.Comm) {
	var all sync.WaitGroup
	for process := range c {
		all.Go(func() {
			var err error
			if c[process], err = x.first(process); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	return c
}

// TestCloseWaits: what was sent and does not fit on the way to a rank that does something else is waited for, until
// that rank receives it, closes, ends or is frozen, or until this one calls Abort. The wait is warned of.
func TestCloseWaits(t *testing.T) {
	const long = 5 * time.Minute
	for name, then := range map[string]func(x *simulation, c [2]*fast.Comm){
		"receives": func(x *simulation, c [2]*fast.Comm) {
			got := make([]byte, capacity/2)
			if err := fast.Recv(context.Background(), c[1], got, 0); err != nil || got[len(got)-1] != 7 {
				t.Error(err)
			}
			_ = c[1].Close() // these links have no host that takes the last word before the rank reads it
		},
		"closes":   func(x *simulation, c [2]*fast.Comm) { _ = c[1].Close() },
		"ends":     func(x *simulation, c [2]*fast.Comm) { x.processes[1].Crash(func() bool { return false }) },
		"freezes":  func(x *simulation, c [2]*fast.Comm) { x.processes[1].Stop() },
		"gives up": func(x *simulation, c [2]*fast.Comm) { c[0].Abort() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x, err := newSimulation(scenario{size: 2, weather: simnet.Weather{Delay: time.Millisecond, Capacity: capacity}},
					meshes)
				if err != nil {
					t.Fatal(err)
				}
				var warned bytes.Buffer
				x.worlds[0].Record = flight.New(flight.Config{Rank: 0, Size: 2, Job: "simulated", Operations: 8, Slow: time.Minute,
					Log: slog.New(slog.NewTextHandler(&warned, nil))})
				c := x.pair(t)
				var all sync.WaitGroup
				sent := make([]byte, capacity/2)
				sent[len(sent)-1] = 7
				all.Go(func() {
					if err := fast.Send(context.Background(), c[0], sent, 1); err != nil {
						t.Errorf("%v", err)
					}
					start := time.Now()
					if err := c[0].Close(); err != nil || time.Since(start) < long-time.Minute {
						t.Errorf("%v after %v", err, time.Since(start))
					}
				})
				time.Sleep(long)
				then(x, c)
				all.Wait()
				if !strings.Contains(warned.String(), `primitive=Close comm=world rank=0 size=2 waiting=[1] seconds=60`) {
					t.Errorf("no warning but %s", &warned)
				}
				for _, p := range x.processes {
					p.Continue()
				}
				_ = c[1].Close()
				time.Sleep(time.Minute)
			})
		})
	}
}
