package colltest

import (
	"iter"
	"slices"
	"time"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
)

// reduction is a type, and an op that takes it; 0: none.
type reduction struct {
	Type spec.Type
	Op   spec.Op
}

// reductions returns the types and ops of calls of p. A primitive that only moves data has all types.
func (c *Capabilities) reductions(p spec.Primitive) (all []reduction) {
	for _, t := range c.Types {
		if !hasOp(p) {
			all = append(all, reduction{Type: t})
			continue
		}
		for _, o := range c.Ops {
			if o.Takes(t) {
				all = append(all, reduction{t, o})
			}
		}
	}
	if !hasBuffers(p) {
		return all[:min(1, len(all))]
	}
	return all
}

// sweepCounts lists the block lengths of a sweep, which are used in turn.
var sweepCounts = []int{23, 64, 1, 130, 7, 0, 31}

// sweep returns calls on size ranks, with roots, counts and values in turn: for every type, op and form, with blocks of
// more than a thousand elements for every type and op, and for every length in bytes that is a power of two, or almost.
func (c *Capabilities) sweep(of Support, size int, large bool) iter.Seq[Case] {
	return func(yield func(Case) bool) {
		p, w := of.Primitive, swept{c: c, of: of, size: size, roots: calls(of.Primitive, size), i: 7 * size}
		for i, kind := range c.reductions(p) {
			for form, inPlace := range of.forms() {
				if size > mostWhole && (i+form+size)%len(of.forms()) != 0 {
					continue
				}
				for _, c := range w.variants(kind, inPlace) {
					if !yield(c) {
						return
					}
				}
			}
			if hasBuffers(p) && size <= mostKernels {
				for _, step := range w.long(kind) {
					if !yield(Case{Size: size, Steps: []Step{step}}) {
						return
					}
				}
			}
			if tails := w.tails(kind); len(tails) > 0 && !yield(Case{Size: size, Steps: tails}) {
				return
			}
		}
		if steps := w.patient(); len(steps) > 0 && !yield(Case{Size: size, Steps: steps}) {
			return
		}
		if hasBuffers(p) && size == 2 { // what an empty call takes, it has to give back
			empty := w.step(c.reductions(p)[0], of.forms()[0])
			empty.Count, empty.Repeat = c.within(0), manyEmpty
			if !yield(Case{Size: size, Steps: []Step{empty}}) {
				return
			}
		}
		for _, steps := range w.modes() {
			if !yield(Case{Size: size, Steps: steps}) {
				return
			}
		}
		for _, steps := range w.uneven() {
			if !yield(Case{Size: size, Steps: steps}) {
				return
			}
		}
		if hasBuffers(p) {
			w.lengths(large, yield)
		}
	}
}

// manyEmpty is how many calls without elements follow each other: more than a power of two.
const manyEmpty = 70

// mostKernels is the largest size with long blocks of every type and op: kernels are the same on more ranks.
const mostKernels = 3

// swept makes the calls of a sweep.
type swept struct {
	c     *Capabilities
	of    Support
	size  int
	roots []spec.Call
	i     int // counts the calls
}

// step returns the next call of a sweep.
func (w *swept) step(kind reduction, inPlace bool) Step {
	p, i := w.of.Primitive, w.i
	w.i++
	root := w.roots[(i+i/len(sweepCounts))%len(w.roots)] // forms alternate, too: each has all roots
	s := Step{Primitive: p.Name, Type: kind.Type, Op: kind.Op, Count: w.c.within(sweepCounts[i%len(sweepCounts)]),
		Root: root.Root, Peer: root.Peer, InPlace: inPlace}
	if hasBuffers(p) {
		if s.Guard = guards[i%len(guards)]; i%2 == 1 { // kernels treat operands off alignment in other ways
			s.Lead = i / 2 % mostLead
		}
		s.Values = Values{Kind: []spectest.Kind{spectest.Mixed, spectest.Ordinary, spectest.Special}[i%3], Seed: uint64(i)}
	}
	s.tame(w.c)
	return s
}

// variants returns the calls of one type, op and form. A reduction that rounds is made again with other late ranks,
// with special values, and with whole numbers. One whose result for NaN or -0 is not promised has another call with
// these.
func (w *swept) variants(kind reduction, inPlace bool) (cases []Case) {
	step := w.step(kind, inPlace)
	add := func(steps ...Step) { cases = append(cases, Case{Size: w.size, Steps: steps}) }
	add(step)
	with := func(kind spectest.Kind, count int) Step {
		s := step
		s.Values.Kind, s.Count = kind, w.c.within(max(s.Count, count))
		return s
	}
	if kind.Op != 0 && !exact(kind.Op, kind.Type) && (w.size <= mostLate || w.i%mostLate == 0) {
		twin := with(spectest.Ordinary, sweepCounts[0])
		if w.i%6 == 0 { // long blocks may take another way
			twin = with(spectest.Ordinary, longTwin)
		}
		add(w.twins(twin)...)
		add(with(spectest.Special, sweepCounts[1]))
		add(with(spectest.Whole, sweepCounts[0]))
	}
	if step.Values.NoNaN || step.Values.NoMinusZero {
		keep := with(spectest.Special, 2*sweepCounts[3])
		keep.Values.Keep = true
		long := keep
		long.Count = w.c.within(longKept)
		add(keep)
		add(long)
		if w.c.Split && w.size > 1 {
			keep.Comm, keep.Count, keep.Repeat = 1, w.c.within(1), firstCalls
			add(keep)
			cases[len(cases)-1].Comms = []Split{{Colors: make([]int, w.size), Keys: make([]int, w.size)}}
		}
	}
	return cases
}

// firstCalls is how many calls of one element are made first on a new communicator, which may get other algorithms than
// those that follow.
const firstCalls = 4

// longKept is so many elements that algorithms cut them in parts, each of which they reduce in another order.
const longKept = 5003

// mostLate is the largest size on which each reduction that rounds is made with late ranks. On more ranks, one of so
// many is.
const mostLate = 3

// tails returns calls with blocks of all lengths that vectors of 64 bytes may leave over, also of halves: of more than
// a thousand elements, and of more than 8192 in turn, at any offset from their alignment. They are of one reduction on
// two ranks, since kernels are the same in all.
func (w *swept) tails(kind reduction) (steps []Step) {
	first := slices.IndexFunc(w.c.Primitives, func(x Support) bool { return hasOp(x.Primitive) })
	if w.size != 2 || first < 0 || w.c.Primitives[first].Primitive.Name != w.of.Primitive.Name {
		return nil
	}
	add := func(count int) {
		s := w.step(kind, w.of.forms()[len(steps)%len(w.of.forms())])
		s.Values.Kind, s.Count, s.Lead = spectest.Whole, w.c.within(count), w.i%mostLead
		steps = append(steps, s)
	}
	for more := range 2 * 64 / kind.Type.Bytes() {
		if add(1024 + more); more%4 == 0 {
			add(3<<12 + 5*more)
		}
	}
	return steps
}

// mostLead is more than there are elements of 4 bytes in a vector of 64.
const mostLead = 17

// twins returns the same call for several ranks that come late, one in each: of three operands, the last two change
// places.
func (w *swept) twins(s Step) []Step {
	if w.size == 1 {
		return []Step{s, s}
	}
	s.Delay = late
	steps := []Step{s, s}
	steps[1].Late = w.size - 1
	if w.size > 2 {
		s.Late = 1
		steps = append(steps, s)
	}
	return steps
}

// late is the delay of a rank whose operand is to come after those of the others. Blocks of longTwin elements have more
// than 2 KiB.
const late, longTwin = 300 * time.Microsecond, 1100

// patient returns calls in which a rank comes so late that others may have ceased to wait: one in each if there is no
// data, and else one whose data another rank needs.
func (w *swept) patient() (steps []Step) {
	delay, most, times := lateForData, 2, 1
	if !hasBuffers(w.of.Primitive) {
		delay, most, times = lateForNone, 3, w.size
	}
	if w.size == 1 || w.size > most {
		return nil
	}
	for range times {
		s := w.step(w.c.reductions(w.of.Primitive)[0], w.of.forms()[0])
		s.Late, s.Delay = w.i%w.size, delay
		if hasBuffers(w.of.Primitive) && !w.others(&s) {
			s.Late = (s.Late + 1) % w.size
		}
		steps = append(steps, s)
	}
	return steps
}

// others reports whether another rank's result has an operand of the late one.
func (w *swept) others(s *Step) bool {
	x, err := spec.Expect(w.of.Primitive, s.call(w.size))
	if err != nil {
		return false // the call reports the error
	}
	for rank := range x.Ranks {
		for _, content := range x.Ranks[rank].Out {
			if rank != s.Late && slices.ContainsFunc(content.Terms, func(t spec.Term) bool { return t.Rank == s.Late }) {
				return true
			}
		}
	}
	return false
}

// lateForData and lateForNone are the delays of a rank for which others wait long.
const lateForData, lateForNone = 25 * time.Millisecond, 70 * time.Millisecond

// long returns calls with blocks so long that kernels come to their main loops, with all that is left over after it:
// one in each form. A reduction that rounds has whole numbers in the longer one, and special ones on two ranks. One of
// which the order of operands matters has each root.
func (w *swept) long(kind reduction) (steps []Step) {
	for _, inPlace := range w.of.forms() {
		s := w.step(kind, inPlace)
		s.Values.Kind, s.Count = spectest.Ordinary, w.c.within(1025+w.i%9)
		steps = append(steps, s)
	}
	last := &steps[len(steps)-1]
	switch {
	case kind.Op == Compose:
		for _, root := range w.roots {
			s := w.step(kind, w.of.forms()[0])
			s.Root, s.Peer, s.Values.Kind, s.Count = root.Root, root.Peer, spectest.Ordinary, w.c.within(8192+w.i%9)
			steps = append(steps, s)
		}
	case kind.Op != 0 && !exact(kind.Op, kind.Type):
		last.Values.Kind, last.Count = spectest.Whole, w.c.within(longKept+w.i%9)
		if w.size == 2 {
			s := w.step(kind, w.of.forms()[0])
			s.Values.Kind, s.Count = spectest.Special, w.c.within(2048+w.i%9)
			steps = append(steps, s)
		}
	}
	return steps
}

// Blocks of a sweep have up to 2^longestBlock bytes, or 2^largeBlock if there are to be large ones. All ranks together
// have at most mostMemory, or mostLarge, bytes of buffers.
const (
	longestBlock, mostMemory = 20, 8 << 20
	largeBlock, mostLarge    = 24, 1 << 30
)

// mostWhole is the largest size on which all forms, and all lengths up to 2^16 bytes, are tried. Larger ones have every
// second one, in turn.
const mostWhole = 4

// lengths yields calls with blocks of 2^k and 3·2^k bytes, and of one element less and more: limits in bytes are such
// numbers. Up to 2^16 bytes, forms take turns. Longer ones have each form, and are divided among the sizes. Reductions
// that round have whole numbers, so that their results can be compared to the bit. What has just such a length is made
// in another mode, too, up to 2^16 bytes. On two ranks, other calls are shorter by the length of a header.
func (w *swept) lengths(large bool, yield func(Case) bool) {
	top := longestBlock
	if large {
		top = largeBlock
	}
	for k := 6; k <= top; k++ {
		if !large && (k > 16 && (k+w.size)%4 != 0 || w.size > mostWhole && (k+w.size)%2 != 0) {
			continue
		}
		if !w.around(1<<k, k, large, yield) || k <= 16 && (k+w.size)%2 == 0 && !w.around(3<<(k-1), k, large, yield) {
			return
		}
		if steps := w.beforeLimit(1<<k, k); len(steps) > 0 && !yield(Case{Size: w.size, Steps: steps}) {
			return
		}
	}
}

// headers are the lengths in bytes of what may go ahead of a block to where at most a power of two fits.
var headers = []int{8, 16, 24, 32, 40, 48, 56, 64, 128}

// beforeLimit returns calls with blocks of n bytes without a header.
func (w *swept) beforeLimit(n, k int) (steps []Step) {
	kinds, forms := w.c.reductions(w.of.Primitive), w.of.forms()
	if w.size != 2 || k < 9 || k > 16 {
		return nil
	}
	for i, header := range headers {
		s := w.step(kinds[w.i%len(kinds)], forms[i%len(forms)])
		if s.Values.Kind, s.Guard, s.Lead = spectest.Whole, 0, 0; s.Op == 0 {
			s.Values.Kind = spectest.Ordinary
		}
		s.Count = w.c.within((n - header) / s.Type.Bytes())
		steps = append(steps, s)
	}
	return steps
}

// around yields calls with blocks of about n bytes, and reports whether there are to be more.
func (w *swept) around(n, k int, large bool, yield func(Case) bool) bool {
	kinds, forms, most := w.c.reductions(w.of.Primitive), w.of.forms(), mostMemory
	if large {
		most = mostLarge
	}
	for more := -1; more <= 1; more++ {
		for form, inPlace := range forms {
			if k <= 16 && form != (k+more)%len(forms) {
				continue
			}
			s := w.step(kinds[w.i%len(kinds)], inPlace)
			if s.Values.Kind, s.Guard, s.Lead = spectest.Whole, 0, 0; s.Op == 0 {
				s.Values.Kind = spectest.Ordinary
			}
			s.Count = n/s.Type.Bytes() + more
			fits, steps := s.Count == w.c.within(s.Count) && w.blocks(&s)*s.Count*s.Type.Bytes() <= most, []Step{s}
			if modes := w.c.modes(); more == 0 && k <= 16 && len(modes) > 0 {
				s.Mode = modes[(k+w.size)%len(modes)]
				steps = append(steps, s)
			}
			if fits && !yield(Case{Size: w.size, Steps: steps}) {
				return false
			}
		}
	}
	return true
}

// blocks returns the number of blocks in all buffers.
func (w *swept) blocks(s *Step) (n int) {
	x, err := spec.Expect(w.of.Primitive, s.call(w.size))
	if err != nil {
		return 0 // the call reports the error
	}
	for rank := range x.Ranks {
		n += len(x.Ranks[rank].In) + len(x.Ranks[rank].Out)
	}
	return n
}
