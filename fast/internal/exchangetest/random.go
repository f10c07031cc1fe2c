package exchangetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// errTold is what Fail is called with.
var errTold = fmt.Errorf("%w: as the test has it", wire.ErrFrozen)

// endings are the ways in which an Exchange ends from outside, and the error that the rank itself gets then.
var endings = []struct {
	name string
	end  func(e rank, cancel func())
	own  error
}{
	{"fail", func(e rank, _ func()) { e.Fail(errTold) }, errTold},
	{"close", func(e rank, _ func()) { _ = e.Close() }, wire.ErrClosed},
	{"cancel", func(_ rank, cancel func()) { cancel() }, context.Canceled},
}

// testEnds ends one of several busy ranks at random moments, in each way. The rank's Exchange returns soon, the others
// fail too, and nothing reads or writes what was passed to an Exchange after it has returned.
func testEnds(t *testing.T, make Make) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, ending := range endings {
		t.Run(ending.name, func(t *testing.T) {
			goroutines := runtime.NumGoroutine()
			var slowest time.Duration
			for i := range 12 {
				all := group(t, make, 2+i%2)
				victim, pause := rnd.IntN(len(all)), time.Duration(rnd.IntN(3000))*time.Microsecond
				ctx, cancel := context.WithCancel(context.Background())
				var at time.Time
				after := time.AfterFunc(pause, func() {
					at = time.Now()
					ending.end(all[victim], cancel)
				})
				errs := together(all, func(e rank) error {
					if e.rank != victim {
						return busy(context.Background(), e, 1<<(i+9))
					}
					err := busy(ctx, e, 1<<(i+9))
					slowest = max(slowest, time.Since(at))
					return err
				})
				after.Stop()
				cancel()
				if !errors.Is(errs[victim], ending.own) {
					t.Errorf("rank %d itself: %v, the ranks: %v", victim, errs[victim], errs)
				}
				for r, err := range errs {
					if r != victim && !errors.As(err, new(*wire.PeerError)) {
						t.Errorf("rank %d: %v", r, err)
					}
				}
				for _, e := range all {
					_ = e.Close()
				}
			}
			t.Logf("the slowest rank returned after %v", slowest)
			if slowest > long/2 {
				t.Error("that is far more than 250 ms")
			}
			backTo(t, goroutines)
		})
	}
}

// busy exchanges and reduces a buffer with all other ranks until that fails, and gives up then. After that the buffers
// are this rank's own again: it writes to them, so that the race detector sees who still reads or writes, and looks
// whether they stay as they are.
func busy(ctx context.Context, e rank, bytes int) error {
	var sends []wire.Send
	var recvs []wire.Recv
	data := aligned(bytes)
	for peer := range e.size {
		if peer != e.rank {
			sends = append(sends, wire.Send{Peer: peer, Data: data})
			into := aligned(bytes)
			recvs = append(recvs, wire.Recv{Peer: peer, Into: into, With: into, Kernel: subtract(bytes)})
		}
	}
	err := error(nil)
	for seq := uint64(1); err == nil; seq++ {
		e.Begin(wire.NewMark(&wire.Call{Seq: seq}))
		err = e.Exchange(ctx, sends, recvs)
	}
	buffers := [][]byte{data}
	for _, r := range recvs {
		buffers = append(buffers, r.Into)
	}
	for _, b := range buffers {
		for i := range b {
			b[i] = canary
		}
	}
	if err != wire.ErrClosed { // then the others see it by themselves, at least those that wait for this rank
		e.giveUp()
	}
	time.Sleep(time.Millisecond)
	for _, b := range buffers {
		for i := range b {
			if b[i] != canary {
				return fmt.Errorf("byte %d of a buffer was written after: %v", i, err)
			}
		}
	}
	return err
}

// backTo waits until there are no more goroutines than there were.
func backTo(t *testing.T, goroutines int) {
	t.Helper()
	for start := time.Now(); runtime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
		if time.Since(start) > long/2 {
			t.Fatalf("%d goroutines, before %d", runtime.NumGoroutine(), goroutines)
		}
	}
}
