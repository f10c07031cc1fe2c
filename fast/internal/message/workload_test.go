package message

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/collgen/collgen/fast/internal/wire"
)

// TestAny draws calls of all kinds, lets frames arrive in any order that the control plane allows, and ends calls at
// any time. What was received is what was sent, once, and in order. In the end everything has come, and nothing is
// under way.
func TestAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &workload{T: t, net: newNet(3), sent: make(map[uint64]*sending)}
		if rapid.Bool().Draw(t, "read") {
			w.process = os.Getpid()
		}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			w.act()
		}
		w.finish()
	})
}

// workload is calls that were drawn.
type workload struct {
	*rapid.T
	*net
	sent map[uint64]*sending // by number
	got  []*receiving        // by when they were posted, on each rank
}

// sending is a send, and receiving a receive.
type sending struct {
	*Op
	from, to, tag, length int
	lost                  bool // its call was ended by hand
	received              bool
}

type receiving struct {
	*Op
	rank   int
	wanted pattern
	buf    []byte
	lost   bool
}

// act does one of the things that can happen.
func (w *workload) act() {
	draw := func(what string, least, most int) int { return rapid.IntRange(least, most).Draw(w.T, what) }
	length := func() int {
		return rapid.SampledFrom([]int{8, 9, 4000, EagerLimit, EagerLimit + 1, maxChunk, maxChunk + 1, 2*maxChunk + 1,
			Window + maxChunk + 1}).Draw(w.T, "length")
	}
	switch draw("act", 0, 9) {
	case 0, 1, 2:
		number := uint64(len(w.sent) + 1)
		s := &sending{from: draw("rank", 0, 2), to: draw("to", 0, 2), tag: draw("tag", 0, 1), length: length()}
		for w.find(s.from, s.to, s.tag, s.length) != nil { // so that the length says which message it is
			s.length++
		}
		w.sent[number] = s
		s.Op = w.send(s.from, s.to, s.tag, s.length, number)
	case 3, 4:
		w.post(draw("rank", 0, 2), pattern{draw("from", Any, 2), draw("tag", Any, 1)}, length())
	case 5:
		if len(w.sent) > 0 {
			s := w.sent[uint64(draw("late send", 1, len(w.sent)))]
			s.lost = late(s.Op) != nil || s.lost
		}
	case 6:
		if len(w.got) > 0 {
			r := w.got[draw("late receive", 0, len(w.got)-1)]
			if rapid.Bool().Draw(w.T, "cancel") {
				r.lost = r.Cancel(errors.New("canceled")) || r.lost
			} else {
				r.lost = late(r.Op) != nil && !errors.Is(r.err, ErrTruncated) || r.lost
			}
		}
	default:
		w.reads(draw("reader", 0, 2))
		for range draw("frames", 1, 20) {
			w.step([2]int{draw("rank", 0, 2), draw("to", 0, 2)})
		}
	}
}

// find returns the message from a rank to another one that has this tag and length, or nil.
func (w *workload) find(from, to, tag, length int) *sending {
	for _, s := range w.sent {
		if s.from == from && s.to == to && s.tag == tag && s.length == length {
			return s
		}
	}
	return nil
}

// post has a rank receive what fits p and the room.
func (w *workload) post(rank int, p pattern, room int) {
	buf := bytes.Repeat([]byte{0xff}, room)
	w.got = append(w.got, &receiving{w.receive(rank, p.source, p.tag, buf), rank, p, buf, false})
}

// finish receives whatever is left, ends the receives that are left then, and checks all.
func (w *workload) finish() {
	w.deliver()
	for range w.sent {
		for rank := range w.all {
			if m := w.all[rank].matcher.first(pattern{Any, Any}); m != nil {
				w.post(rank, pattern{Any, Any}, m.length)
				w.deliver()
			}
		}
	}
	for _, r := range w.got {
		if !r.Over() {
			r.lost = true
			_ = late(r.Op)
		}
	}
	w.deliver()
	for _, r := range w.got {
		if err := w.check(r); err != nil {
			w.Error(err)
		}
	}
	for number, s := range w.sent {
		if !s.Over() || !s.received && !s.lost && s.err == nil {
			w.Errorf("message %d was not received: %+v", number, s)
		}
	}
	w.wantSettled(w.T)
}

// check checks what r has received, after all that were posted on its rank before.
func (w *workload) check(r *receiving) error {
	switch {
	case !r.Over():
		return fmt.Errorf("the receive %v is not over", r.wanted)
	case errors.Is(r.err, ErrTruncated):
		return w.truncated(r)
	case r.err != nil:
		if _, gaveUp := r.err.(*wire.PeerError); !gaveUp && !r.lost {
			return r.err
		}
		return nil
	}
	number := binary.LittleEndian.Uint64(r.buf)
	s := w.sent[number]
	if s == nil || s.to != r.rank || r.status != (Status{s.from, s.tag, s.length}) || s.received ||
		!r.wanted.matches(&envelope{source: s.from, tag: s.tag}) {
		return fmt.Errorf("receive %v has %v of message %d: %+v", r.wanted, r.status, number, s)
	}
	s.received = true
	want := pack(s.length, number)
	rest := r.buf[s.length:]
	if !bytes.Equal(r.buf[:s.length], want) || len(bytes.Trim(rest, "\xff")) > 0 {
		return fmt.Errorf("message %d of %d bytes has arrived wrong", number, s.length)
	}
	for other, x := range w.sent { // which was sent before, and could have been taken
		if other < number && x.from == s.from && x.to == s.to && x.tag == s.tag && !x.received && !x.lost &&
			!w.takenBySpecific(other, r) {
			return fmt.Errorf("message %d has overtaken message %d, which went the same way", number, other)
		}
	}
	return nil
}

// takenBySpecific reports whether a message may have gone to a receive that was posted after r, or was lost with one.
func (w *workload) takenBySpecific(number uint64, r *receiving) bool {
	s := w.sent[number]
	return slices.ContainsFunc(w.got, func(x *receiving) bool {
		return x.rank == r.rank && x.err != nil && x.status.Source == s.from && x.status.Tag == s.tag
	})
}

// truncated checks that the message which r could not take was longer, and that the buffer is as it was.
func (w *workload) truncated(r *receiving) error {
	s := w.find(r.status.Source, r.rank, r.status.Tag, r.status.Count)
	if s == nil || s.length <= len(r.buf) || s.received || len(bytes.Trim(r.buf, "\xff")) > 0 {
		return fmt.Errorf("receive %v could not take %v, which is %+v", r.wanted, r.status, s)
	}
	s.received = true
	return nil
}
