package main

// The ways through slots, in memory that all ranks share. What two ranks pass each other is in halves, as their blocks
// are.

// reduceAll has each core pass on the sum of what its ranks have, and add the other's to it.
func (t *thread) reduceAll() {
	t.pipeline(t.bytes, func(p *part) { t.sum(p.mine[0], 0, p, nil) }, func(p *part) {
		t.own(func(r int) {
			own := t.place(r, 0, p)
			if t.ranks > bareCores {
				own = p.mine[0]
			}
			t.Operand(own)
			t.Operand(p.theirs[0])
			t.Reduce(t.place(r, 0, p))
		})
	})
}

// reduceHalf has each core add up a half, and pass the sums on.
func (t *thread) reduceHalf() {
	mine, theirs, last := t.core, 1-t.core, t.last()
	t.pipeline(t.bytes/2, func(p *part) { t.sum(p.mine[0], theirs, p, nil) }, func(p *part) {
		sum := t.place(last, mine, p)
		t.sum(sum, mine, p, p.theirs[0])
		move(p.mine[1], sum)
		t.own(func(r int) {
			if r != last {
				t.Copy(t.place(r, mine, p), p.mine[1])
			}
		})
	}, func(p *part) {
		t.own(func(r int) { t.take(t.place(r, theirs, p), p.theirs[1]) })
	})
}

// broadcast has the root's core pass on what the root has.
func (t *thread) broadcast() {
	t.pipeline(t.bytes, func(p *part) {
		if t.core == 0 {
			t.pass(p.mine[0], t.place(0, 0, p))
		}
	}, func(p *part) {
		from := p.theirs[0]
		if t.core == 0 {
			from = p.mine[0]
		}
		t.own(func(r int) {
			if r != 0 {
				t.take(t.place(r, 0, p), from)
			}
		})
	})
}

// reduceBlock has two ranks pass on the other one's block, and add.
func (t *thread) reduceBlock() {
	t.pipeline(t.bytes/2, func(p *part) { t.pass(p.mine[0], t.place(t.core, 1-t.core, p)) }, func(p *part) {
		t.sum(t.place(t.core, t.core, p), t.core, p, p.theirs[0])
	})
}

// passBlock has two ranks pass on their own block.
func (t *thread) passBlock() {
	t.pipeline(t.bytes/2, func(p *part) { t.pass(p.mine[0], t.place(t.core, t.core, p)) }, func(p *part) {
		t.take(t.place(t.core, 1-t.core, p), p.theirs[0])
	})
}

// swap has two ranks pass on the other one's block, and take their own in its place.
func (t *thread) swap() { t.swapInto(t.core) }

// passOwn is swap with results elsewhere.
func (t *thread) passOwn() {
	t.keepOwn()
	t.swapInto(t.ranks + t.core)
}

func (t *thread) swapInto(result int) {
	t.pipeline(t.bytes/2, func(p *part) { t.pass(p.mine[0], t.place(t.core, 1-t.core, p)) }, func(p *part) {
		t.take(t.place(result, 1-t.core, p), p.theirs[0])
	})
}

// keepOwn copies, for two ranks, the block that a rank has for itself to its result.
func (t *thread) keepOwn() { t.Copy(t.half(t.ranks+t.core, t.core), t.half(t.core, t.core)) }

// sum adds up a part of what this thread's ranks have, in a half of their operands, and what the other thread has
// passed on. Of several ranks, which do not read each other's memory, all but the last leave theirs in a place that
// they share.
func (t *thread) sum(into []byte, half int, p *part, theirs []byte) {
	last := t.last()
	if theirs == nil && last == t.core {
		t.pass(into, t.place(last, half, p))
		return
	}
	if last != t.core {
		t.Copy(p.shared, t.place(t.core, half, p))
		t.Operand(p.shared)
	}
	t.Operand(t.place(last, half, p))
	if theirs != nil {
		t.Operand(theirs)
	}
	t.Reduce(into)
}

// last returns the last rank of this thread, which has two at most.
func (t *thread) last() int { return t.core + (t.ranks-1-t.core)/bareCores*bareCores }

// leastMoved is from which length on move is faster than other copies.
const leastMoved = 4 << 10

// pass copies to a slot.
func (t *thread) pass(slot, from []byte) {
	if len(from) < leastMoved {
		copy(slot, from)
		return
	}
	move(slot, from)
}

// pastCaches is from which length on Go's copy goes past the caches.
const pastCaches = 1 << 20

// take copies out of a slot.
func (t *thread) take(into, slot []byte) {
	if len(into) < leastMoved || len(into) >= pastCaches {
		copy(into, slot)
		return
	}
	move(into, slot)
}
