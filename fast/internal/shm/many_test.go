//go:build linux

package shm

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
)

// TestManyRanksWakeUps: a rank among many is woken up by the message that it waits for, and by nothing else. So
// recursive doubling costs no more switches of processes than it has messages, however few the cores are.
func TestManyRanksWakeUps(t *testing.T) {
	const size, rounds = 64, 5
	steps := bits.Len(size - 1)
	all := group(t, size)
	defer closeGroup(all)
	var ranks sync.WaitGroup
	for _, e := range all {
		e.patience = patience{} // it sleeps at once, or else few would sleep at all
		ranks.Go(func() {
			for k := range steps * rounds {
				peer := e.rank ^ 1<<(k%steps)
				sends, recvs := []wire.Send{{Peer: peer, Data: make([]byte, 8)}}, []wire.Recv{{Peer: peer, Into: make([]byte, 8)}}
				if err := e.Exchange(t.Context(), sends, recvs); err != nil {
					t.Error(err)
				}
			}
		})
	}
	ranks.Wait()
	wakes, messages := uint32(0), uint32(size*steps*rounds)
	for _, e := range all {
		wakes += e.own.doorbell.Load()
	}
	if wakes > messages/2 || wakes == 0 { // of two that exchange messages, only the one that comes first sleeps
		t.Errorf("%d wake-ups for %d messages", wakes, messages)
	}
}

// TestPatience: where ranks have to share processors they do not keep them from each other.
func TestPatience(t *testing.T) {
	for size := range MaxSize {
		for _, cores := range []int{1, 2, 3, 64} {
			switch p := patienceFor(size, cores); {
			case size > 2*cores && p.spins > 0, size > cores && p.spins > 50, p.yields == 0:
				t.Errorf("%d ranks on %d cores: %+v", size, cores, p)
			}
		}
	}
}

// TestYieldWhile: a rank that is to leave its processor to others sleeps without having yielded. It asks anew each time
// that it waits.
func TestYieldWhile(t *testing.T) {
	all := group(t, 2)
	defer closeGroup(all)
	var yields atomic.Bool
	all[0].YieldWhile(yields.Load)
	before := uint(0)
	for _, courteous := range []bool{false, true, false} {
		yields.Store(courteous)
		done := make(chan error)
		go func() { done <- recv(all[0], 1) }()
		letSleep(all[0])
		if err := send(all[1], 0); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if n := all[0].yields - before; (n == 0) != courteous {
			t.Errorf("%d yields before it slept, courteous: %v", n, courteous)
		}
		before = all[0].yields
	}
}

// TestOnlyWhatIsAwaitedWakes: messages of a rank that another one does not wait for, and ranks that take what it has
// sent, do not wake it up.
func TestOnlyWhatIsAwaitedWakes(t *testing.T) {
	all := group(t, 3)
	defer closeGroup(all)
	for _, to := range []int{1, 2} {
		if err := send(all[0], to); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error)
	go func() { done <- recv(all[0], 1) }()
	letSleep(all[0])
	for range slots {
		if err := send(all[2], 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, by := range []int{1, 2} {
		if err := recv(all[by], 0); err != nil {
			t.Fatal(err)
		}
	}
	if n := all[0].own.doorbell.Load(); n > 0 {
		t.Errorf("%d wake-ups by what is not waited for", n)
	}
	letSleep(all[0])
	if err := send(all[1], 0); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// letSleep returns when e sleeps.
func letSleep(e *Endpoint) {
	for e.own.sleeping.Load() == 0 {
		runtime.Gosched()
	}
}
