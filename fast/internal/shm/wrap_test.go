//go:build linux

package shm

import (
	"fmt"
	"testing"

	"github.com/collgen/collgen/fast/internal/exchangetest"
)

// TestEveryWayWrapsAround has the numbers of segments pass 2^32 in the middle of messages that go in each way: in
// lines, slots and multicast slots, and offered.
func TestEveryWayWrapsAround(t *testing.T) {
	for name, make := range map[string]func(tester, int) []*Endpoint{"copied": group, "offered": openGroup} {
		for _, size := range []int{2, 3} {
			for _, behind := range []uint32{1, 2, 5, depth} {
				t.Run(fmt.Sprint(name, "/", size, "/", behind), func(t *testing.T) {
					all := make(t, size)
					defer closeGroup(all)
					for _, e := range all {
						for peer := range all {
							if peer != e.rank {
								startAt(&e.links[peer].out, -behind)
								startAt(&all[peer].links[e.rank].in, -behind)
							}
						}
					}
					var p exchangetest.Plan
					for i, n := range []int{300007, 8, 1000, 70000, 300007, 0, 300008} {
						var step []exchangetest.Message
						for from := range all {
							for to := range all {
								if from != to {
									step = append(step, exchangetest.Message{From: from, To: to, Length: n, Kernel: (i+from)%2 == 0})
								}
							}
						}
						p = append(p, step)
					}
					carryOut(t, all, p)
				})
			}
		}
	}
}

// startAt has r, which was not used, begin with that segment.
func startAt(r *ring, segment uint32) {
	r.next, r.taken = segment, segment
	r.head.tail.Store(segment)
	for i := range uint32(depth) { // each line has the number of the round before, plus 1
		r.head.lines[(segment+i)%depth].seq.Store(segment + i - depth + 1)
	}
}

// TestMulticastWraps: a multicast slot is free when its readers have taken what is in it, also around 2^32 segments.
func TestMulticastWraps(t *testing.T) {
	for _, x := range []struct {
		segment uint32
		tail    uint32
		free    bool
	}{{7, 7, false}, {7, 8, true}, {0, 1<<32 - 1, false}, {0, 0, false}, {0, 1, true}, {1<<32 - 1, 1<<32 - 1, false},
		{1<<32 - 1, 0, true}} {
		h := new(ringHead)
		h.tail.Store(x.tail)
		p := multicastSlot{readers: []reader{{&ring{head: h}, x.segment}}}
		if got := p.free(); got != x.free {
			t.Errorf("segment %d, tail %d: free %v", x.segment, x.tail, got)
		}
	}
}
