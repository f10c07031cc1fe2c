package message

import (
	"context"
	"encoding/binary"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// kind is what a frame says.
type kind uint8

// The kinds of frames. The first four are those of a sender, the others those of a receiver.
const (
	eager    kind = iota + 1 // a message with its bytes
	announce                 // a message without its bytes: its id, how many they are, and its place if it has one
	data                     // the next bytes of an announced message
	abandon                  // the sender gives up an announced message
	credit                   // so many bytes of eager messages were received
	accept                   // the bytes of an announced message may come
	refuse                   // they need not come
	ack                      // so many bytes of announced messages have come; with an id, all of that message
	seen                     // so many announcements have come
)

// fate says why a sender abandons a message, or a receiver refuses it.
type fate uint8

// The fates of a message.
const (
	consumed fate = iota + 1 // the receiver has failed because of it and knows why, or has been told that it is abandoned
	deadline                 // the context's deadline has passed
	canceled                 // the context was canceled
)

// fateOf returns the fate of a message whose call has ended with err. told is false if the communicator has ended: the
// other rank learns of that, and of its reason, in another way.
func fateOf(err error) (f fate, told bool) {
	switch late, is := err.(*wire.TimeoutError); {
	case !is:
		return 0, false
	case late.Timeout():
		return deadline, true
	}
	return canceled, true
}

// cause returns the error of a context that has ended so.
func (f fate) cause() error {
	if f == deadline {
		return context.DeadlineExceeded
	}
	return context.Canceled
}

// MaxTag is the largest tag.
const MaxTag = 1<<31 - 1

// frame is a control message. What its kind does not use is 0.
type frame struct {
	kind kind
	typ  spec.Type
	fate fate
	tag  uint32
	id   uint64
	n    uint64 // bytes, or announcements
	data []byte
}

// headBytes is the length of a frame without its data: kind, type, fate, a zero, tag, id and n.
const headBytes = 4 + 4 + 8 + 8

// maxChunk is the most bytes of a frame of kind data.
const maxChunk = wire.MaxNote - headBytes

// appendTo appends f to b.
func (f *frame) appendTo(b []byte) []byte {
	b = append(b, byte(f.kind), byte(f.typ), byte(f.fate), 0)
	b = binary.LittleEndian.AppendUint32(b, f.tag)
	b = binary.LittleEndian.AppendUint64(b, f.id)
	b = binary.LittleEndian.AppendUint64(b, f.n)
	return append(b, f.data...)
}

// decode returns the frame in b, which keeps its data.
func decode(b []byte) (f frame, ok bool) {
	if len(b) < headBytes || b[3] != 0 {
		return f, false
	}
	f = frame{
		kind: kind(b[0]),
		typ:  spec.Type(b[1]),
		fate: fate(b[2]),
		tag:  binary.LittleEndian.Uint32(b[4:]),
		id:   binary.LittleEndian.Uint64(b[8:]),
		n:    binary.LittleEndian.Uint64(b[16:]),
		data: b[headBytes:],
	}
	return f, f.valid()
}

// valid reports whether a rank may send f. Whether it may do so now is not known here.
func (f *frame) valid() bool {
	bare := f.typ == 0 && f.tag == 0
	switch f.kind {
	case eager:
		return f.id == 0 && f.n == 0 && f.fate == 0 && f.isMessage(uint64(len(f.data))) && len(f.data) <= EagerLimit
	case announce:
		at, ok := placeOf(f.data)
		return f.id > 0 && f.fate == 0 && f.isMessage(f.n) && ok && (at == place{} || f.n > EagerLimit)
	case data:
		return bare && f.id > 0 && f.n == 0 && f.fate == 0 && len(f.data) > 0 && len(f.data) <= maxChunk
	case abandon:
		return bare && f.id > 0 && f.n == 0 && (f.fate == deadline || f.fate == canceled) && len(f.data) == 0
	case credit:
		return bare && f.id == 0 && f.n > 0 && f.n <= EagerCredit && f.fate == 0 && len(f.data) == 0
	case accept:
		return bare && f.id > 0 && f.n == 0 && f.fate == 0 && len(f.data) == 0
	case refuse:
		return bare && f.id > 0 && f.n == 0 && f.fate >= consumed && f.fate <= canceled && len(f.data) == 0
	case seen:
		return bare && f.id == 0 && f.n > 0 && f.n <= MaxUnseen && f.fate == 0 && len(f.data) == 0
	case ack:
		return bare && f.n <= Window && (f.id > 0 || f.n > 0) && f.fate == 0 && len(f.data) == 0
	}
	return false
}

// isMessage reports whether f has the type and tag of a message of so many bytes.
func (f *frame) isMessage(bytes uint64) bool {
	return f.typ.Valid() && f.tag <= MaxTag && bytes <= maxInt && bytes%uint64(f.typ.Bytes()) == 0
}

const maxInt = uint64(^uint(0) >> 1)
