package agree

import (
	"encoding/binary"
	"errors"
)

// Kind is what a message says.
type Kind uint8

// The kinds of messages.
const (
	State Kind = iota + 1
	Propose
	Adopted
	Decide
	Left // the sender takes no part any more
	kinds
)

// Message is what members send each other. All kinds have all fields.
type Message struct {
	Kind    Kind
	Round   int // the number of the coordinator
	Adopted int // of a State: the round in which the sender has adopted Value, plus 1; 0: Value is its own
	Value   Value
	// Seq is the number of the agreement in the group, from 1; of Left also 0: of all of them.
	Seq uint64
	// Settled: the sender has decided all agreements before this one; of Propose and Decide: all members have that are
	// not gone.
	Settled uint64
}

// messageBytes returns the length of every message in a group of that size.
func messageBytes(size int) int { return 1 + 4 + 4 + 8 + 8 + 8 + 4*int(calls) + 2*8*words(size) }

func (m *Message) encode(size int) []byte {
	b := make([]byte, 0, messageBytes(size))
	b = append(b, byte(m.Kind))
	b = binary.LittleEndian.AppendUint32(b, uint32(m.Round))
	b = binary.LittleEndian.AppendUint32(b, uint32(m.Adopted))
	b = binary.LittleEndian.AppendUint64(b, m.Seq)
	b = binary.LittleEndian.AppendUint64(b, m.Settled)
	b = binary.LittleEndian.AppendUint64(b, m.Value.Flags)
	for _, first := range m.Value.First {
		b = binary.LittleEndian.AppendUint32(b, first)
	}
	return m.Value.Dead.appendTo(m.Value.Gone.appendTo(b))
}

var errMessage = errors.New("this is not a message of an agreement in this group")

// decode returns the message in b, in a group of that size: all its members are in the group, and its dead are gone.
func decode(b []byte, size int) (Message, error) {
	if len(b) != messageBytes(size) {
		return Message{}, errMessage
	}
	r := reader{b}
	m := Message{Kind: Kind(b[0])}
	r.b = r.b[1:]
	round, adopted := r.uint32(), r.uint32()
	m.Seq, m.Settled, m.Value.Flags = r.uint64(), r.uint64(), r.uint64()
	ok := m.Kind > 0 && m.Kind < kinds && uint64(round) < uint64(size) && uint64(adopted) <= uint64(size)
	m.Round, m.Adopted = int(round), int(adopted)
	for c := range m.Value.First {
		m.Value.First[c] = r.uint32()
		ok = ok && uint64(m.Value.First[c]) <= uint64(size)
	}
	m.Value.Gone, m.Value.Dead = r.set(size), r.set(size)
	last := size - 64*(words(size)-1) // how many bits of the last word there may be
	if !ok || m.Value.Gone[words(size)-1]>>last != 0 || !m.Value.Dead.within(m.Value.Gone) {
		return Message{}, errMessage
	}
	return m, nil
}

// reader takes numbers from memory that is long enough.
type reader struct{ b []byte }

func (r *reader) uint32() uint32 {
	n := binary.LittleEndian.Uint32(r.b)
	r.b = r.b[4:]
	return n
}

func (r *reader) uint64() uint64 {
	n := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return n
}

func (r *reader) set(size int) Set {
	s := newSet(size)
	for i := range s {
		s[i] = r.uint64()
	}
	return s
}
