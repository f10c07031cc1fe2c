//go:build linux

package shm

import (
	"context"
	"errors"
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

func (p *part) do(ctx context.Context, e *Endpoint) error {
	e.Begin(wire.NewMark(&p.call))
	return p.exchange(ctx, e, nil)
}

// exchange exchanges p's messages, which belong to call.
func (p *part) exchange(ctx context.Context, e *Endpoint, call *wire.Call) error {
	var sends []wire.Send
	var recvs []wire.Recv
	for _, peer := range p.to {
		sends = append(sends, wire.Send{Peer: peer, Data: make([]byte, p.bytes), Call: call})
	}
	for _, peer := range p.from {
		recvs = append(recvs, wire.Recv{Peer: peer, Into: make([]byte, p.bytes), Call: call})
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

const tooLong = slots*maxSlot + 1 // for a ring

// disagreements are ranks that wait for each other in vain: what rank 0 and rank 1 are told.
var disagreements = map[string]struct {
	parts []part
	want  [2]string
}{
	"both receive": {[]part{{broadcast, nil, []int{1}, 1}, {otherRoot, nil, []int{0}, 1}}, [2]string{
		"call 1 does not match rank 1's: root is 0 here and 1 there", "call 1 does not match rank 0's: root is 1 here and 0 there"}},
	"both send": {[]part{{otherRoot, []int{1}, nil, tooLong}, {broadcast, []int{0}, nil, tooLong}}, [2]string{
		"call 1 does not match rank 1's: root is 1 here and 0 there", "call 1 does not match rank 0's: root is 0 here and 1 there"}},
	"a receive against a collective": {[]part{{oneToZero, nil, []int{1}, 1}, {broadcast, nil, []int{0}, 1}}, [2]string{
		"call 4 does not match rank 1's call 1: primitive is Send here and Broadcast there", "call 1 does not match rank 0's call 4: primitive is Broadcast here and Send there"}},
	"a receive against a collective of three": {[]part{{broadcast, nil, []int{1, 2}, 1}, {zeroToOne, nil, []int{0}, 1}, {}}, [2]string{
		"call 1 does not match rank 1's: primitive is Broadcast here and Send there", "call 1 does not match rank 0's: primitive is Send here and Broadcast there"}},
	"a long send against a collective": {[]part{{zeroToOne, []int{1}, nil, tooLong}, {broadcast, []int{0}, nil, tooLong}}, [2]string{
		"call 1 does not match rank 1's: primitive is Send here and Broadcast there", "call 1 does not match rank 0's: primitive is Broadcast here and Send there"}},
	"two receives": {[]part{{oneToZero, nil, []int{1}, 1}, {zeroToOne, nil, []int{0}, 1}}, [2]string{
		"call 4 does not match rank 1's call 1: peer is 0 here and 1 there", "call 1 does not match rank 0's call 4: peer is 1 here and 0 there"}},
	"two long sends": {[]part{{zeroToOne, []int{1}, nil, tooLong}, {oneToZero, []int{0}, nil, tooLong}}, [2]string{
		"call 1 does not match rank 1's call 4: peer is 1 here and 0 there", "call 4 does not match rank 0's call 1: peer is 0 here and 1 there"}},
	"no message": {[]part{{broadcast, nil, nil, 0}, {otherRoot, nil, []int{0}, 1}}, [2]string{
		"call 1 does not match rank 1's: root is 0 here and 1 there", "call 1 does not match rank 0's: root is 1 here and 0 there"}},
}

// TestDisagreement: each rank is told, at the latest by its next call; also if the calls are not those of the Exchange but
// of its messages.
func TestDisagreement(t *testing.T) {
	for name, test := range disagreements {
		t.Run(name, func(t *testing.T) {
			testDisagreement(t, test.parts, test.want, (*part).do)
			if name == "no message" {
				return
			}
			testDisagreement(t, test.parts, test.want, func(p *part, ctx context.Context, e *Endpoint) error {
				e.Begin(wire.NewMark(&wire.Call{Seq: 9}))
				return p.exchange(ctx, e, &p.call)
			})
		})
	}
}

func testDisagreement(t *testing.T, parts []part, want [2]string, do func(*part, context.Context, *Endpoint) error) {
	t.Helper()
	all := group(t, len(parts))
	defer closeGroup(all)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	errs := together(all[:2], func(e *Endpoint) error {
		err := do(&parts[e.rank], ctx, e)
		if err == nil {
			err = recv(e, 1-e.rank)
		}
		return err
	})
	for rank, err := range errs {
		if m := (*wire.MismatchError)(nil); !errors.As(err, &m) || err.Error() != want[rank] {
			t.Errorf("rank %d: %v, want %s", rank, err, want[rank])
		}
	}
}

// TestCrossed: of two roots that only send, the later one is told at once. What a rank sends in a later call, or in a
// call of its own with this one, is no disagreement.
func TestCrossed(t *testing.T) {
	for name, test := range map[string]struct {
		earlier, later wire.Call
		want           string
	}{
		"roots":              {otherRoot, broadcast, "call 1 does not match rank 0's: root is 0 here and 1 there"},
		"a later call":       {wire.Call{Seq: 2, Primitive: 1}, broadcast, "<nil>"},
		"two sends":          {zeroToOne, oneToZero, "<nil>"},
		"a send meets other": {zeroToOne, broadcast, "<nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			all := group(t, 2)
			defer closeGroup(all)
			if err := (&part{test.earlier, []int{1}, nil, 1}).do(t.Context(), all[0]); err != nil {
				t.Fatal(err)
			}
			err := (&part{test.later, []int{0}, nil, 1}).do(t.Context(), all[1])
			if got := errorText(err); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return "<nil>"
	}
	return err.Error()
}

// TestAgreement: ranks that wait for each other in the same call do not disagree, and neither do ranks that only take
// their time.
func TestAgreement(t *testing.T) {
	all := group(t, 2)
	defer closeGroup(all)
	patient := part{call: broadcast, bytes: tooLong}
	for rank, err := range together(all, func(e *Endpoint) error {
		p := patient
		for i := range 4 {
			if p.call.Seq++; i%2 == 0 {
				p.call.Peer = 0
			} else {
				p.call.Peer = 2
			}
			if p.to, p.from = []int{1}, nil; e.rank == 1 {
				p.to, p.from = nil, []int{0}
			}
			if e.rank == i/2 {
				time.Sleep(5 * nap)
			}
			if err := p.do(t.Context(), e); err != nil {
				return err
			}
		}
		return nil
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*nap)
	defer cancel()
	for rank, err := range together(all, func(e *Endpoint) error {
		return (&part{otherRoot, nil, []int{1 - e.rank}, 1}).do(ctx, e)
	}) {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}
