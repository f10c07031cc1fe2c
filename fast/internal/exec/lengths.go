package exec

import (
	"bytes"
	"strconv"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Lengths are those of the tensors that a Bucket reduces in one call, or of the blocks of an uneven one. Ranks compare
// them, in order.
type Lengths struct {
	n    int
	hash uint64
	text wire.Label // the first lengths, for people
	used int        // bytes of text
	full bool       // one of the lengths did not fit into text

	first, last string // labels of tensors; "": they have none
}

// Add adds the length n.
func (l *Lengths) Add(n int) {
	l.n++
	l.hash = then(l.hash, n)
	var b [24]byte
	text := strconv.AppendInt(append(b[:0], ' '), int64(n), 10)
	if l.full = l.full || len(text) > len(l.text)-l.used; !l.full {
		l.used += copy(l.text[l.used:], text)
	}
}

// AddLabelled adds the length n of a tensor with a label, or without one if that is "".
func (l *Lengths) AddLabelled(n int, label string) {
	if l.Add(n); label == "" {
		return
	}
	l.hash = thenText(l.hash, label)
	if l.last = label; l.first == "" {
		l.first = label
	}
}

// then returns the hash of the lengths of one hash, and of n after them.
func then(hash uint64, n int) uint64 { return wire.Mix(hash ^ uint64(n)) }

// hashOf returns the hash of lengths.
func hashOf(lengths []int) (hash uint64) {
	for _, n := range lengths {
		hash = then(hash, n)
	}
	return hash
}

// Label returns what has these lengths, how many there are, and the first of them, such as "Bucket 3: 6 2 5".
func (l *Lengths) Label(what string) (label wire.Label) {
	text := append(strconv.AppendInt(append(append(label[:0], what...), ' '), int64(l.n), 10), ':')
	lengths := l.text[:l.used]
	if space := len(label) - len(text); len(lengths) > space { // only whole ones
		lengths = lengths[:max(0, bytes.LastIndexByte(lengths[:max(0, space)+1], ' '))]
	}
	copy(label[copy(label[:], text):], lengths)
	return label
}

// Mark returns the bits of l in the Op of a call's description, or 0 if there are no lengths.
func (l *Lengths) Mark() uint32 {
	if l.n == 0 {
		return 0
	}
	return max(1, uint32(l.hash>>(32+wire.OpBits))) << wire.OpBits
}
