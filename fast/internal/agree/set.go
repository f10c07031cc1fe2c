package agree

import (
	"encoding/binary"
	"math/bits"
)

// Set is a set of members, by number.
type Set []uint64

// words returns how many of them a set of size members has.
func words(size int) int { return (size + 63) / 64 }

func newSet(size int) Set { return make(Set, words(size)) }

// Has reports whether member m is in s.
func (s Set) Has(m int) bool { return m/64 < len(s) && s[m/64]>>(m%64)&1 == 1 }

// Len returns the number of members in s.
func (s Set) Len() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Members returns the members of s, in ascending order.
func (s Set) Members() (all []int) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			all = append(all, 64*i+bits.TrailingZeros64(w))
		}
	}
	return all
}

func (s Set) add(m int)    { s[m/64] |= 1 << (m % 64) }
func (s Set) remove(m int) { s[m/64] &^= 1 << (m % 64) }

func (s Set) unite(t Set) {
	for i, w := range t {
		s[i] |= w
	}
}

// within reports whether all of s is in t, which is of the same size.
func (s Set) within(t Set) bool {
	for i, w := range s {
		if w&^t[i] != 0 {
			return false
		}
	}
	return true
}

// lowestOutside returns the lowest number that is not in s.
func (s Set) lowestOutside() int {
	for i, w := range s {
		if w != ^uint64(0) {
			return 64*i + bits.TrailingZeros64(^w)
		}
	}
	return 64 * len(s)
}

func (s Set) appendTo(b []byte) []byte {
	for _, w := range s {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}
