package exchangetest

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// part is what one rank does: a call, and messages of so many bytes.
type part struct {
	call     wire.Call
	to, from []int
	bytes    int
}

// pair is what ranks 0 and 1 do.
type pair [2]part

// do exchanges p's messages in its call.
func (p *part) do(ctx context.Context, e rank) error {
	e.Begin(wire.NewMark(&p.call))
	return p.exchange(ctx, e, nil)
}

// doApart exchanges them in another call, each with that of its own.
func (p *part) doApart(ctx context.Context, e rank) error {
	e.Begin(wire.NewMark(&wire.Call{Seq: 9}))
	return p.exchange(ctx, e, &p.call)
}

func (p *part) exchange(ctx context.Context, e rank, call *wire.Call) error {
	var sends []wire.Send
	var recvs []wire.Recv
	for _, peer := range p.to {
		sends = append(sends, wire.Send{Peer: peer, Data: aligned(p.bytes), Call: call})
	}
	for _, peer := range p.from {
		recvs = append(recvs, wire.Recv{Peer: peer, Into: aligned(p.bytes), Call: call})
	}
	return e.Exchange(ctx, sends, recvs)
}

// Two collectives, and point-to-point calls between ranks 0 and 1.
var (
	broadcast = wire.Call{Seq: 1, Primitive: 1, Root: 0, PrimitiveName: wire.NewLabel("Broadcast")}
	otherRoot = wire.Call{Seq: 1, Primitive: 1, Root: 1, PrimitiveName: wire.NewLabel("Broadcast")}
	zeroToOne = wire.Call{Seq: 1, Primitive: 2, Root: 0, Peer: 2, PrimitiveName: wire.NewLabel("Send")}
	oneToZero = wire.Call{Seq: 4, Primitive: 2, Root: 1, Peer: 1, PrimitiveName: wire.NewLabel("Send")}
)

// tooLong is for a message that no transport takes as a whole before it is received.
const tooLong = 64 << 20

// disagreements are ranks that wait for each other in vain, without a message that would tell.
var disagreements = []struct {
	name  string
	parts pair
}{
	{"both receive", pair{{broadcast, nil, []int{1}, 1}, {otherRoot, nil, []int{0}, 1}}},
	{"both send", pair{{otherRoot, []int{1}, nil, tooLong}, {broadcast, []int{0}, nil, tooLong}}},
	{"a receive against a collective", pair{{oneToZero, nil, []int{1}, 1}, {broadcast, nil, []int{0}, 1}}},
	{"a long send against a collective", pair{{zeroToOne, []int{1}, nil, tooLong}, {broadcast, []int{0}, nil, tooLong}}},
	{"two receives", pair{{oneToZero, nil, []int{1}, 1}, {zeroToOne, nil, []int{0}, 1}}},
	{"two long sends", pair{{zeroToOne, []int{1}, nil, tooLong}, {oneToZero, []int{0}, nil, tooLong}}},
	{"no message", pair{{broadcast, nil, nil, 0}, {otherRoot, nil, []int{0}, 1}}},
}

// testDisagreement has each rank told, at the latest by its next call; also if the calls are not those of the Exchange
// but of its messages. One of them may hear no more than that the other one has given up.
func testDisagreement(t *testing.T, make Make) {
	disagreeAll(t, make, func(t *testing.T, errs []error, parts *pair) {
		found := 0
		for r, err := range errs {
			if told := errors.Is(err, wire.ErrAborted); !told {
				parts.check(t, r, err)
				found++
			} else {
				wantPeer(t, err, 1-r, wire.ErrAborted)
				t.Logf("rank %d is not told: %v", r, err)
			}
		}
		if found == 0 {
			t.Error("no rank has found it")
		}
	}, rank.giveUp)
}

// RunTellEach tests what not all transports can: of ranks that wait for each other in vain because they disagree each
// finds out by itself, and does not need to hear that another one has given up.
func RunTellEach(t *testing.T, make Make) {
	disagreeAll(t, make, func(t *testing.T, errs []error, parts *pair) {
		for r, err := range errs {
			parts.check(t, r, err)
		}
	}, func(rank) {})
}

// check wants err to be what rank r is to be told.
func (parts *pair) check(t *testing.T, r int, err error) {
	t.Helper()
	mine, theirs := &parts[r].call, &parts[1-r].call
	if mine.Peer == 0 || theirs.Peer == 0 {
		wantMismatch(t, err, *wire.Mismatch(mine, theirs, 1-r))
		return
	}
	sends := len(parts[0].to) > 0
	want := wire.DeadlockError{Ranks: []int{r, 1 - r}, Sends: []bool{sends, sends}}
	var d *wire.DeadlockError
	if !errors.As(err, &d) || !reflect.DeepEqual(*d, want) {
		t.Errorf("rank %d: %v, want %v", r, err, &want)
	}
}

// disagreeAll has two ranks disagree in all ways, and checks what they are told. A rank that has failed calls after.
func disagreeAll(t *testing.T, make Make, check func(*testing.T, []error, *pair), after func(rank)) {
	for _, test := range disagreements {
		for name, do := range map[string]func(*part, context.Context, rank) error{"": (*part).do,
			", apart": (*part).doApart} {
			if name != "" && test.name == "no message" {
				continue
			}
			t.Run(test.name+name, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), long)
				defer cancel()
				check(t, together(group(t, make, 2), func(e rank) error {
					err := do(&test.parts[e.rank], ctx, e)
					if err == nil {
						err = e.receive(ctx, 1-e.rank, aligned(1))
					}
					after(e)
					return err
				}), &test.parts)
			})
		}
	}
}

// testGoneOn has rank 1 make a call with another root, in which it has nothing to wait for, and go on: what rank 0 gets
// from it, or it from rank 0, is a message of another call. At least one of them says that the root differs. Rank 0 may
// know only that rank 1 has gone on: then rank 1 learns in what they differ.
func testGoneOn(t *testing.T, make Make) {
	barrier := wire.Call{Seq: 2, Primitive: 3, PrimitiveName: wire.NewLabel("Barrier")}
	for name, first := range map[string]part{
		"and is late": {broadcast, nil, []int{1}, 1},
		"and is sent": {broadcast, []int{1}, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), long)
			defer cancel()
			errs := together(group(t, make, 2), func(e rank) error {
				if e.rank == 1 {
					e.Begin(wire.NewMark(&otherRoot))
					return (&part{barrier, []int{0}, []int{0}, 1}).do(ctx, e)
				}
				err := first.do(ctx, e)
				if err == nil {
					err = e.receive(ctx, 1, aligned(1))
				}
				var ahead *wire.MismatchError
				if !errors.As(err, &ahead) || ahead.Seq == ahead.TheirSeq {
					e.giveUp()
				}
				return err
			})
			found := 0
			for r, err := range errs {
				var got *wire.MismatchError
				switch ok := errors.As(err, &got); {
				case ok && got.Field == "root" && got.Seq == 1 && got.TheirSeq == 1 && got.Rank == 1-r:
					found++
				case ok && got.Seq != got.TheirSeq && strings.Contains(err.Error(), "'s call 2"):
				case !errors.Is(err, wire.ErrAborted):
					t.Errorf("rank %d: %v", r, err)
				}
			}
			if found == 0 {
				t.Errorf("no rank says that the root differs: %v", errs)
			}
		})
	}
}

// testAgreement has ranks take their time, in calls that agree: nobody takes that for a disagreement.
func testAgreement(t *testing.T, make Make) {
	all := group(t, make, 2)
	succeed(t, all, func(ctx context.Context, e rank) error {
		for i := range 4 {
			p := part{call: broadcast, bytes: 4 << 20}
			p.call.Seq += uint64(i)
			if p.call.Peer = 0; i%2 == 1 {
				p.call.Peer = 2
			}
			if p.to = []int{1}; e.rank == 1 {
				p.to, p.from = nil, []int{0}
			}
			if e.rank == i/2 {
				time.Sleep(60 * time.Millisecond) // longer than it takes a rank to wonder
			}
			if err := p.do(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	same := otherRoot
	same.Seq = 9
	for r, err := range together(all, func(e rank) error { return (&part{same, nil, []int{1 - e.rank}, 1}).do(ctx, e) }) {
		// Where all ranks are known to wait for each other there is no need to wait for the deadline.
		if !errors.Is(err, context.DeadlineExceeded) &&
			(err == nil || !strings.Contains(err.Error(), "wait for each other")) {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}
