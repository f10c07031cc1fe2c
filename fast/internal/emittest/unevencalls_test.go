package emittest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/access"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/spec"
)

// unevenCall is what a function of uneven blocks is called with. Of those in place, dst is the buffer, and to its
// blocks.
type unevenCall struct {
	dst, src ints
	to, from fast.Blocks
	root     int
}

type unevenFunction func(ctx context.Context, c *fast.Comm, y *unevenCall) error

// unevenFunctions are all that are generated for programs to call with uneven blocks.
var unevenFunctions = map[string]unevenFunction{
	"AllGatherV": func(ctx context.Context, c *fast.Comm, y *unevenCall) error {
		return fast.AllGatherV(ctx, c, y.dst, y.to)
	},
	"AllGatherVInto": func(ctx context.Context, c *fast.Comm, y *unevenCall) error {
		return fast.AllGatherVInto(ctx, c, y.dst, y.to, y.src)
	},
	"AllToAllV": func(ctx context.Context, c *fast.Comm, y *unevenCall) error {
		return fast.AllToAllV(ctx, c, y.dst, y.to, y.src, y.from)
	},
	"GatherV": func(ctx context.Context, c *fast.Comm, y *unevenCall) error {
		return fast.GatherV(ctx, c, y.dst, y.to, y.root)
	},
	"GatherVInto": func(ctx context.Context, c *fast.Comm, y *unevenCall) error {
		return fast.GatherVInto(ctx, c, y.dst, y.to, y.src, y.root)
	},
	"ReduceScatterV": func(ctx context.Context, c *fast.Comm, y *unevenCall) error {
		return fast.ReduceScatterV(ctx, c, y.dst, y.to, fast.Max)
	},
	"ReduceScatterVInto": func(ctx context.Context, c *fast.Comm, y *unevenCall) error {
		return fast.ReduceScatterVInto(ctx, c, y.dst, y.src, y.from, fast.Max)
	},
	"ScatterV": func(ctx context.Context, c *fast.Comm, y *unevenCall) error {
		return fast.ScatterV(ctx, c, y.dst, y.to, y.root)
	},
	"ScatterVInto": func(ctx context.Context, c *fast.Comm, y *unevenCall) error {
		return fast.ScatterVInto(ctx, c, y.dst, y.src, y.from, y.root)
	},
	"StartAllGatherV": func(ctx context.Context, c *fast.Comm, y *unevenCall) error {
		return fast.StartAllGatherV(ctx, c, y.dst, y.to).Wait(ctx)
	},
	"StartAllGatherVInto": func(ctx context.Context, c *fast.Comm, y *unevenCall) error {
		return fast.StartAllGatherVInto(ctx, c, y.dst, y.to, y.src).Wait(ctx)
	},
	"StartAllToAllV": func(ctx context.Context, c *fast.Comm, y *unevenCall) error {
		return fast.StartAllToAllV(ctx, c, y.dst, y.to, y.src, y.from).Wait(ctx)
	},
	"StartGatherV": func(ctx context.Context, c *fast.Comm, y *unevenCall) error {
		return fast.StartGatherV(ctx, c, y.dst, y.to, y.root).Wait(ctx)
	},
	"StartGatherVInto": func(ctx context.Context, c *fast.Comm, y *unevenCall) error {
		return fast.StartGatherVInto(ctx, c, y.dst, y.to, y.src, y.root).Wait(ctx)
	},
	"StartReduceScatterV": func(ctx context.Context, c *fast.Comm, y *unevenCall) error {
		return fast.StartReduceScatterV(ctx, c, y.dst, y.to, fast.Max).Wait(ctx)
	},
	"StartReduceScatterVInto": func(ctx context.Context, c *fast.Comm, y *unevenCall) error {
		return fast.StartReduceScatterVInto(ctx, c, y.dst, y.src, y.from, fast.Max).Wait(ctx)
	},
	"StartScatterV": func(ctx context.Context, c *fast.Comm, y *unevenCall) error {
		return fast.StartScatterV(ctx, c, y.dst, y.to, y.root).Wait(ctx)
	},
	"StartScatterVInto": func(ctx context.Context, c *fast.Comm, y *unevenCall) error {
		return fast.StartScatterVInto(ctx, c, y.dst, y.src, y.from, y.root).Wait(ctx)
	},
}

// unevenCallFault returns the first call of a function that does not do what the specification says.
func unevenCallFault(name string) (calls int, fault string) {
	p, into := primitiveOf(name)
	var seen string
	defer listenUneven(collectiveOf(p.Name), &seen)()
	for size := 1; size <= 4; size++ {
		roots := []int{0}
		if slices.Contains(p.Params, spec.ParamRoot) {
			roots = []int{-1, 0, 1, 2, 3, 4}
		}
		for rank := range size {
			c := access.Fast.CommOver(rank, size, &failing{actor: &actor{}}).(*fast.Comm)
			for _, root := range roots {
				e, err := spec.Expect(p, spec.Call{Size: size, Root: root})
				var x *spec.RankExpectation
				if err == nil {
					x = &e.Ranks[rank]
				}
				for _, try := range unevenTries(p, x, into || p.InPlace.InBlock.IsAbsent(), size, rank) {
					calls++
					if words := try.perform(unevenFunctions[name], c, root, &seen); words != "" {
						return calls, fmt.Sprintf("%s, rank %d of %d, root %d, %s: %s", name, rank, size, root, try.what, words)
					}
				}
			}
			_ = c.Close()
		}
	}
	return calls, ""
}

// listenUneven has the collective's algorithms note where the blocks are that they are called with, until the function
// that it returns is called.
func listenUneven(k *exec.Collective, seen *string) (restore func()) {
	algorithms, rules := k.Algorithms, k.Rules
	k.Algorithms, k.Rules = []exec.Algorithm{{Name: "listen", Proved: exec.Proved{Every: true},
		Run: func(_ context.Context, x *exec.Call) error {
			*seen += fmt.Sprint(whereAre(x.In.Chunk, len(x.In.Data)), whereAre(x.Out.Chunk, len(x.Out.Data)), x.Op, x.Root)
			return nil
		}}}, nil
	return func() { k.Algorithms, k.Rules = algorithms, rules }
}

// whereAre says where the blocks of a buffer are, which has so many bytes.
func whereAre(block func(int) []byte, bytes int) (all []string) {
	defer func() { _ = recover() }() // after the last one
	for b := 0; bytes > 0; b++ {
		all = append(all, whereIs(block(b)))
	}
	return all
}

// unevenTry is a call, and what the algorithm gets; nothing if it is to be refused.
type unevenTry struct {
	unevenCall
	what, want string
}

// lengthOf is how long a block is. That of every fifth one is 0.
func lengthOf(l spec.Length) int { return (2*l[0] + 3*l[1] + 1) % 5 }

// unevenTries makes calls of a rank that are right, and others. x is nil if the root is none.
func unevenTries(p spec.Primitive, x *spec.RankExpectation, into bool, size, rank int) (all []unevenTry) {
	if x == nil {
		counts := fast.Blocks{Counts: make([]int, size)}
		return []unevenTry{{what: "no rank", unevenCall: unevenCall{to: counts, from: counts}}}
	}
	isMany := func(b spec.Buffer) bool { return b.Blocks.Kind != spec.Const }
	in, out := newSide(x.InLengths, isMany(p.In)), newSide(x.OutLengths, isMany(p.Out))
	op := spec.Op(0)
	if slices.Contains(p.Params, spec.ParamOp) {
		op = fast.Max
	}
	add := func(what string, in, out unevenSide, right bool) {
		y := unevenTry{what: what, unevenCall: unevenCall{out.data, in.data, out.blocks, in.blocks, 0}}
		if right {
			y.want = fmt.Sprint(in.where(), out.where(), op)
		}
		if !into {
			whole := in
			if isMany(p.Out) && len(x.Out) > 0 || len(x.In) == 0 {
				whole = out
			}
			y.dst, y.to, y.src, y.from = whole.data, whole.blocks, nil, fast.Blocks{}
		}
		all = append(all, y)
	}
	if !into {
		in, out = in.within(out, x.InBlock, x.OutBlock)
	}
	add("one after the other", in, out, true)
	for what, wrong := range map[string]func(unevenSide) unevenSide{
		"an element too many": unevenSide.longer, "a count too few": unevenSide.fewer, "a count too many": unevenSide.more,
		"a negative count": unevenSide.negative, "overlapping": unevenSide.overlapping,
		"a Displ too few": unevenSide.fewerDispls,
		"behind the end":  unevenSide.behind,
	} {
		for _, s := range []*unevenSide{&in, &out} {
			if right, changed := *s, wrong(*s); changed.changed {
				*s = changed
				add(what, in, out, what == "overlapping" && s == &in && p.InPlace.InBlock.IsAbsent())
				*s = right
			}
		}
	}
	if !into {
		return all
	}
	for _, by := range []int{1, -1} {
		if other := in.other(rank, by); other.changed && out.counts != nil {
			add("in's own block is not as long as out's", other, out, false)
		}
		if other := out.other(rank, by); other.changed && in.counts != nil {
			add("out's own block is not as long as in's", in, other, false)
		}
	}
	if p.InPlace.InBlock.IsAbsent() && len(in.data) > 0 && len(in.data) == len(out.data) {
		same := out
		same.data = in.data
		add("in one memory", in, same, false)
	}
	add("with gaps, the last one first", in.apart(), out.apart(), true)
	if x.InBlock >= 0 && len(in.counts) > 0 && len(out.counts) > 0 {
		a, b := in.apart().within(out.apart(), x.InBlock, x.OutBlock)
		add("in place", a, b, true)
	}
	return all
}

// perform makes the call and compares.
func (y unevenTry) perform(f unevenFunction, c *fast.Comm, root int, seen *string) (fault string) {
	defer func() {
		if r := recover(); r != nil {
			fault = fmt.Sprintf("panics: %v", r)
		}
	}()
	if y.root, *seen = root, ""; y.want != "" {
		y.want = fmt.Sprint(y.want, " ", root)
	}
	switch err := f(context.Background(), c, &y.unevenCall); {
	case y.want == "" && (!errors.Is(err, fast.ErrInvalidArgument) || *seen != ""):
		return fmt.Sprintf("is to be refused, and ends with %v; the algorithm gets %s", err, *seen)
	case y.want != "" && (err != nil || *seen != y.want):
		return fmt.Sprintf("ends with %v; the algorithm gets %s, want %s", err, *seen, y.want)
	}
	return ""
}

// unevenSide is one of the two buffers of a call.
type unevenSide struct {
	data    ints
	blocks  fast.Blocks // no Counts: a single block
	counts  []int       // nil: the rank passes no such buffer, and what it passes nevertheless is ignored
	starts  []int
	changed bool
}

// newSide returns a buffer whose blocks lie one after the other, of which there may be many.
func newSide(lengths []spec.Length, many bool) (s unevenSide) {
	if len(lengths) == 0 {
		return unevenSide{data: make(ints, 3), blocks: fast.Blocks{Counts: []int{7}}}
	}
	end := 0
	for _, l := range lengths {
		s.counts, s.starts = append(s.counts, lengthOf(l)), append(s.starts, end)
		end += lengthOf(l)
	}
	if s.data = make(ints, end); many {
		s.blocks.Counts = slices.Clone(s.counts)
	}
	return s
}

// where says where the blocks are that the algorithm gets.
func (s unevenSide) where() (all []string) {
	for i, n := range s.counts {
		if len(s.data) > 0 {
			all = append(all, whereIs(exec.Bytes(s.data[s.starts[i]:][:n])))
		}
	}
	return all
}

// apart returns s with gaps between its blocks, the last one first.
func (s unevenSide) apart() unevenSide {
	if s.blocks.Counts == nil || s.counts == nil {
		return s
	}
	end := 1
	s.starts = slices.Clone(s.starts)
	for i, n := range slices.Backward(s.counts) {
		s.starts[i] = end
		end += n + 1
	}
	s.data, s.blocks = make(ints, end+1), fast.Blocks{Counts: s.counts, Displs: s.starts}
	return s
}

// within returns in and out in one memory: the one that is a single block is a block of the other.
func (s unevenSide) within(out unevenSide, inBlock, outBlock int) (unevenSide, unevenSide) {
	switch in := s; {
	case in.counts == nil || out.counts == nil:
	case in.blocks.Counts == nil:
		s.data = out.data[out.starts[outBlock]:][:out.counts[outBlock]]
	default:
		out.data = in.data[in.starts[inBlock]:][:in.counts[inBlock]]
	}
	return s, out
}

// What follows makes a buffer wrong, unless it is none that could be. Blocks that overlap are right in one that is only
// read.

func (s unevenSide) wrong(change func(b *fast.Blocks) bool) unevenSide {
	if s.blocks.Counts == nil || s.counts == nil {
		return s
	}
	s.blocks = fast.Blocks{Counts: slices.Clone(s.blocks.Counts), Displs: s.blocks.Displs}
	s.changed = change(&s.blocks)
	return s
}

func (s unevenSide) longer() unevenSide {
	s.data = make(ints, len(s.data)+1)
	return s.wrong(func(*fast.Blocks) bool { return true })
}

func (s unevenSide) fewer() unevenSide {
	return s.wrong(func(b *fast.Blocks) bool { b.Counts = b.Counts[:len(b.Counts)-1]; return true })
}

func (s unevenSide) more() unevenSide {
	return s.wrong(func(b *fast.Blocks) bool { b.Counts = append(b.Counts, 0); return true })
}

func (s unevenSide) negative() unevenSide {
	return s.wrong(func(b *fast.Blocks) bool { b.Counts[0] = -1; return true })
}

func (s unevenSide) overlapping() unevenSide {
	s.starts = slices.Clone(s.starts)
	return s.wrong(func(b *fast.Blocks) bool {
		b.Displs = make([]int, len(b.Counts))
		clear(s.starts)
		return len(slices.DeleteFunc(slices.Clone(b.Counts), func(n int) bool { return n == 0 })) > 1
	})
}

func (s unevenSide) fewerDispls() unevenSide {
	return s.wrong(func(b *fast.Blocks) bool { b.Displs = make([]int, len(b.Counts)-1); return true })
}

func (s unevenSide) behind() unevenSide {
	return s.wrong(func(b *fast.Blocks) bool {
		b.Displs = slices.Clone(s.starts)
		b.Displs[len(b.Displs)-1] = len(s.data) + 1
		return true
	})
}

// other returns s with so many elements more in the block of a rank, or in its only one.
func (s unevenSide) other(rank, by int) unevenSide {
	own := min(rank, len(s.counts)-1)
	if s.counts == nil || s.counts[own]+by < 0 {
		return s
	}
	s.data, s.changed = make(ints, len(s.data)+by), true
	if s.blocks.Counts != nil {
		s.blocks = fast.Blocks{Counts: slices.Clone(s.blocks.Counts)}
		s.blocks.Counts[own] += by
	}
	return s
}
