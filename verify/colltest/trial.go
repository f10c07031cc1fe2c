package colltest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/collgen/collgen/spec"
)

// trial is a Step with its data and expected results.
type trial struct {
	step    *Step
	name    string // of all that determines its results: the same for calls that differ in delays alone
	x       *spec.Expectation
	shape   shape
	inputs  [][][]byte        // by rank and block
	calls   []*Call           // by rank; nil: the rank takes no part
	folds   map[string][]byte // reductions from left to right, by their terms
	right   map[string]acceptable
	folding sync.Mutex // guards folds and right

	members []int  // the ranks of the world that make the call, in the order of its communicator
	first   *trial // the same call, made first, which prepares it if it is persistent
	last    *trial // of the first one: the same call, made last
	of      int    // index of the Step
	time    int    // the how manyth time it is made, from 1; 0: it is made once
}

// called returns the call in words, as a failure lists it.
func (t *trial) called() string { return Problem{Step: t.of, Time: t.time}.call() }

// place returns a rank's place in the communicator of the call, -1 if it is not in it.
func (t *trial) place(rank int) int { return slices.Index(t.members, rank) }

// newTrial returns the trial of a Step on size ranks. It returns an error if the Step is no call of the primitive.
func newTrial(s *Step, p spec.Primitive, size int) (*trial, error) {
	t := &trial{step: s, name: s.apartFromDelays(), folds: map[string][]byte{}, right: map[string]acceptable{}}
	if !s.Type.Valid() || hasOp(p) && !s.Op.Takes(s.Type) {
		return nil, fmt.Errorf("%s of %v by %v: there is no such reduction", p.Name, s.Type, s.Op)
	}
	if s.Guard < 0 || s.Guard > mostGuard || s.Lead < 0 || s.Lead > mostGuard {
		return nil, fmt.Errorf("%d guard bytes, %d elements off alignment", s.Guard, s.Lead)
	}
	if s.InPlace && !hasInPlace(p) {
		return nil, fmt.Errorf("%s has no form in place", p.Name)
	}
	if s.Displaced != 0 && !hasUneven(p) {
		return nil, fmt.Errorf("%s has no blocks that could be displaced", p.Name)
	}
	var err error
	if t.x, err = spec.Expect(p, s.call(size)); err != nil {
		return nil, err
	}
	if t.shape, err = s.shape(t.x); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	t.draw()
	if s.Wrong != "" {
		if err := t.spoil(p); err != nil {
			return nil, err
		}
	}
	for rank := range t.x.Ranks {
		var c *Call
		if r := &t.x.Ranks[rank]; !hasBuffers(p) || len(r.In)+len(r.Out) > 0 {
			c = s.arrange(rank, r, t.shape, t.inputs[rank])
		}
		if s.Wrong == WrongRoot && c != nil {
			c.Root = s.wrongRoot(size)
		}
		for b := range t.inputs[rank] {
			t.inputs[rank][b] = c.InBlock(b) // calls are made on copies
		}
		t.calls = append(t.calls, c)
		t.members = append(t.members, rank)
	}
	return t, nil
}

// draw draws the inputs of all ranks from the seed.
func (t *trial) draw() {
	random := rand.New(rand.NewPCG(t.step.Values.Seed, 0))
	for _, counts := range t.shape.in {
		var blocks [][]byte
		for _, n := range counts {
			blocks = append(blocks, elements[t.step.Type].draw(random, t.step.Values, n))
			runtime.Gosched() // the ranks that make calls meanwhile come first
		}
		t.inputs = append(t.inputs, blocks)
	}
}

// problems returns where the ranks' memory differs from the promised results, with at most one problem for each block.
func (t *trial) problems(after [][]byte, counts *Counts) (found []Problem) {
	found = t.strays(after)
	byRank, compared := make([][]Problem, len(t.calls)), make([]Counts, len(t.calls))
	var all sync.WaitGroup
	for rank, c := range t.calls {
		compare := func() {
			byRank[rank] = append(t.buffer(rank, "in", after[rank], &compared[rank]),
				t.buffer(rank, "out", after[rank], &compared[rank])...)
		}
		switch {
		case c == nil:
		case len(after[rank]) < manyBytes:
			compare()
		default:
			all.Go(compare)
		}
	}
	all.Wait()
	for rank := range t.calls {
		found = append(found, byRank[rank]...)
		counts.Elements += compared[rank].Elements
		counts.Undetermined += compared[rank].Undetermined
	}
	if t.x.Order >= spec.SameTree && len(found) == 0 {
		found = t.disagreements(after)
	}
	return found
}

// manyBytes is how long a rank's memory is that is compared beside that of others.
const manyBytes = 16 << 10

// strays returns where memory outside the ranks' blocks has changed.
func (t *trial) strays(after [][]byte) (found []Problem) {
	for rank, c := range t.calls {
		if c == nil || after[rank] == nil {
			continue
		}
		if strayed := c.strayed(after[rank]); strayed != "" {
			found = append(found, Problem{Kind: Stray, Rank: rank, Text: strayed})
		}
	}
	return found
}

// buffer compares each block of one buffer. Blocks of In that share memory with Out are compared as blocks of Out.
func (t *trial) buffer(rank int, name string, after []byte, counts *Counts) (found []Problem) {
	r := &t.x.Ranks[rank]
	contents, lengths, starts, begin := r.In, t.shape.in[rank], t.shape.inStarts[rank], t.calls[rank].InAt
	if name == "out" {
		contents, lengths, starts, begin = r.Out, t.shape.out[rank], t.shape.outStarts[rank], t.calls[rank].OutAt
	}
	for b, content := range contents {
		at, n := begin+starts[b]*t.step.Type.Bytes(), lengths[b]*t.step.Type.Bytes()
		if _, shared := r.Aliased(b); name == "out" || !t.step.InPlace || !shared {
			if text := t.block(content, rank, at, n, after, counts); text != "" {
				kind := Value
				if content.Kind == spec.Unchanged {
					kind = Stray
				}
				found = append(found, Problem{Kind: kind, Rank: rank, Text: fmt.Sprintf("block %d of %s: %s", b, name, text)})
			}
		}
	}
	return found
}

// block returns the problem with the n bytes from at on, whose expected content is given, or "".
func (t *trial) block(content spec.Content, rank, at, n int, after []byte, counts *Counts) string {
	got := after[at : at+n]
	switch content.Kind {
	case spec.Unchanged:
		if t.calls[rank].changed(after, at, n) {
			return "it has changed: " + t.difference(got, t.calls[rank].Memory[at:at+n])
		}
	case spec.Input:
		term := content.Terms[0]
		if want := t.inputs[term.Rank][term.Block]; !bytes.Equal(got, want) {
			return fmt.Sprintf("it is not block %d of rank %d: %s", term.Block, t.members[term.Rank], t.difference(got, want))
		}
	case spec.Fold:
		return t.fold(content, got, counts)
	}
	return ""
}

// change returns in words how the reductions of two calls differ on a rank, or "".
func (t *trial) change(rank int, before, after []byte) string {
	if t.calls[rank] == nil {
		return ""
	}
	for b, content := range t.x.Ranks[rank].Out {
		at, n := t.outBlock(rank, b)
		if content.Kind != spec.Fold {
			continue
		}
		if text := t.differs(after[at:at+n], before[at:at+n]); text != "" {
			return fmt.Sprintf("block %d of out: %s", b, text)
		}
	}
	return ""
}

// outBlock returns the byte of Memory at which a block of Out begins, and its length in bytes.
func (t *trial) outBlock(rank, b int) (at, n int) {
	size := t.step.Type.Bytes()
	return t.calls[rank].OutAt + t.shape.outStarts[rank][b]*size, t.shape.out[rank][b] * size
}

// difference returns the first elements that differ, in words.
func (t *trial) difference(got, want []byte) string {
	i, size := 0, t.step.Type.Bytes()
	for i < len(got) && bytes.Equal(got[i:i+size], want[i:i+size]) {
		i += size
	}
	if i == len(got) {
		return "there is no difference"
	}
	return fmt.Sprintf("element %d is %s, want %s", i/size, t.text(got[i:]), t.text(want[i:]))
}

func (t *trial) text(b []byte) string {
	b = b[:t.step.Type.Bytes()]
	aligned := Aligned(len(b))
	copy(aligned, b)
	return fmt.Sprintf("%s (% x)", elements[t.step.Type].text(aligned), b)
}
