package main

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/collective"
)

// thread is one of the threads of a bare program, which has the kernels of package fast at hand. Rank r is that of
// thread r modulo their number.
type thread struct {
	*bare
	*collective.Call
	core, met, passed int // passed: how many pieces have gone through slots
	current           part
	bad               error
}

// own are the ranks of this thread.
func (t *thread) own(f func(rank int)) {
	for r := t.core; r < t.ranks; r += bareCores {
		f(r)
	}
}

// half returns a half of a rank's operand.
func (t *thread) half(rank, half int) []byte {
	n := t.bytes / 2
	return t.memory[rank][half*n:][:n]
}

// part is a piece on its way: its place in an operand or its half, this thread's slots for it and the other one's, and
// a place that this thread's ranks share.
type part struct {
	at, n        int
	mine, theirs [2][]byte
	shared       []byte
}

// place returns where a part of half of a rank's operand is, or of the operand, half 0 of which begins where it does.
func (t *thread) place(rank, half int, p *part) []byte {
	return t.memory[rank][half*(t.bytes/2)+p.at:][:p.n]
}

// pipeline has every piece of so many bytes go through all stages, from beat to beat. Between two beats, the threads
// meet. Each slot is one of two: a thread that writes to it has met the other one after that has read what was there
// before.
func (t *thread) pipeline(bytes int, stages ...func(p *part)) {
	pieces := (bytes + t.way.piece - 1) / t.way.piece
	for beat := range pieces + len(stages) - 1 {
		if beat > 0 {
			t.meet()
		}
		for s, stage := range stages {
			if i := beat - s; i >= 0 && i < pieces {
				t.find(i, bytes)
				stage(&t.current)
			}
		}
	}
	t.passed += pieces
}

// find makes current piece i of so many bytes.
func (t *thread) find(i, bytes int) {
	p := &t.current
	p.at = i * t.way.piece
	p.n = min(t.way.piece, bytes-p.at)
	for row := range p.mine {
		slot := 2*row + (t.passed+i)%2
		p.mine[row], p.theirs[row] = t.slot(t.core, slot)[:p.n], t.slot(1-t.core, slot)[:p.n]
	}
	p.shared = t.slot(t.core, slotsOfCore-1)[:p.n]
}

// slot returns memory that all ranks share. Beginnings are apart, so that they do not meet in the same sets of a cache.
func (t *thread) slot(core, i int) []byte {
	return t.shared[(core*slotsOfCore+i)*(largestPiece+slotsApart):][:largestPiece]
}

const (
	slotsOfCore  = 5
	largestPiece = 1 << 20
	slotsApart   = 5 * 64
	sharedBytes  = bareCores * slotsOfCore * (largestPiece + slotsApart)
)

// rewrite gives the operands of this thread's ranks other values.
func (t *thread) rewrite(round int) {
	t.own(func(r int) { fill(floats(t.memory[r]), t.values.inputs, round+apart*r) })
}

// rounds calls f again and again, each time with other operands, until that was long and often enough, and says how
// often. Both threads do so equally often.
func (t *thread) rounds(f func()) (n int) {
	start := time.Now()
	for ; ; n++ {
		t.rewrite(n)
		if t.core == 0 && n%leastBare == 0 && n > 0 && time.Since(start) > probeTime {
			t.meeting.enough.Store(true)
		}
		if t.meet(); t.meeting.enough.Load() || t.meeting.ended.Load() {
			return n
		}
		f()
	}
}

// meeting is where the threads of a bare program wait for each other, again and again, unless it has ended.
type meeting struct {
	_    [128]byte           // so that each of these has a line of its own, and the one that is fetched with it
	came [bareCores]struct { // how often
		atomic.Int64
		_ [120]byte
	}
	enough, ended atomic.Bool
	_             [126]byte
}

func (m *meeting) end() { m.ended.Store(true) }

// meet returns when the other thread is here, too, or does not come. On a busy machine that may need this one's core.
func (t *thread) meet() {
	t.met++
	m := &t.meeting
	m.came[t.core].Store(int64(t.met))
	for looks, other := 0, &m.came[1-t.core]; other.Load() < int64(t.met) && !m.ended.Load(); looks++ {
		pause()
		if looks > mostLooks {
			yieldCore()
		}
	}
}

// mostLooks is how often a thread looks for the other one before it gives others the core: less than a millisecond.
const mostLooks = 1 << 14

var errEnded = errors.New("it was ended")

// note keeps the first error of this thread, and ends the program.
func (t *thread) note(err error) {
	if err != nil && t.bad == nil {
		t.bad = err
		t.meeting.end()
	}
}

func (t *thread) failed() error {
	if t.bad == nil && t.meeting.ended.Load() {
		return errEnded
	}
	return t.bad
}
