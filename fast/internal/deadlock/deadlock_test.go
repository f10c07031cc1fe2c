package deadlock

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/mesh"
	"github.com/collgen/collgen/fast/internal/wire"
)

// fakeRank is a rank's communicator, and its recorder.
type fakeRank struct {
	stalled  *flight.Stall // what it waits in; nil: it computes
	barriers uint64        // that it has made
	err      error         // why it gave up
	ring     []byte        // that it told the others
}

func (r *fakeRank) Healthy() bool                                             { return r.err == nil }
func (r *fakeRank) Send(int, uint8, []byte)                                   {}
func (r *fakeRank) Fail(err error, _ uint64, ring []byte)                     { r.err, r.ring = err, ring }
func (r *fakeRank) Pending() bool                                             { return false }
func (r *fakeRank) BlocksCaller() bool                                        { return true }
func (r *fakeRank) HasMade(call *wire.Call, _ int) bool                       { return r.barriers >= call.Seq }
func (r *fakeRank) HasBegun(Operation) bool                                   { return false }
func (r *fakeRank) Stall(time.Duration) *flight.Stall                         { return r.stalled }
func (r *fakeRank) SendsBegun(int) uint64                                     { return 0 }
func (r *fakeRank) Mismatched(_ Operation, _ string, err *wire.MismatchError) { r.err = err }

// receives returns what a rank waits in that receives from another one.
func receives(rank, from int) *flight.Stall {
	return &flight.Stall{Position: flight.Position{Number: 1, Moved: 5}, Idle: time.Minute, Waits: []int{from},
		Calls: []wire.Call{{Seq: 1, Count: 1, Root: uint32(from), Peer: uint32(rank) + 1}}}
}

// TestLiar has rank 2 lie about rank 1, which computes: that it waits, in probes that seem to have come around, in
// answers, and in a ring that rank 2 says it has found. Ranks 0 and 1 do not believe it.
func TestLiar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &fakeRank{stalled: receives(0, 1)}
		d := New(0, 3, Limits{}, r, r)
		mine, ok := d.stall(0).edge(0, 1)
		if !ok {
			t.Fatal("rank 0 does not wait for rank 1")
		}
		path := []edge{mine, {Rank: 1, Call: mine.Call}, {Rank: 2, Call: mine.Call}}
		for round := range uint32(30) {
			d.HandleProbe(2, (&probe{probeSeeks, round, path}).encode())
			d.HandleProbe(2, (&probe{What: probeAnswers, Round: round}).encode())
			d.Look()
			time.Sleep(time.Second)
		}
		if r.err != nil {
			t.Error("rank 0:", r.err)
		}
		computes := new(fakeRank)
		path = []edge{path[2], path[0], path[1]}
		if err := New(1, 3, Limits{}, computes, computes).Explain(encodeEdges(path), 2); err != nil {
			t.Error("rank 1, which is in no call:", err)
		}
	})
}

// FuzzProbe takes any bytes for a probe. A probe is encoded to the same bytes, and does no harm to a rank that waits.
func FuzzProbe(f *testing.F) {
	call := wire.Call{Seq: 1, Root: 1, Peer: 1}
	path := []edge{{Rank: 0, Call: call}, {Rank: 1, Number: 1, Call: wire.Call{Seq: 3}}, {Rank: 2, Number: 1, Moved: 5,
		Call: call}}
	for _, p := range []probe{{probeSeeks, 1, path}, {probeAsks, 7, path}, {What: probeAnswers, Round: 7},
		{probeSeeks, 0, path[:1]},
		{probeProves, 2, path[:1]}, {probeVerifies, 8, path}} {
		f.Add(p.encode(), uint8(p.What))
	}
	f.Add([]byte{9, 0, 0, 0, 1, 0, 0, 0}, uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, from uint8) {
		p, ok := decodeProbe(b, 4)
		if !ok {
			return
		}
		if len(p.path) > 4 || string(p.encode()) != string(b) {
			t.Fatalf("%x is %+v", b, p)
		}
		r := &fakeRank{stalled: &flight.Stall{Position: flight.Position{Number: 1, Moved: 5}, Waits: []int{0, 1},
			Calls: []wire.Call{call}}}
		d := New(2, 4, Limits{}, r, r)
		s := d.stall(0)
		for i := range p.path {
			s.blocks(&p.path[i], 2)
			s.departs(&p.path[i])
			d.close(s, p.path[:i+1])
			d.owes(s, &p.path[i])
			if err := ringError(p.path, i); !failure.Printable(err.Error()) {
				t.Errorf("%q", err)
			}
		}
		d.HandleProbe(int(from)%4, b)
		if r.err != nil {
			t.Errorf("%x has ended it: %v", b, r.err)
		}
	})
}

// waitingInAgree returns rank 0 of two, which has made a barrier and waits in its first agreement.
func waitingInAgree() (*Detector, *fakeRank, func()) {
	r := &fakeRank{barriers: 1}
	d := New(0, 2, Limits{}, r, r)
	return d, r, d.Inquire(Operation{Number: 1}, "Agree", func() []int { return []int{0, 1} })
}

// barrier returns where rank 1 waits in a barrier.
func barrier(seq uint64) []edge {
	return []edge{{Rank: 1, Call: wire.Call{Seq: seq, PrimitiveName: wire.NewLabel("Barrier")}}}
}

// TestAnswers: which answers of another rank end a communicator.
func TestAnswers(t *testing.T) {
	mine := Operation{Number: 1}
	for _, x := range []struct {
		what string
		m    inquiryMessage
		from int
		ends bool
	}{
		{"a call that was made", inquiryMessage{What: inquiryNeeds, Operation: mine, at: barrier(1)}, 1, false},
		{"the next call", inquiryMessage{What: inquiryNeeds, Operation: mine, at: barrier(2)}, 1, true},
		{"another agreement", inquiryMessage{What: inquiryNeeds, Operation: Operation{Number: 2}, at: barrier(2)}, 1, false},
		{"a group", inquiryMessage{What: inquiryNeeds, Operation: Operation{5, 1}, at: barrier(2)}, 1, false},
		{"a wait that was seen once", inquiryMessage{What: inquiryWaits, Operation: mine, at: barrier(2)}, 1, false},
		{"another rank's", inquiryMessage{What: inquiryNeeds, Operation: mine, at: barrier(2)}, 7, false},
		{"its own", inquiryMessage{What: inquiryNeeds, Operation: mine, at: barrier(2)}, 0, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			d, r, stop := waitingInAgree()
			defer stop()
			time.Sleep(2 * flight.Prompt) // until it has asked
			x.m.Round = d.Asked()
			d.HandleInquiry(x.from, x.m.encode())
			if ended := r.err != nil; ended != x.ends {
				t.Errorf("%s: %v", x.what, r.err)
			}
		})
	}
}

// TestStaysInWait: a rank that merely waits for this one is believed once it has been there for as long as a ring has
// to hold, and made no progress meanwhile.
func TestStaysInWait(t *testing.T) {
	for _, moves := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			d, r, stop := waitingInAgree()
			defer stop()
			start, at := time.Now(), barrier(2)
			for r.err == nil && time.Since(start) < time.Minute {
				time.Sleep(flight.Prompt)
				if moves {
					at[0].Moved++
				}
				d.HandleInquiry(1, (&inquiryMessage{inquiryWaits, d.Asked(), Operation{Number: 1}, at}).encode())
			}
			if took := time.Since(start); (r.err == nil) != moves || !moves && took < d.limits.Holds {
				t.Errorf("after %v: %v", took, r.err)
			}
		})
	}
}

// FuzzInquiry takes any bytes for a message of another rank. A message is encoded to the same bytes. If it ends a
// communicator on which a rank waits, the error is legible, and names the rank that has sent it.
func FuzzInquiry(f *testing.F) {
	for _, m := range []inquiryMessage{{What: inquiryAsks, Round: 1, Operation: Operation{Number: 1}},
		{What: inquiryNeeds, Round: 2, Operation: Operation{Number: 1}, at: barrier(2)},
		{What: inquiryWaits, Round: 3, Operation: Operation{Group: 1 << 63, Number: 1}, at: barrier(2)}} {
		f.Add(m.encode())
	}
	f.Add(make([]byte, inquiryBytes-1))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, ok := decodeInquiry(b, 1, 2)
		if !ok {
			return
		}
		if string(m.encode()) != string(b) || len(m.at) > 1 {
			t.Fatalf("%x is %+v", b, m)
		}
		d, r, stop := waitingInAgree()
		defer stop()
		d.HandleInquiry(1, b)
		if r.err == nil {
			return
		}
		mismatch, ok := r.err.(*wire.MismatchError)
		if text := r.err.Error(); !ok || mismatch.Rank != 1 || !failure.Printable(text) || !strings.Contains(text, "Agree") {
			t.Errorf("%x: %v", b, r.err)
		}
	})
}

// TestRingsOutlastSilence: a ring has to hold for longer than processes may be silent.
func TestRingsOutlastSilence(t *testing.T) {
	for _, given := range []time.Duration{0, time.Millisecond, mesh.DefaultHeartbeatTimeout,
		2 * mesh.DefaultHeartbeatTimeout, time.Minute} {
		silent := given
		if silent == 0 {
			silent = mesh.DefaultHeartbeatTimeout
		}
		if holds := new(Limits).Over(given).orUsual().Holds; holds <= silent {
			t.Errorf("a process may be silent for %v, and a ring is believed after %v", silent, holds)
		}
	}
}

// TestRingIsExplained: a rank of a ring believes it where it is, and the error lists the ring.
func TestRingIsExplained(t *testing.T) {
	var ring []edge
	for rank := range 3 {
		e, ok := (*waitState)(receives(rank, (rank+1)%3)).edge(rank, (rank+1)%3)
		if !ok {
			t.Fatalf("rank %d does not wait", rank)
		}
		ring = append(ring, e)
	}
	r := &fakeRank{stalled: receives(1, 2)}
	d := New(1, 3, Limits{}, r, r)
	deadlock, ok := d.Explain(encodeEdges(ring), 0).(*wire.DeadlockError)
	if !ok || !slices.Equal(deadlock.Ranks, []int{0, 1, 2}) {
		t.Errorf("%v", deadlock)
	}
	if err := d.Explain(encodeEdges(ring), 2); err != nil {
		t.Errorf("from a rank that is not the first: %v", err)
	}
}
