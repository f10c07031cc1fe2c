package failure

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Notice is what a rank sends to the others when it gives a communicator up, revokes or closes it.
type Notice struct {
	State     State
	By        int    // the rank whose notice it is; others pass it on
	Seq       uint64 // of its call
	Cause            // its ranks are as By sees them
	Past      []byte // of a rank that closes: the collectives that it has made last, of EncodeCalls
	Linked    bool   // of a rank that closes: it has a connection to the receiver, over which something may be on its way
	Ring      []byte // of package deadlock: ranks that wait for each other, By first; none: it is no deadlock
	Agreement uint64 `json:",omitempty"` // the number of the Agree or Grow in which By was, which never ends; 0: none
}

// NoticeOf returns the notice of a failure on rank self.
func NoticeOf(s State, self int, seq uint64, err error) Notice {
	return Notice{State: s, By: self, Seq: seq, Cause: Of(self, err)}
}

// Meaning returns what n means to rank self of size, as an error.
func (n *Notice) Meaning(self, size int) error {
	switch {
	case n.State == Revoked:
		return fmt.Errorf("rank %d: %w", n.By, wire.ErrRevoked)
	case n.Rank < 0 || n.Rank >= size:
	case n.Field != "" && n.Rank == self:
		return &wire.MismatchError{Rank: n.By, Seq: n.Mismatched[1], TheirSeq: n.Mismatched[0], Field: n.Field,
			Mine: n.Theirs, Theirs: n.Mine, Call: n.Call}
	case n.Rank == self && n.Down == "frozen":
		return fmt.Errorf("%w: rank %d says %s", wire.ErrFenced, n.By, n.Text)
	case n.Rank == self && n.By != self && n.Down == "exhausted":
		return fmt.Errorf("%w: rank %d says %s", wire.ErrExhausted, n.By, n.Text)
	case Downs.By(n.Down) != nil && n.Rank != self && n.Rank != n.By:
		return &wire.PeerError{Rank: n.Rank, Err: n.down()}
	}
	return n.GivenUp(n.By, size)
}

// down returns how n's rank is down. Why a rank does not answer, only who noticed it can say.
func (n *Notice) down() error {
	err := Downs.By(n.Down)
	if err == wire.ErrFrozen {
		return fmt.Errorf("%w: rank %d says %s", err, n.By, n.Text)
	}
	return err
}

// MaxRelayed is the largest communicator whose ranks all pass on the notice of one of them: that takes a message from
// each to each.
const MaxRelayed = 128

// maxRelayedRing is the longest ring, in bytes, that is passed on.
const maxRelayedRing = 4 << 10

// Relayed returns n as rank self of size passes it on, or sends it if it is its own; !ok: it does not.
func (n Notice) Relayed(self, size int) (_ Notice, ok bool) {
	if n.By != self && len(n.Ring) > maxRelayedRing {
		n.Ring = nil
	}
	return n, n.By == self || size <= MaxRelayed
}

// Encode returns n for the others.
func (n *Notice) Encode() []byte {
	body, err := json.Marshal(n)
	if err != nil {
		panic(err) // of strings and numbers
	}
	return body
}

// DecodeNotice returns the notice in b of a rank of size.
func DecodeNotice(b []byte, size int) (n Notice, ok bool) {
	if json.Unmarshal(b, &n) != nil || n.By < 0 || n.By >= size {
		return Notice{}, false
	}
	n.Clean()
	return n, true
}

// MaxPast is how many collectives a rank tells another one.
const MaxPast = 128

// EncodeCalls returns what DecodeCalls takes.
func EncodeCalls(calls []wire.Call) []byte {
	body, err := binary.Append(nil, binary.LittleEndian, calls)
	if err != nil {
		panic(err) // of numbers
	}
	return body
}

// DecodeCalls returns the calls in b, at most MaxPast.
func DecodeCalls(b []byte) ([]wire.Call, bool) {
	size := binary.Size(wire.Call{})
	if len(b)%size != 0 || len(b)/size > MaxPast {
		return nil, false
	}
	calls := make([]wire.Call, len(b)/size)
	_, err := binary.Decode(b, binary.LittleEndian, calls)
	return calls, err == nil
}
