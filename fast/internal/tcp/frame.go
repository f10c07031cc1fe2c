package tcp

import (
	"encoding/binary"
	"fmt"

	"github.com/collgen/collgen/fast/internal/wire"
)

// The kinds of frames.
const (
	kindMessage uint8 = iota + 1 // the next segment of a message
	kindCall                     // the call of the messages that follow
	kindPast                     // a call that the rank has begun, said by a rank that waits in vain
	kindWaiting                  // what it waits for
	kindRefused                  // a message of the receiver did not match: then its sender gives up
	kindBye                      // the last word of a rank that closes
)

const (
	headerBytes  = 16
	labelBytes   = 24
	callBytes    = 4*8 + 5*4 + 2*labelBytes + 4 // filled up to a multiple of 8
	waitingBytes = 8 + callBytes
	refusedBytes = 2*8 + 2*callBytes

	// maxSegment is the most bytes of a message in one frame, and in one system call. With a quarter of it,
	// messages of 16 MiB were a sixth slower within a host; four times as much gained nothing.
	maxSegment = 1 << 20
)

var _ wire.Label = [labelBytes]byte{}

// header begins a frame. The lengths of all frames follow from it: what may come next is known at each byte.
type header struct {
	kind        uint8
	left        uint64 // of a message: its bytes from this segment on; of other frames: their bytes. Less than 1<<56
	fingerprint uint64 // of the call that a message belongs to, or that the frame tells; otherwise 0
}

func (h header) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(h.kind)|h.left<<8)
	return binary.LittleEndian.AppendUint64(b, h.fingerprint)
}

// bytes is the length of what follows the header in its frame.
func (h header) bytes() int { return int(min(h.left, maxSegment)) }

// parseHeader reads the header at the beginning of b, which has headerBytes at least.
func parseHeader(b []byte) (header, error) {
	first := binary.LittleEndian.Uint64(b)
	h := header{kind: uint8(first), left: first >> 8, fingerprint: binary.LittleEndian.Uint64(b[8:])}
	want, told := uint64(0), false
	switch h.kind {
	case kindMessage:
		want, told = h.left, true
	case kindCall, kindPast:
		want, told = callBytes, true
	case kindWaiting:
		want, told = waitingBytes, true
	case kindRefused:
		want = refusedBytes
	case kindBye:
	default:
		return h, fmt.Errorf("a frame of kind %d", h.kind)
	}
	if h.left != want || told != (h.fingerprint != 0) {
		return h, fmt.Errorf("a frame of kind %d with %d bytes and fingerprint %#x", h.kind, h.left, h.fingerprint)
	}
	return h, nil
}

// appendCall appends c, callBytes long.
func appendCall(b []byte, c *wire.Call) []byte {
	for _, v := range [...]uint64{c.Seq, c.Primitive, c.Schedule, c.Count} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	for _, v := range [...]uint32{c.Op, c.Type, c.Root, c.Depth, c.Peer, 0} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	b = append(b, c.PrimitiveName[:]...)
	return append(b, c.AlgorithmName[:]...)
}

// parseCall reads a call from b, which is callBytes long.
func parseCall(b []byte) (c wire.Call) {
	for i, v := range [...]*uint64{&c.Seq, &c.Primitive, &c.Schedule, &c.Count} {
		*v = binary.LittleEndian.Uint64(b[8*i:])
	}
	for i, v := range [...]*uint32{&c.Op, &c.Type, &c.Root, &c.Depth, &c.Peer} {
		*v = binary.LittleEndian.Uint32(b[32+4*i:])
	}
	copy(c.PrimitiveName[:], b[56:])
	copy(c.AlgorithmName[:], b[80:])
	return c
}

// appendTold appends a frame that tells of call c: a kindCall or a kindPast.
func appendTold(b []byte, kind uint8, c *wire.Call, fingerprint uint64) []byte {
	return appendCall(header{kind, callBytes, fingerprint}.append(b), c)
}

// waiting is what a rank says that it waits for in vain: message number n to or from the other rank, and the call.
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
	b = header{kindWaiting, waitingBytes, fingerprint}.append(b)
	return appendCall(binary.LittleEndian.AppendUint64(b, n), &w.call)
}

func parseWaiting(b []byte) waiting {
	n := binary.LittleEndian.Uint64(b)
	return waiting{sends: n&1 == 1, n: n >> 1, call: parseCall(b[8:])}
}

// refused is what a rank says of a message that did not match: the call that it belongs to and its bytes, and those that
// were expected.
type refused struct {
	sent, expected           wire.Call
	sentBytes, expectedBytes uint64
}

func (r *refused) append(b []byte) []byte {
	b = header{kind: kindRefused, left: refusedBytes}.append(b)
	b = binary.LittleEndian.AppendUint64(b, r.sentBytes)
	b = binary.LittleEndian.AppendUint64(b, r.expectedBytes)
	return appendCall(appendCall(b, &r.sent), &r.expected)
}

func parseRefused(b []byte) refused {
	return refused{sentBytes: binary.LittleEndian.Uint64(b), expectedBytes: binary.LittleEndian.Uint64(b[8:]),
		sent: parseCall(b[16:]), expected: parseCall(b[16+callBytes:])}
}
