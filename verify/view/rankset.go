package view

import "slices"

// rankSet is a set of ranks.
type rankSet []uint64

func newRankSet(size int) rankSet { return make(rankSet, (size+63)/64) }

func (s rankSet) has(r int) bool           { return s[r/64]>>(r%64)&1 != 0 }
func (s rankSet) add(r int)                { s[r/64] |= 1 << (r % 64) }
func (s rankSet) equal(other rankSet) bool { return slices.Equal(s, other) }
func (s rankSet) joined(o rankSet) rankSet { c := slices.Clone(s); c.join(o); return c }

func (s rankSet) join(other rankSet) {
	for i, w := range other {
		s[i] |= w
	}
}

// ranges returns the set as pairs: the first rank of a row, and the one after its last.
func (s rankSet) ranges() []int {
	list := []int{}
	for r := 0; r < 64*len(s); r++ {
		switch {
		case !s.has(r):
		case len(list) > 0 && list[len(list)-1] == r:
			list[len(list)-1] = r + 1
		default:
			list = append(list, r, r+1)
		}
	}
	return list
}
