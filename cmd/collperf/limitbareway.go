package main

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast"
)

// barePiece is what a thread works on at a time: it stays in the first cache from one step to the next.
const barePiece = 16 << 10

// bareWork is a collective, for how many ranks it is measured, and the ways to do it: the fastest one counts.
type bareWork struct {
	name  string
	ranks []int
	ways  []bareWay
}

// bareWay is what a thread does with the memory of all ranks.
type bareWay func(t *thread)

var bareWorks = []bareWork{
	{"all-reduce", []int{2, 4}, []bareWay{(*thread).reduceForAll, (*thread).reduceThenRead}},
	{"broadcast", []int{2, 4}, []bareWay{(*thread).giveHalf, (*thread).takeRoots}},
	{"reduce-scatter", []int{2}, []bareWay{(*thread).reduceOwn}},
	{"all-gather", []int{2}, []bareWay{(*thread).takeBlocks, (*thread).giveBlock}},
	{"all-to-all", []int{2}, []bareWay{(*thread).swap}},
	{"all-to-all, two buffers", []int{2}, []bareWay{(*thread).takeOwn}},
}

// thread is one of the threads of a bare program, which has the kernels of package fast at hand. Rank r's operand is rewritten by
// thread r modulo their number.
type thread struct {
	*bare
	*fast.Call
	core, met int
	spare     [barePiece]byte
}

// piecesOf calls f with the places of all pieces of part i of n parts of an operand.
func (t *thread) piecesOf(i, n int, f func(from, to int)) {
	last := t.bytes * (i + 1) / n
	for from := t.bytes * i / n; from < last; from += barePiece {
		f(from, min(from+barePiece, last))
	}
}

// own are the ranks of this thread.
func (t *thread) own(f func(rank int)) {
	for r := t.core; r < t.ranks; r += bareCores {
		f(r)
	}
}

// reduce is that of a place of all operands, into a rank's.
func (t *thread) reduce(rank, from, to int) {
	for r := range t.ranks {
		t.Operand(t.memory[r][from:to])
	}
	t.Reduce(t.memory[rank][from:to])
}

// copyTo copies a place of one rank's operand to another's.
func (t *thread) copyTo(rank, of, from, to int) {
	if rank != of {
		t.Copy(t.memory[rank][from:to], t.memory[of][from:to])
	}
}

// reduceForAll reduces this thread's half, piece by piece, and writes each to all ranks.
func (t *thread) reduceForAll() {
	t.piecesOf(t.core, bareCores, func(from, to int) {
		t.reduce(t.core, from, to)
		for r := range t.ranks {
			t.copyTo(r, t.core, from, to)
		}
	})
}

// reduceThenRead reduces this thread's half, and writes to its own ranks alone: what others have reduced is read there.
func (t *thread) reduceThenRead() {
	t.piecesOf(t.core, bareCores, func(from, to int) { t.reduce(t.core, from, to) })
	t.meet()
	for of := range bareCores {
		t.piecesOf(of, bareCores, func(from, to int) {
			t.own(func(r int) { t.copyTo(r, of, from, to) })
		})
	}
}

// giveHalf copies half of the root's operand to all ranks.
func (t *thread) giveHalf() {
	t.piecesOf(t.core, bareCores, func(from, to int) {
		for r := range t.ranks {
			t.copyTo(r, 0, from, to)
		}
	})
}

// takeRoots copies all of the root's operand to this thread's ranks.
func (t *thread) takeRoots() {
	t.piecesOf(0, 1, func(from, to int) {
		t.own(func(r int) { t.copyTo(r, 0, from, to) })
	})
}

// reduceOwn reduces the blocks of this thread's ranks, where they are to be.
func (t *thread) reduceOwn() {
	t.own(func(r int) {
		t.piecesOf(r, t.ranks, func(from, to int) { t.reduce(r, from, to) })
	})
}

// takeBlocks copies the blocks of all others to this thread's ranks.
func (t *thread) takeBlocks() {
	t.own(func(r int) {
		for of := range t.ranks {
			t.piecesOf(of, t.ranks, func(from, to int) { t.copyTo(r, of, from, to) })
		}
	})
}

// giveBlock copies the blocks of this thread's ranks to all others.
func (t *thread) giveBlock() {
	t.own(func(of int) {
		t.piecesOf(of, t.ranks, func(from, to int) {
			for r := range t.ranks {
				t.copyTo(r, of, from, to)
			}
		})
	})
}

// swap exchanges, of two ranks, rank 0's second block and rank 1's first: a half of them.
func (t *thread) swap() {
	half := t.bytes / 2
	t.piecesOf(t.core, 2*bareCores, func(from, to int) {
		a, b, between := t.memory[0][half+from:half+to], t.memory[1][from:to], t.spare[:to-from]
		t.Copy(between, a)
		t.Copy(a, b)
		t.Copy(b, between)
	})
}

// takeOwn copies each rank's block for this thread's ranks to their results, which lie behind all operands.
func (t *thread) takeOwn() {
	t.own(func(r int) {
		at := t.bytes / t.ranks
		for of := range t.ranks {
			t.piecesOf(r, t.ranks, func(from, to int) {
				into := from + (of-r)*at
				t.Copy(t.memory[t.ranks+r][into:into+to-from], t.memory[of][from:to])
			})
		}
	})
}

// rewrite gives the operands of this thread's ranks other values.
func (t *thread) rewrite(round int) {
	t.own(func(r int) { fill(floats(t.memory[r]), t.values.inputs, round+apart*r) })
}

// round is the work, until all have done theirs.
func (t *thread) round() {
	t.way(t)
	t.meet()
}

// rounds calls round again and again, each time with other operands, until that was long and often enough, and says how often. Both
// threads do so equally often.
func (t *thread) rounds(round func()) (n int) {
	start := time.Now()
	for ; ; n++ {
		t.rewrite(n)
		if t.core == 0 && n%leastBare == 0 && n > 0 && time.Since(start) > probeTime {
			t.meeting.enough.Store(true)
		}
		if t.meet(); t.meeting.enough.Load() || t.meeting.ended.Load() {
			return n
		}
		round()
	}
}

// meeting is where the threads of a bare program wait for each other, again and again, unless it has ended.
type meeting struct {
	came [bareCores]struct { // how often
		atomic.Int64
		_ [120]byte // so that each has a line of its own, and the one that is fetched with it
	}
	enough, ended atomic.Bool
}

func (m *meeting) end() { m.ended.Store(true) }

// meet returns when the other thread is here, too, or does not come. On a busy machine that may need this one's core.
func (t *thread) meet() {
	t.met++
	m := &t.meeting
	m.came[t.core].Store(int64(t.met))
	for looks, other := 0, &m.came[1-t.core]; other.Load() < int64(t.met) && !m.ended.Load(); looks++ {
		if looks > mostLooks {
			yieldCore()
		}
	}
}

// mostLooks is how often a thread looks for the other one before it gives others the core: some 50 µs.
const mostLooks = 1 << 16

var errEnded = errors.New("it was ended")

func (t *thread) failed() error {
	if t.meeting.ended.Load() {
		return errEnded
	}
	return nil
}
