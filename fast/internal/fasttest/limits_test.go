package fasttest

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestDelays: what took too long is a failure, unless the processors were busy; within the noise it is none.
func TestDelays(t *testing.T) {
	const limit = time.Second
	for _, x := range []struct {
		took  time.Duration
		busy  bool
		fails bool
	}{{limit, false, false}, {limit + noise, false, false}, {limit + noise + 1, false, true}, {time.Hour, true, false},
		{time.Hour, false, true}} {
		d := Delays{Limit: limit, busy: func() bool { return x.busy }}
		d.Add(limit / 2)
		if d.Add(x.took); d.tooLong() != x.fails {
			t.Errorf("%+v: %v", x, d.tooLong())
		}
	}
}

// TestBusy: on processors on which many others want to run, those are busy.
func TestBusy(t *testing.T) {
	var over atomic.Bool
	var others sync.WaitGroup
	for range 4 * runtime.NumCPU() {
		others.Go(func() {
			runtime.LockOSThread()
			for !over.Load() {
			}
		})
	}
	if !processorsAreBusy() {
		t.Error("with five times as many threads as processors, all of them get one")
	}
	over.Store(true)
	others.Wait()
}
