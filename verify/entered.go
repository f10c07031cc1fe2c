package verify

import "fmt"

// checkEntered checks whom each rank has met when it leaves: whose entry happened before the rank's last instructions
// ended.
func (c *checker) checkEntered() *Failure {
	if !c.asksWhoEntered() {
		return nil
	}
	if c.words()*len(c.ins) > limit {
		f := c.failure(Shape, -1)
		f.Got = "the schedule is too large"
		return f
	}
	met := c.met()
	for rank := range c.want.Ranks {
		for _, q := range c.want.Ranks[rank].Entered {
			if q == rank || met[rank].has(q) {
				continue
			}
			f := c.failure(Entered, -1)
			if last := c.first[rank+1] - 1; last >= c.first[rank] {
				f = c.failure(Entered, last)
			}
			f.Rank = rank
			f.Expected = fmt.Sprintf("rank %d leaves only after rank %d has come", rank, q)
			f.Got = fmt.Sprintf("no chain of messages leads from rank %d to it", q)
			return f
		}
	}
	return nil
}

func (c *checker) asksWhoEntered() bool {
	for _, r := range c.want.Ranks {
		if len(r.Entered) > 0 {
			return true
		}
	}
	return false
}

// rankSet is a set of ranks.
type rankSet []uint64

func (s rankSet) has(r int) bool { return s[r/64]>>(r%64)&1 != 0 }
func (s rankSet) add(r int)      { s[r/64] |= 1 << (r % 64) }

func (s rankSet) join(other rankSet) {
	for i, w := range other {
		s[i] |= w
	}
}

// words returns the length of a rankSet.
func (c *checker) words() int { return (c.s.Size + 63) / 64 }

// met is, by rank, who has come when it leaves.
func (c *checker) met() []rankSet {
	words := c.words()
	sets := func(n int) []rankSet {
		memory, list := make(rankSet, n*words), make([]rankSet, n)
		for i := range list {
			list[i] = memory[i*words : (i+1)*words]
		}
		return list
	}
	// Of a send, by when it begins; of everything else, by when it ends. A send's end teaches its rank nothing.
	by, leave := sets(len(c.ins)), sets(c.s.Size)
	for _, g := range c.order {
		rank := c.ins[g].rank
		by[g].add(int(rank))
		for _, a := range c.source(g).After {
			by[g].join(by[c.first[rank]+int32(a)])
		}
		if c.ins[g].isReceive() {
			by[g].join(by[c.sends[c.ins[g].slot]])
		}
		leave[rank].join(by[g])
	}
	return leave
}
