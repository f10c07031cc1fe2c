package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// Options says for which calls an algorithm is to be proved.
type Options struct {
	From, To int   // sizes, both included; 0: 1 and MaxSize
	Depths   []int // for algorithms that depend on depth; empty: 1 to 8 for sizes up to ManyDepths, 1 to 4 for others
	// Progress is told after each schedule how many of how many are done, never twice at once; nil: nobody is told.
	Progress func(done, total int)
}

// MaxSize is the size up to which an algorithm is proved unless one asks for something else.
const MaxSize = 64

// ManyDepths is the size up to which algorithms are proved for more depths than for others, unless one asks for
// something else.
const ManyDepths = 8

// AllPairs is the size up to which primitives between two ranks are proved for every pair. Beyond, every root is taken
// with those peers that are its neighbours, its opposite, the first and the last rank.
const AllPairs = 16

// Summary is what was proved of an algorithm: of every schedule for Sizes and Depths, each root (and peer, see
// AllPairs), out of place, and in place where it may be called so.
type Summary struct {
	Algorithm string     `json:"algorithm"`
	Sizes     []int      `json:"sizes"`            // ascending; those that it does not serve are left out
	Depths    []int      `json:"depths"`           // with each of these; just 1 where it does not depend on depth
	Deeper    []int      `json:"deeper,omitempty"` // further depths, with sizes up to ManyDepths alone
	Schedules int        `json:"schedules"`        // each in one mode or in both
	InPlace   bool       `json:"inPlace"`          // whether it may be called in place
	Folds     bool       `json:"folds"`            // whether there are reductions, of which Order speaks
	Order     spec.Order `json:"order"`            // what the trees of all schedules achieve
	Capacity  int        `json:"capacity"`         // the most that a schedule needs, see Report; no schedule NeedsRoom
	Scratch   int        `json:"scratch"`          // the most slots that a rank has
	Messages  int        `json:"messages"`         // the most that a schedule has
}

// ErrNothing is the error of a proof of no calls at all: the algorithm serves none of the sizes.
var ErrNothing = errors.New("there is nothing to prove")

// Algorithm proves a, for package fast: unlike Schedule, it refuses what needs more room than transports promise. Its
// error is a
// *Failure, the one of the first call that fails, smallest size first; or the cause of ctx's end; or ErrNothing.
func Algorithm(ctx context.Context, a *gen.Algorithm, o Options) (Summary, error) {
	p := &proof{a: a, o: o.orDefault(), summary: Summary{Algorithm: a.FullName(), Order: spec.RankOrdered}}
	if p.list(); len(p.calls) == 0 {
		return Summary{}, fmt.Errorf("%s has no call with %d to %d ranks: %w", a.FullName(), p.o.From, p.o.To, ErrNothing)
	}
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(p.calls)) {
		workers.Go(func() { p.work(ctx) })
	}
	workers.Wait()
	switch {
	case p.failure != nil:
		return Summary{}, p.failure
	case p.summary.Schedules != len(p.calls):
		err := fmt.Errorf("%s: %d of %d schedules were proved", p.a.FullName(), p.summary.Schedules, len(p.calls))
		return Summary{}, cmp.Or(context.Cause(ctx), err)
	}
	if !p.summary.Folds {
		p.summary.Order = spec.AnyTree
	}
	return p.summary, p.unusedScratch()
}

// TriesAll reports whether Algorithm proves every call that a serves when it proves all sizes up to a last one: a says
// that it serves no more, and has no depths and no pairs of ranks.
func TriesAll(a *gen.Algorithm, last int) bool {
	most, ok := a.MostRanks()
	for size := last + 1; size <= most; size++ {
		ok = ok && len(a.Locals(size)) == 0
	}
	return ok && !a.HasDepth() && !slices.Contains(a.Primitive.Params, spec.ParamPeer)
}

func (o Options) orDefault() Options {
	if o.From < 1 {
		o.From = 1
	}
	if o.To < 1 {
		o.To = MaxSize
	}
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	return o
}

// depths returns those for calls of size ranks.
func (o *Options) depths(size int) []int {
	switch {
	case len(o.Depths) > 0:
		return o.Depths
	case size <= ManyDepths:
		return []int{1, 2, 3, 4, 5, 6, 7, 8}
	}
	return []int{1, 2, 3, 4}
}

// proof is the work on one algorithm, which several goroutines share.
type proof struct {
	a     *gen.Algorithm
	o     Options
	calls []gen.Params // smallest size first

	mu       sync.Mutex
	next     int // the next call to prove
	failure  error
	failedAt int // the call that failed
	summary  Summary
	allUsed  bool // whether some schedule uses all the scratch that it has
}

// list fills in the calls.
func (p *proof) list() {
	sum := &p.summary
	for size := p.o.From; size <= p.o.To; size++ {
		n := len(p.calls)
		for _, call := range p.a.Calls(size, p.o.depths(size)...) {
			if isProved(call) {
				p.calls = append(p.calls, call)
			}
		}
		if len(p.calls) > n {
			sum.Sizes = append(sum.Sizes, size)
		}
	}
	if !p.a.HasDepth() {
		sum.Depths = []int{1}
	} else if n := len(sum.Sizes); n > 0 { // the largest size has the fewest
		sum.Depths = p.o.depths(sum.Sizes[n-1])
		if all := p.o.depths(sum.Sizes[0]); len(all) > len(sum.Depths) {
			sum.Deeper = all[len(sum.Depths):]
		}
	}
}

// isProved reports whether the pair of a call is in the sample. A call without a peer has peer 0.
func isProved(p gen.Params) bool {
	if p.Size <= AllPairs {
		return true
	}
	switch distance := p.Peer - p.Root; distance {
	case 1, -1, p.Size - 1, 1 - p.Size, p.Size / 2, -(p.Size / 2):
		return true
	}
	return p.Peer == 0 || p.Peer == p.Size-1
}

// work proves calls until there are none left.
func (p *proof) work(ctx context.Context) {
	var c checker
	for {
		i, ok := p.take(ctx)
		if !ok {
			return
		}
		s, err := gen.Instantiate(p.a, p.calls[i])
		if err != nil {
			p.fail(i, p.noSchedule(p.calls[i], err))
			return
		}
		inPlace, err := c.proveBoth(s)
		if err != nil {
			p.fail(i, err)
			return
		}
		p.add(&c.report, inPlace)
	}
}

// noSchedule returns the Failure of a call for which there is no schedule.
func (p *proof) noSchedule(call gen.Params, err error) *Failure {
	f := newFailure(Program, p.a.FullName(), p.a.Primitive, call)
	f.Got, f.Err = err.Error(), err
	var at *gen.NodeError
	if errors.As(err, &at) {
		f.Rank, f.Node = at.Rank, at.Node
	}
	return f
}

// proveBoth proves s out of place, and in place if it may be called so.
func (c *checker) proveBoth(s *gen.Schedule) (inPlace bool, err error) {
	if err := c.load(s); err != nil {
		return false, err
	}
	if f := c.needsRoom(); f != nil {
		return false, f
	}
	if err := c.prove(false); err != nil {
		return false, err
	}
	if !c.canBeInPlace() {
		return false, nil
	}
	order := c.report.Order
	err = c.prove(true)
	c.report.Order = min(order, c.report.Order)
	return true, err
}

// take gives out the next call, unless a failure or the end of ctx makes it useless.
func (p *proof) take(ctx context.Context) (call int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == len(p.calls) || p.failure != nil || ctx.Err() != nil {
		return 0, false
	}
	p.next++
	return p.next - 1, true
}

// fail notes a failure. Calls are given out in order: all before the first one that fails are proved or under way.
func (p *proof) fail(call int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure == nil || call < p.failedAt {
		p.failure, p.failedAt = err, call
	}
}

// add notes what was proved of one schedule. Nothing else counts schedules, and Algorithm wants as many as there are
// calls.
func (p *proof) add(r *Report, inPlace bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.summary
	s.Schedules++
	s.InPlace = s.InPlace || inPlace
	if r.Folds {
		s.Order, s.Folds = min(s.Order, r.Order), true
	}
	s.Capacity = max(s.Capacity, r.Capacity)
	s.Scratch = max(s.Scratch, r.Scratch)
	s.Messages = max(s.Messages, r.Messages)
	p.allUsed = p.allUsed || r.Scratch > 0 && r.Used == r.Scratch
	p.o.Progress(s.Schedules, len(p.calls))
}

// manySizes is how large a size has to be before an algorithm shows what it needs.
const manySizes = 8

// unusedScratch returns a failure if no schedule uses the last slot that it has. Small sizes often need less than the
// general case, so that it takes larger ones to tell.
func (p *proof) unusedScratch() error {
	sizes := p.summary.Sizes
	if p.allUsed || p.summary.Scratch == 0 || sizes[len(sizes)-1] < manySizes {
		return nil
	}
	f := newFailure(ScratchUnused, p.a.FullName(), p.a.Primitive, p.calls[len(p.calls)-1])
	f.Expected, f.Got = "some call uses every slot of scratch that it asks for", "the last slot is never used"
	return f
}
