// Package wire is the seam between the runtime and its transports: the messages of one step, the description of a call
// that peers compare, and the errors that name ranks.
package wire

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"github.com/collgen/collgen/spec"
)

// Kernel reduces elementwise: dst = a ⊕ b. All three have the same length in bytes, a multiple of the element size, and
// any two of them are the same memory or disjoint.
type Kernel func(dst, a, b []byte)

// Send is one outgoing message. Data is not written while the step is in flight, except by a Recv marked AfterSend.
type Send struct {
	Peer int
	Data []byte // may be empty: the message is sent all the same
	Call *Call  // the call that it belongs to; nil: the one that Begin named
	Posted
}

// Posted is about a message that was posted (see transport.Transport).
type Posted struct {
	Over bool // the transport has completed it
	// Idle says that the rank may still post the messages that another rank waits for before this one is over. So it
	// says nothing about a deadlock.
	Idle bool
}

// Recv is one incoming message, exactly len(Into) bytes long.
type Recv struct {
	Peer int
	Into []byte
	// Kernel, if not nil, makes this a receive-reduce: Into = With ⊕ received, or received ⊕ With if ReceivedFirst.
	// With is as long as Into, and is the same memory or disjoint from it.
	Kernel        Kernel
	With          []byte
	ReceivedFirst bool
	// AfterSend says that Into may be the memory of the one Send of the same step to the same peer. Each of its bytes
	// becomes writable as soon as it was sent, so two ranks can overwrite what they send each other. Without AfterSend
	// the two are disjoint. A step with several sends to that peer has no such Recv, so that transports need not find
	// out which of them has to be over.
	AfterSend bool
	// Lend says that what is received is only read, and not after the transport's Release: then the transport may set
	// Into to where the data lie, instead of filling it. There is no kernel then.
	Lend bool
	Call *Call // the call that it belongs to; nil: the one that Begin named
	Posted
}

// Segment is the alignment of every cut that a transport makes in a message: a multiple of each element size.
const Segment = 64

// Call describes one call of a collective on one rank: what its peers have to agree on. It is plain data of fixed size,
// so that transports can pass it on as it is.
type Call struct {
	Seq       uint64 // number of the call on its communicator, from 1; between two ranks for point-to-point calls
	Primitive uint64 // hash of the primitive's name and specification
	Schedule  uint64 // hash of the algorithm
	Count     uint64 // elements per block; of uneven blocks, of all that every rank knows
	// of package spec; above OpBits, Op has a hash of the lengths of a Bucket's tensors or of uneven blocks
	Op, Type uint32
	Root     uint32 // of a point-to-point call: the sender
	Depth    uint32
	Peer     uint32 // of a point-to-point call: the receiver, plus 1; 0: all ranks take part
	Before   uint32 // hash of the collectives before it on its communicator; of a point-to-point call: 0
	Local    uint32 // ranks on each host, for an algorithm to which they make a difference; 0 for others
	// Names for people, which are not compared; or, after SetText, one text.
	PrimitiveName, AlgorithmName Label
}

// OpBits is how many bits of a Call's Op are the op's.
const OpBits = 8

// Reproducible is the bit of a Call's Op that says that its sum is.
const Reproducible = 1 << (OpBits - 1)

// OpWords returns the op of a Call in words: "sum", "reproducible sum".
func OpWords(op uint32) string {
	if op&Reproducible != 0 && op < 1<<OpBits {
		return "reproducible " + words[spec.Op](op&^Reproducible)
	}
	return words[spec.Op](op)
}

// Label is a name, cut to the length of a Label and filled up with zeros.
type Label [24]byte

// NewLabel returns s as a Label.
func NewLabel(s string) (l Label) {
	copy(l[:], s)
	return l
}

// String returns the name. A byte that is not printable ASCII, which only a broken peer sends, becomes a question mark.
func (l Label) String() string { return printable(l[:]) }

// printable returns the text before the first zero.
func printable(text []byte) string {
	name, _, _ := bytes.Cut(text, []byte{0})
	for i, b := range name {
		if b < ' ' || b > '~' {
			name[i] = '?'
		}
	}
	return string(name)
}

// TextBytes is how long the text of a Call may be.
const TextBytes = 2*len(Label{}) - 1

// isText is the last byte of the AlgorithmName of a call that has a text.
const isText = 1

// SetText has Name return text, at most TextBytes long, in place of the primitive's name. The algorithm loses its name.
func (c *Call) SetText(text []byte) {
	var both [TextBytes + 1]byte
	copy(both[:TextBytes], text)
	both[TextBytes] = isText
	n := copy(c.PrimitiveName[:], both[:])
	copy(c.AlgorithmName[:], both[n:])
}

func (c *Call) hasText() bool { return c.AlgorithmName[len(c.AlgorithmName)-1] == isText }

// labelled returns the text of the call, or "" if it has none.
func (c *Call) labelled() string {
	if !c.hasText() {
		return ""
	}
	return c.Name()
}

// Name returns the call in words: its text, or the primitive's name.
func (c *Call) Name() string {
	if !c.hasText() {
		return c.PrimitiveName.String()
	}
	both := slices.Concat(c.PrimitiveName[:], c.AlgorithmName[:])
	return printable(both[:TextBytes])
}

// algorithm returns the algorithm's name, or its hash where the call has a text.
func (c *Call) algorithm() string {
	if c.hasText() {
		return fmt.Sprintf("%#x", c.Schedule)
	}
	return c.AlgorithmName.String()
}

// Field is a field that the calls of all ranks agree on.
type Field struct {
	Name  string // as a MismatchError gives it
	value func(*Call) uint64
	words func(*Call) string
}

// Fields are the fields of a Call, the most informative first.
var Fields = []Field{
	{"primitive", func(c *Call) uint64 { return c.Primitive }, (*Call).Name},
	{"peer", func(c *Call) uint64 { return uint64(c.Peer) }, func(c *Call) string { return peerWords(c.Peer) }},
	number("seq", func(c *Call) uint64 { return c.Seq }),
	{"lengths", func(c *Call) uint64 { return uint64(c.Op >> OpBits) }, (*Call).Name},
	{"op", func(c *Call) uint64 { return uint64(c.op()) }, func(c *Call) string { return OpWords(c.op()) }},
	{"type", func(c *Call) uint64 { return uint64(c.Type) }, func(c *Call) string { return words[spec.Type](c.Type) }},
	number("count", func(c *Call) uint64 { return c.Count }),
	number("root", func(c *Call) uint64 { return uint64(c.Root) }),
	{"algorithm", func(c *Call) uint64 { return c.Schedule }, (*Call).algorithm},
	number("depth", func(c *Call) uint64 { return uint64(c.Depth) }),
	number("ranks on each host", func(c *Call) uint64 { return uint64(c.Local) }),
	{Earlier, func(c *Call) uint64 { return uint64(c.Before) },
		func(c *Call) string { return fmt.Sprintf("%#x", c.Before) }},
}

// number returns a field whose words are its value.
func number(name string, value func(*Call) uint64) Field {
	return Field{name, value, func(c *Call) string { return strconv.FormatUint(value(c), 10) }}
}

// op returns the number of the call's Op, without the hash of lengths.
func (c *Call) op() uint32 { return c.Op & (1<<OpBits - 1) }

// Earlier is the field of calls that agree but come after calls that did not.
const Earlier = "earlier calls"

// Series is a hash of the collectives that were made on a communicator. Each call carries the hash of those before it.
// So a later call reports that ranks have disagreed in one without a message between them.
type Series uint64

// Then returns s and one more call, of that form.
func (s Series) Then(form uint64) Series { return (s ^ Series(form)) * 0xd6e8feb86659fd93 }

// Before returns what the next call of s carries: the half of s that depends on all of it.
func (s Series) Before() uint32 { return uint32(s >> 32) }

// words returns the name of an op or a type. It accepts any number, as a broken peer may send.
func words[T interface {
	~uint8
	fmt.Stringer
}](n uint32) string {
	switch {
	case n == 0:
		return "none"
	case n > 255:
		return strconv.FormatUint(uint64(n), 10)
	}
	return T(n).String()
}

func peerWords(peer uint32) string {
	if peer == 0 {
		return "none"
	}
	return strconv.FormatUint(uint64(peer)-1, 10)
}

// Meets reports whether c and d have the same place in the same order of calls, the collectives or those of a sender
// and a receiver: then they have to agree.
func (c *Call) Meets(d *Call) bool {
	return c.Seq == d.Seq && c.Peer == d.Peer && (c.Peer == 0 || c.Root == d.Root)
}

// CheckPeer returns the error of a message between rank and peer, unless these are two of size ranks.
func CheckPeer(rank, peer, size int) error {
	if peer < 0 || peer >= size || peer == rank {
		return fmt.Errorf("rank %d cannot exchange messages with rank %d of %d", rank, peer, size)
	}
	return nil
}

// Mark is a call with its fingerprint, so that it is computed once.
type Mark struct {
	Call        *Call
	Form        uint64 // the call's Form
	Fingerprint uint64
}

// NewMark returns the mark of c.
func NewMark(c *Call) Mark { return MarkOf(c, c.Form()) }

// MarkOf returns the mark of c, whose Form is known.
func MarkOf(c *Call, form uint64) Mark { return Mark{c, form, fingerprint(form, c.Seq, c.Before)} }

// Of returns the mark of a message whose Call is own, if that is not nil, and otherwise m, that of the call in
// progress.
func (m Mark) Of(own *Call) Mark {
	if own == nil {
		return m
	}
	return NewMark(own)
}

// Fingerprint returns a hash of all of c that ranks compare, never 0. The first message between two ranks in a call
// carries it.
func (c *Call) Fingerprint() uint64 { return fingerprint(c.Form(), c.Seq, c.Before) }

// fingerprint returns the fingerprint of a call of that form and place. Calls of one form after the same calls have
// different fingerprints, except that one that would be 0 is replaced.
func fingerprint(form, seq uint64, before uint32) uint64 {
	const odd = 0x9e3779b97f4a7c15
	if f := form + seq*odd + uint64(before)*0xff51afd7ed558ccd; f != 0 {
		return f
	}
	return odd
}

// Form returns a hash of all of c but its place in the order of calls and its names. Pairs of fields are mixed by a
// multiplication each, which a processor does side by side, as wyhash does.
func (c *Call) Form() uint64 {
	h := mix(c.Primitive^0xe7037ed1a0b428db, c.Schedule^0x8ebc6af09c88c6e3) ^
		mix(c.Count^0x589965cc75374cc3, (uint64(c.Local)<<32|uint64(c.Peer))^0x2d358dccaa6c78a5) ^
		mix(uint64(c.Op)<<32^uint64(c.Type)^0x1d8e4e27c47d124f, uint64(c.Root)<<32^uint64(c.Depth)^0xeb44accab455d165)
	return mix(h^0x9e3779b97f4a7c15, 0xa0761d6478bd642f)
}

// mix returns the exclusive or of the two halves of a product.
func mix(x, y uint64) uint64 {
	high, low := bits.Mul64(x, y)
	return high ^ low
}

// IsBetween reports whether c is a point-to-point call between a rank and another one.
func (c *Call) IsBetween(rank, other int) bool {
	from, to := int(c.Root), int(c.Peer)-1
	return c.Peer != 0 && (from == rank && to == other || from == other && to == rank)
}
