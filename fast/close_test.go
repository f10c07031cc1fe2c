package fast

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

	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/simnet"
)

// TestCloseFinishes: what was started before Close still ends with its result, on all transports; what cannot end is
// ended.
func TestCloseFinishes(t *testing.T) {
	for _, w := range Worlds {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			for rank, err := range fasttest.OnAll(w.Comms(t, 3), func(c *Comm) error {
				bufs := make([][]int, 5)
				handles := make([]*Handle, len(bufs))
				for i := range bufs {
					bufs[i] = fasttest.Input(c.Rank(), 50_000, i)
					handles[i] = StartAllReduce(context.Background(), c, bufs[i], Sum)
				}
				if err := c.Close(); err != nil {
					return err
				}
				for i, h := range handles {
					if err := fasttest.Verified(h.Wait(context.Background()), bufs[i], func(k int) int { return fasttest.Total(3, k, i) }); err != nil {
						return err
					}
				}
				return nil
			}) {
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
			all := w.Comms(t, 2)
			alone, start := StartBarrier(t.Context(), all[0]), time.Now()
			if err := all[0].Close(); err != nil {
				t.Error(err)
			}
			if err := alone.Wait(t.Context()); !errors.Is(err, ErrClosed) || time.Since(start) < finishTime {
				t.Errorf("after %v: %v", time.Since(start), err)
			}
			fasttest.CloseAll(t, all)
		})
	}
}

// TestCloseWhileMoving: Close lets started calls end as long as they make progress, by ends of calls or by messages
// within one, and not for longer than a second without.
func TestCloseWhileMoving(t *testing.T) {
	const step = finishTime - 50*time.Millisecond
	for _, test := range []struct {
		pause time.Duration // of the other rank, before each of its four sends
		ends  bool
	}{{step, true}, {finishTime + 50*time.Millisecond, false}} {
		for name, start := range map[string]func(ctx context.Context, c *Comm) []*Handle{
			"calls": func(ctx context.Context, c *Comm) (handles []*Handle) {
				for range 4 {
					handles = append(handles, StartBroadcast(ctx, c, make([]int64, 1), 1))
				}
				return handles
			},
			"messages": func(ctx context.Context, c *Comm) (handles []*Handle) {
				_ = c.Batch(func() error {
					for range 4 {
						handles = append(handles, StartRecv(ctx, c, make([]int64, 1), 1))
					}
					return nil
				})
				return handles
			},
		} {
			synctest.Test(t, func(t *testing.T) {
				all := comms(2)
				handles := start(t.Context(), all[0])
				other := make(chan error, 1)
				go func() {
					var err error
					for range 4 {
						if time.Sleep(test.pause); name == "calls" {
							err = errors.Join(err, Broadcast(t.Context(), all[1], make([]int64, 1), 1))
						} else {
							err = errors.Join(err, Send(t.Context(), all[1], make([]int64, 1), 0))
						}
					}
					other <- err
				}()
				err := all[0].Close()
				for _, h := range handles {
					err = errors.Join(err, h.Wait(t.Context()))
				}
				if (err == nil) != test.ends || err != nil && !errors.Is(err, ErrClosed) {
					t.Errorf("%s, with pauses of %v: %v", name, test.pause, err)
				}
				if err := <-other; (err == nil) != test.ends {
					t.Errorf("%s, with pauses of %v, the other rank: %v", name, test.pause, err)
				}
				fasttest.CloseAll(t, all)
			})
		}
	}
}

// TestCloseAtOnce: what a rank has sent before Close arrives, over links that are slow, or that are there for one of
// the two long after the other one has closed: where the process ends as soon as Close has returned, and where it lives
// on with another communicator.
func TestCloseAtOnce(t *testing.T) {
	for lag, count := range map[time.Duration]int{0: 16 * capacity / 8, longLag: capacity / 16} {
		for _, exits := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				x, err := newSimulation(scenario{size: 4, lag: lag, weather: simnet.Weather{Delay: 150 * time.Millisecond, Capacity: capacity}}, meshes)
				if err != nil {
					t.Fatal(err)
				}
				var all sync.WaitGroup
				for process, w := range x.worlds {
					if !exits {
						w.users.Add(1)
					}
					all.Go(func() {
						if err := x.broadcastAndClose(process, count); err != nil {
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
					_ = x.worlds[process].plane.Close()
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

func (x *simulation) broadcastAndClose(process, count int) error {
	c, err := x.worlds[process].first(context.Background(), x.size)
	if err != nil {
		return err
	}
	return errors.Join(x.attempt(process, c, 0, simulatedCall{name: "Broadcast", count: count}), c.Close())
}

// TestCloseIsRead: the others read that a process has closed, and do not take it for dead, though it ends as soon as
// Close has returned, over slow links on which nothing else is on its way.
func TestCloseIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, err := newSimulation(scenario{size: 2, weather: simnet.Weather{Delay: 225 * time.Millisecond, Capacity: capacity}}, meshes)
		if err != nil {
			t.Fatal(err)
		}
		c := x.pair(t)
		var all sync.WaitGroup
		all.Go(func() {
			if err := Recv(context.Background(), c[1], make([]byte, 1), 0); !errors.Is(err, ErrClosed) || errors.Is(err, ErrDied) {
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
func (x *simulation) pair(t *testing.T) (c [2]*Comm) {
	var all sync.WaitGroup
	for process, w := range x.worlds {
		all.Go(func() {
			var err error
			if c[process], err = w.first(context.Background(), x.size); err != nil {
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
	for name, then := range map[string]func(x *simulation, c [2]*Comm){
		"receives": func(x *simulation, c [2]*Comm) {
			got := make([]byte, capacity/2)
			if err := Recv(context.Background(), c[1], got, 0); err != nil || got[len(got)-1] != 7 {
				t.Error(err)
			}
			_ = c[1].Close() // these links have no host that takes the last word before the rank reads it
		},
		"closes":   func(x *simulation, c [2]*Comm) { _ = c[1].Close() },
		"ends":     func(x *simulation, c [2]*Comm) { x.processes[1].Crash(func() bool { return false }) },
		"freezes":  func(x *simulation, c [2]*Comm) { x.processes[1].Stop() },
		"gives up": func(x *simulation, c [2]*Comm) { c[0].Abort() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x, err := newSimulation(scenario{size: 2, weather: simnet.Weather{Delay: time.Millisecond, Capacity: capacity}}, meshes)
				if err != nil {
					t.Fatal(err)
				}
				var warned bytes.Buffer
				x.worlds[0].record = flight.New(flight.Config{Rank: 0, Size: 2, Job: "simulated", Operations: 8, Slow: time.Minute, Log: slog.New(slog.NewTextHandler(&warned, nil))})
				c := x.pair(t)
				var all sync.WaitGroup
				sent := make([]byte, capacity/2)
				sent[len(sent)-1] = 7
				all.Go(func() {
					if err := Send(context.Background(), c[0], sent, 1); err != nil {
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

// TestStateNames: each state has a name, and what is none has a number.
func TestStateNames(t *testing.T) {
	for s, want := range map[State]string{
		Healthy: "Healthy", Failed: "Failed", Revoked: "Revoked", Aborted: "Aborted", Closed: "Closed",
		Closed + 1: "State(5)",
	} {
		if got := s.String(); got != want {
			t.Errorf("state %d is called %q, want %q", uint8(s), got, want)
		}
	}
}
