package verify

import "math/bits"

// interner numbers keys 0, 1, 2, … in the order in which they first come. It is an open hash table that is reused: a
// map costs several times as much in the inner loop of the symbolic run.
type interner struct {
	keys  []uint64
	slots []int32 // number of the key + 1; 0: empty
	shift uint    // 64 - log2(len(slots))
}

const smallestTable = 64

// reset forgets all keys and makes room for about expect of them.
func (t *interner) reset(expect int) {
	n := 1 << bits.Len(uint(max(2*expect, smallestTable)-1))
	if n > cap(t.slots) {
		t.slots = make([]int32, n)
	} else {
		t.slots = t.slots[:n]
		clear(t.slots)
	}
	t.keys, t.shift = t.keys[:0], uint(65-bits.Len(uint(n)))
}

// id returns the number of key.
func (t *interner) id(key uint64) int32 {
	mask := uint64(len(t.slots) - 1)
	for i := key * 0x9E3779B97F4A7C15 >> t.shift; ; i = (i + 1) & mask {
		switch s := t.slots[i]; {
		case s == 0:
			return t.add(key, i)
		case t.keys[s-1] == key:
			return s - 1
		}
	}
}

func (t *interner) add(key, slot uint64) int32 {
	t.keys = append(t.keys, key)
	t.slots[slot] = int32(len(t.keys))
	if 2*len(t.keys) > len(t.slots) {
		t.grow()
	}
	return int32(len(t.keys) - 1)
}

func (t *interner) grow() {
	keys := t.keys
	t.reset(2 * len(keys))
	for _, k := range keys { // appends the same keys to the same memory, in the same order
		t.id(k)
	}
}
