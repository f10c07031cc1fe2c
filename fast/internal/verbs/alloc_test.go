//go:build linux && cgo && !netgo

package verbs

import (
	"math"
	"testing"

	"github.com/collgen/collgen/fast/internal/rdma/vm"
)

// TestAllocations counts those of what a transport does all the time.
func TestAllocations(t *testing.T) {
	vm.Need(t)
	a, b := newPair(t, vm.NICs[0], vm.NICs[0], 100, Retry{Timeout: 14, Count: 6, RNR: 7})
	sends := []Send{{Opcode: WriteWithImm, MR: a.mr, Length: 100, Remote: b.mr.Address(), RKey: b.mr.RKey, Signaled: true}}
	receives := make([]Receive, 1)
	done := make([]Completion, depth)
	wait := func(e *end) {
		for {
			_ = e.cq.Arm()
			if n, _ := e.cq.Spin(done, 100); n > 0 {
				return
			}
			_ = e.channel.Wait()
		}
	}
	least := math.Inf(1)
	for range 5 { // what else runs in this process makes some too
		least = min(least, testing.AllocsPerRun(20, func() {
			_, _ = b.qp.PostReceives(receives)
			_, _ = a.qp.Post(sends)
			wait(b)
			wait(a)
		}))
	}
	if least != 0 {
		t.Errorf("%v allocations", least)
	}
}
