package simulate

import (
	"context"
	"slices"

	"github.com/collgen/collgen/gen"
)

// survey is what is known of the programs of a call's ranks before it is played.
type survey struct {
	// folding has equal ranks played once. Its period is the size where there are none, or none are known.
	folding
	same bool // all ranks do the same, with partners as far from them
	work int  // about how many steps and messages there are
}

// sampled is about how many instructions a survey reads. If the programs have no more, it reads those of all ranks.
const sampled = 1 << 21

// digest stands for a program: equal ones have equal digests, and others hardly ever.
type digest uint64

func (d *digest) add(numbers []int) {
	for _, n := range numbers {
		*d = (*d ^ digest(uint(n))) * 0x100000001b3 // FNV-1a, of words
	}
}

// reader reads programs as the simulator does: who sends how many bytes to whom.
type reader struct {
	world   // has the call and its cuts
	numbers []int
}

// step returns what a step of a rank is to the simulator, until the next call. It is empty if the step has nothing to
// do.
func (x *reader) step(f *folding, r int, step []gen.Instr) []int {
	x.numbers = x.numbers[:0]
	var local rank
	for i := range step {
		in := &step[i]
		x.count(&local, in)
		if bytes, ok := x.message(in); ok {
			flags := 0
			if in.Lend {
				flags |= 1
			}
			if repeats(step, i) {
				flags |= 2
			}
			x.numbers = append(x.numbers, int(in.Kind), f.distance(r, in.Peer), bytes, flags)
		}
	}
	if len(x.numbers)+local.copied+local.reduced > 0 {
		x.numbers = append(x.numbers, -1, local.copied, local.reduced)
	}
	return x.numbers
}

// digests returns the digests of a rank's program, one for each of fs, and how many steps and messages it has.
func (x *reader) digests(ctx context.Context, fs []folding, r int) (d []digest, work int, err error) {
	d = make([]digest, len(fs))
	for step, err := range gen.Steps(x.call.Algorithm, x.call.Params, r) {
		switch {
		case err != nil:
			return nil, 0, err
		case ctx.Err() != nil:
			return nil, 0, context.Cause(ctx)
		}
		work++
		for i := range fs {
			numbers := x.step(&fs[i], r, step)
			d[i].add(numbers)
			if i == 0 {
				work += len(numbers) / 8 // a message has 4 numbers at either end
			}
		}
	}
	return d, work, nil
}

// look surveys the programs of c on m.
func look(ctx context.Context, m *Machine, c Call, chunks int) (survey, error) {
	fs := foldings(m, c.Size)
	if fs == nil {
		fs = []folding{everyRank(c.Size)}
	}
	x := &reader{world: world{call: c, cuts: gen.Cuts{Block: c.Block, Chunks: chunks}}}
	_, work, err := x.digests(ctx, fs, 0)
	if err != nil {
		return survey{}, err
	}
	found, works := map[int][]digest{}, []int{}
	for _, r := range sample(c.Size, fs[0].period, sampled/max(1, work)) {
		if found[r], work, err = x.digests(ctx, fs, r); err != nil {
			return survey{}, err
		}
		works = append(works, work)
	}
	s := survey{folding: everyRank(c.Size), work: total(works, c.Size), same: true}
	for _, d := range found {
		s.same = s.same && d[0] == found[0][0]
	}
	for i := range fs {
		if fs[i].holds(found, i) {
			s.folding = fs[i]
			break
		}
	}
	return s, nil
}

// total returns about how much work so many ranks have, of whom some have works. The one with the most may be a root,
// like which there is no other.
func total(works []int, size int) int {
	sum, top := 0, slices.Max(works)
	for _, w := range works {
		sum += w
	}
	return top + (sum-top)/max(1, len(works)-1)*(size-1)
}

// holds reports whether ranks that are a period apart have equal digests, of which number i is that of f.
func (f *folding) holds(found map[int][]digest, i int) bool {
	for r, d := range found {
		if d[i] != found[r%f.period][i] {
			return false
		}
	}
	return true
}

// sample returns about so many ranks: the first and the last one of some periods, others between these, and the same
// ones of the first period. If size is not more than most, they are all ranks.
func sample(size, period, most int) (ranks []int) {
	periods := []int{0, 1, size / period / 2, size/period - 1}
	if size <= most {
		periods = nil
		for p := range size / period {
			periods = append(periods, p)
		}
	}
	n := min(period, max(2, most/len(periods)))
	for i := range n {
		at := i * (period - 1) / max(1, n-1)
		for _, p := range periods {
			ranks = append(ranks, min(p*period+at, size-1))
		}
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}
