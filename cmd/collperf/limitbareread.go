package main

// The ways that read other ranks' operands where they lie. Threads meet before, as what is read has to be there, and
// after, as it has to stay until it was read.

// reduceThenRead adds up this thread's half, for one of its ranks: what others have added up is read there.
func (t *thread) reduceThenRead() {
	t.meet()
	t.reducePart(t.core)
	t.meet()
	for of := range bareCores {
		t.own(func(r int) { t.readPart(r, of, of) })
	}
	t.meet()
}

// reduceBlockThenRead is the same for private memory of two ranks: what is added comes through slots.
func (t *thread) reduceBlockThenRead() {
	t.reduceBlock()
	t.takeBlock()
}

// takeRoots reads all of the root's operand, for two ranks. Of more, which may run on either core, each core does half.
func (t *thread) takeRoots() {
	t.meet()
	for r := range t.ranks {
		for part := range bareCores {
			if t.ranks > bareCores && part == t.core || t.ranks == bareCores && r == t.core {
				t.readPart(r, 0, part)
			}
		}
	}
	t.meet()
}

// reduceOwn reduces the block of this thread's rank, of two, where it is to be.
func (t *thread) reduceOwn() {
	t.meet()
	t.reducePart(t.core)
	t.meet()
}

// takeBlock reads, for two ranks, the other one's block.
func (t *thread) takeBlock() {
	t.meet()
	t.readPart(t.core, 1-t.core, 1-t.core)
	t.meet()
}

// takeOwn reads, for two ranks, the other one's block for this one, into its result.
func (t *thread) takeOwn() {
	t.meet()
	t.keepOwn()
	t.read(t.half(t.ranks+t.core, 1-t.core), t.half(1-t.core, t.core))
	t.meet()
}

// readPart reads half of one rank's operand to where another one has it.
func (t *thread) readPart(rank, of, half int) {
	if rank != of {
		t.read(t.half(rank, half), t.half(of, half))
	}
}

// read reads what another rank has.
func (t *thread) read(into, from []byte) {
	if t.way.access == byReading {
		t.note(readMemory(into, from))
		return
	}
	for at := 0; at < len(from); at += t.way.piece {
		end := min(at+t.way.piece, len(from))
		t.take(into[at:end], from[at:end])
	}
}

// reducePart reduces half of all operands into that of this thread's first rank.
func (t *thread) reducePart(half int) {
	into := t.half(t.core, half)
	for at := 0; at < len(into); at += t.way.piece {
		t.reduce(into[at:min(at+t.way.piece, len(into))], half*(t.bytes/2)+at)
	}
}

// reduce is that of all operands from a place on.
func (t *thread) reduce(into []byte, at int) {
	for r := range t.ranks {
		t.Operand(t.memory[r][at:][:len(into)])
	}
	t.Reduce(into)
}
