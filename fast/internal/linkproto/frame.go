package linkproto

import (
	"encoding/binary"
	"fmt"

	"github.com/collgen/collgen/fast/internal/wire"
)

// The kinds of frames.
const (
	Message uint8 = iota + 1 // the next segment of a message
	Call                     // the call of the messages that follow
	Past                     // a call that a stalled rank has begun
	Waiting                  // what a stalled rank waits for
	Refused                  // a message of the receiver of this frame did not match: its sender gives up
	Bye                      // the goodbye of a rank that closes
)

// The sizes of frames and their parts.
const (
	HeaderBytes  = 16
	labelBytes   = 24
	CallBytes    = 4*8 + 7*4 + 2*labelBytes
	waitingBytes = 8 + CallBytes
	RefusedBytes = 2*8 + 2*CallBytes // the longest body of a frame that is no message
)

var _ wire.Label = [labelBytes]byte{}

// Header begins a frame. The length of the frame follows from it.
type Header struct {
	Kind        uint8
	Left        uint64 // of a message: its bytes from this segment on; of other frames: their length. Less than 1<<56
	Fingerprint uint64 // of the call that a message belongs to, or that the frame tells; otherwise 0
}

// Append appends h to b, in HeaderBytes.
func (h Header) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(h.Kind)|h.Left<<8)
	return binary.LittleEndian.AppendUint64(b, h.Fingerprint)
}

// ParseHeader reads the header at the beginning of b, which has at least HeaderBytes.
func ParseHeader(b []byte) (Header, error) {
	first := binary.LittleEndian.Uint64(b)
	h := Header{Kind: uint8(first), Left: first >> 8, Fingerprint: binary.LittleEndian.Uint64(b[8:])}
	want, told := uint64(0), false
	switch h.Kind {
	case Message:
		want, told = h.Left, true
	case Call, Past:
		want, told = CallBytes, true
	case Waiting:
		want, told = waitingBytes, true
	case Refused:
		want = RefusedBytes
	case Bye:
	default:
		return h, fmt.Errorf("a frame of kind %d", h.Kind)
	}
	if h.Left != want || told != (h.Fingerprint != 0) {
		return h, fmt.Errorf("a frame of kind %d with %d bytes and fingerprint %#x", h.Kind, h.Left, h.Fingerprint)
	}
	return h, nil
}

// AppendCall appends c, CallBytes long.
func AppendCall(b []byte, c *wire.Call) []byte {
	for _, v := range [...]uint64{c.Seq, c.Primitive, c.Schedule, c.Count} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	for _, v := range [...]uint32{c.Op, c.Type, c.Root, c.Depth, c.Peer, c.Before, c.Local} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	b = append(b, c.PrimitiveName[:]...)
	return append(b, c.AlgorithmName[:]...)
}

// ParseCall reads a call from b, which is CallBytes long.
func ParseCall(b []byte) (c wire.Call) {
	for i, v := range [...]*uint64{&c.Seq, &c.Primitive, &c.Schedule, &c.Count} {
		*v = binary.LittleEndian.Uint64(b[8*i:])
	}
	for i, v := range [...]*uint32{&c.Op, &c.Type, &c.Root, &c.Depth, &c.Peer, &c.Before, &c.Local} {
		*v = binary.LittleEndian.Uint32(b[32+4*i:])
	}
	copy(c.PrimitiveName[:], b[60:])
	copy(c.AlgorithmName[:], b[84:])
	return c
}

// AppendCallFrame appends a frame of kind Call or Past with call c.
func AppendCallFrame(b []byte, kind uint8, c *wire.Call, fingerprint uint64) []byte {
	return AppendCall(Header{kind, CallBytes, fingerprint}.Append(b), c)
}

// waiting is what a stalled rank waits for: message number n to or from the other rank, and its call.
type waiting struct {
	sends bool
	n     uint64
	call  wire.Call
}

func (w *waiting) append(b []byte, fingerprint uint64) []byte {
	n := w.n << 1
	if w.sends {
		n |= 1
	}
	b = Header{Waiting, waitingBytes, fingerprint}.Append(b)
	return AppendCall(binary.LittleEndian.AppendUint64(b, n), &w.call)
}

func parseWaiting(b []byte) waiting {
	n := binary.LittleEndian.Uint64(b)
	return waiting{sends: n&1 == 1, n: n >> 1, call: ParseCall(b[8:])}
}

// refused describes a message that did not match: its call and length, and those that were expected.
type refused struct {
	sent, expected           wire.Call
	sentBytes, expectedBytes uint64
}

func (r *refused) append(b []byte) []byte {
	b = Header{Kind: Refused, Left: RefusedBytes}.Append(b)
	b = binary.LittleEndian.AppendUint64(b, r.sentBytes)
	b = binary.LittleEndian.AppendUint64(b, r.expectedBytes)
	return AppendCall(AppendCall(b, &r.sent), &r.expected)
}

func parseRefused(b []byte) refused {
	return refused{sentBytes: binary.LittleEndian.Uint64(b), expectedBytes: binary.LittleEndian.Uint64(b[8:]),
		sent: ParseCall(b[16:]), expected: ParseCall(b[16+CallBytes:])}
}
