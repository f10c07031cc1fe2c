package linkbase

import (
	"errors"
	"testing"

	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/fast/internal/wire"
)

// pair returns two ranks that have begun a call each, the second one with a receive of 8 bytes in turn.
func pair(t *testing.T, first, second *wire.Call) (a, b *Endpoint) {
	a, b = newEndpoint(0, 2), newEndpoint(1, 2)
	a.Begin(wire.NewMark(first))
	b.Begin(wire.NewMark(second))
	err := errors.Join(a.post([]wire.Send{{Peer: 1, Data: make([]byte, 8)}}, nil),
		b.post(nil, []wire.Recv{{Peer: 0, Into: make([]byte, 8)}}))
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}

// tell has to take frames that the other rank has said.
func tell(t *testing.T, to *Link, frames []byte, note func(h linkproto.Header, body []byte) error) {
	for len(frames) > 0 {
		h, err := linkproto.ParseHeader(frames)
		if err == nil {
			err = note(h, frames[linkproto.HeaderBytes:])
		}
		if err != nil {
			t.Fatalf("rank %d has said: %v", to.Peer, err)
		}
		frames = frames[linkproto.HeaderBytes+int(h.Left):]
	}
}

// TestCheck: a segment is the next one if its call was told and is the receive's, and so is its length. The sender of
// another one learns of it, and nothing it does succeeds any more.
func TestCheck(t *testing.T) {
	call, other := &wire.Call{Seq: 1, Count: 2}, &wire.Call{Seq: 1, Count: 3}
	for name, x := range map[string]struct {
		told, sent *wire.Call
		left       uint64
		is         string
	}{
		"right":         {call, call, 8, ""},
		"untold":        {call, other, 8, "died"},
		"other call":    {other, other, 8, "mismatch"},
		"other length":  {call, call, 9, "mismatch"},
		"nothing known": {nil, call, 8, "died"},
	} {
		a, b := pair(t, x.sent, call)
		l := b.links[0]
		if x.told != nil {
			tell(t, l, linkproto.AppendCallFrame(nil, linkproto.Call, x.told, x.told.Fingerprint()), l.Partner.SetCall)
		}
		err := b.CheckSegment(l, l.Receiving(), linkproto.Header{Kind: linkproto.Message, Left: x.left,
			Fingerprint: x.sent.Fingerprint()}, 8)
		var mismatch *wire.MismatchError
		is := ""
		switch {
		case errors.As(err, &mismatch):
			is = "mismatch"
		case errors.Is(err, wire.ErrDied):
			is = "died"
		}
		if is != x.is || (is == "mismatch") != (l.Partner.Refusal != nil) {
			t.Errorf("%s: %v", name, err)
		}
		back := a.links[1]
		tell(t, back, l.Partner.Refusal, func(h linkproto.Header, body []byte) error {
			return a.HandleControl(back, h,
				body)
		})
		if refused := back.Err; (refused != nil) != (is == "mismatch") || a.End.Reason() != refused {
			t.Errorf("%s: its sender learns %v, and ends with %v", name, refused, a.End.Reason())
		}
	}
}

// TestBye is the other rank's last word, but for one that it has said before.
func TestBye(t *testing.T) {
	_, b := pair(t, new(wire.Call), new(wire.Call))
	l := b.links[0]
	for range 2 {
		if err := b.HandleControl(l, linkproto.Header{Kind: linkproto.Bye}, nil); err != nil ||
			!errors.Is(l.Err, wire.ErrClosed) || b.End.Reason() != nil {
			t.Error(err, l.Err, b.End.Reason())
		}
	}
	earlier := l.PeerDied("before")
	l.Err = earlier
	if err := b.HandleControl(l, linkproto.Header{Kind: linkproto.Bye}, nil); err != nil || l.Err != earlier {
		t.Error(err, l.Err)
	}
}

// TestDisagreement: two ranks that wait for each other find out by what they say of themselves; also of one that is not
// waited for.
func TestDisagreement(t *testing.T) {
	for _, same := range []bool{true, false} {
		first, second := &wire.Call{Seq: 1, Count: 2}, &wire.Call{Seq: 1, Count: 3}
		if same {
			second = first
		}
		for _, waits := range []bool{true, false} {
			a, b := pair(t, first, second)
			if !waits {
				b.finish()
			}
			l := b.links[0]
			tell(t, l, a.AppendReport(a.links[1], nil), func(h linkproto.Header, body []byte) error {
				return b.HandleControl(l,
					h, body)
			})
			if err := b.FindDisagreement(); (err == nil) != same {
				t.Errorf("the same call %v, waited for %v: %v", same, waits, err)
			}
		}
	}
}

// TestGone: a rank whose message is gone, although its device has not said so yet, does not wait for the other one to
// take it. What the other one has said before of that message is over, too.
func TestGone(t *testing.T) {
	out, in, next := &wire.Call{Seq: 1, Peer: 2}, &wire.Call{Seq: 1, Root: 1, Peer: 1}, &wire.Call{Seq: 1, Count: 2}
	for _, gone := range []bool{false, true} {
		for name, x := range map[string]struct {
			sends bool // the other rank is stuck sending, or else receiving
			stuck *wire.Call
			recvs []wire.Recv
		}{
			"the other one is done, and sends":            {true, next, nil},
			"the other one has waited, and this one does": {false, out, []wire.Recv{{Peer: 1, Into: make([]byte, 8), Call: in}}},
		} {
			a, b := newEndpoint(0, 2), newEndpoint(1, 2)
			b.Begin(wire.NewMark(x.stuck))
			err := a.post([]wire.Send{{Peer: 1, Data: make([]byte, 8), Call: out}}, x.recvs)
			if x.sends {
				err = errors.Join(err, b.post([]wire.Send{{Peer: 0, Data: make([]byte, 8)}}, nil))
			} else {
				err = errors.Join(err, b.post(nil, []wire.Recv{{Peer: 0, Into: make([]byte, 8)}}))
			}
			if err != nil {
				t.Fatal(err)
			}
			l := a.links[1]
			l.Sending().Gone = gone
			tell(t, l, b.AppendReport(b.links[0], nil), func(h linkproto.Header, body []byte) error {
				return a.HandleControl(l,
					h, body)
			})
			if err, want := a.FindDisagreement(), x.sends && !gone; (err != nil) != want {
				t.Errorf("%s, gone %v: %v", name, gone, err)
			}
		}
	}
}
