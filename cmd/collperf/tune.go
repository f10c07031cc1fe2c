package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/internal/figures"
	"github.com/collgen/collgen/internal/program"
)

// errLater says that the time was over before everything was measured.
var errLater = errors.New("the time is over before everything was measured: the same command goes on")

// tuner is what is known of the times of algorithms so far.
type tuner struct {
	samples []sample
	until   time.Time // when to begin nothing more; zero: never
	late    bool      // it was time to end
}

// writeTable is collperf -tune.
func (o *options) writeTable(ctx context.Context, stdout, stderr io.Writer) error {
	t := new(tuner)
	if o.limit > 0 {
		t.until = time.Now().Add(o.limit)
	}
	first := !isRank() && (o.launch == nil || o.launch.Rank == 0)
	if first {
		if err := t.load(o.keep); err != nil {
			return err
		}
	}
	var err error
	for i := 0; i < len(o.settings) && err == nil && !t.late; i++ {
		err = o.on(ctx, o.settings[i], stderr, func(ctx context.Context, c *fast.Comm) error {
			s := &session{options: o, c: c, transport: transportOf(c)}
			if c.Rank() > 0 {
				return s.compare(ctx, new(tuner))
			}
			s.progress = program.NewProgress(stderr)
			return s.compare(ctx, t)
		})
	}
	if !first || err != nil && o.keep == "" {
		return err
	}
	return errors.Join(err, o.save(t, stdout))
}

// save writes the table of what is known, into the file that keeps it, if there is one.
func (o *options) save(t *tuner, stdout io.Writer) error {
	text, err := table(t.samples, time.Now())
	if err == nil && o.keep != "" {
		err = replaceFile(o.keep, text)
	} else if err == nil && !t.late {
		_, err = stdout.Write(text)
	}
	if err == nil && t.late {
		err = errLater
	}
	return err
}

// compare measures all candidates of all operations, round after round. Rank 0 has what is known.
func (s *session) compare(ctx context.Context, t *tuner) error {
	defer s.progress.Clear()
	for round := range s.cycles {
		for i := range s.operations {
			if err := s.compareSizes(ctx, t, &s.operations[i], round); err != nil || t.late {
				return err
			}
		}
	}
	return nil
}

// compareSizes measures all candidates of an operation at all sizes.
func (s *session) compareSizes(ctx context.Context, t *tuner, o *operation, round int) error {
	candidates := candidatesOf(o.primitive, s.transport, s.c.Size())
	if len(candidates) < 2 {
		return nil // there is nothing to choose
	}
	for _, bytes := range s.blockSizes(o) {
		s.progress.Update("%s over %s, %d ranks: blocks of %v", o.name, s.transport, s.c.Size(), figures.Size(bytes))
		p := point{o.name, s.transport, s.c.Size(), mostOnHost(s.c), bytes, bytes / s.element.bytes, round}
		what, err := t.next(ctx, s.c, p)
		switch {
		case err != nil || what == endHere:
			return err
		case what == passBy:
			continue
		}
		more, err := s.compareAt(ctx, o, p, variantsOf(candidates, p.Count, bytes))
		if err != nil {
			return fmt.Errorf("%s with blocks of %d bytes: %w", o.name, bytes, err)
		}
		t.samples = append(t.samples, more...)
	}
	return nil
}

// mostOnHost returns how many ranks are on the host that has the most.
func mostOnHost(c *fast.Comm) (most int) {
	for _, ranks := range c.Topology().Hosts {
		most = max(most, len(ranks))
	}
	return most
}

// What comes next.
const (
	measureIt = iota
	passBy    // it is known
	endHere
)

// next returns what all ranks do about a point, as rank 0 says.
func (t *tuner) next(ctx context.Context, c *fast.Comm, p point) (int, error) {
	word := []int{measureIt}
	switch {
	case c.Rank() > 0:
	case t.knows(p):
		word[0] = passBy
	case !t.until.IsZero() && time.Now().After(t.until):
		word[0] = endHere
	}
	err := fast.Broadcast(ctx, c, word, 0)
	t.late = err == nil && word[0] == endHere
	return word[0], err
}

// blockSizes returns the sizes of blocks to measure: rules speak of blocks. -e bounds all blocks of a rank together.
func (s *session) blockSizes(o *operation) []int {
	width := o.width(s.c.Size())
	if width == 0 {
		return []int{0}
	}
	least := max(int(s.first), s.element.bytes)
	return steps(figures.Size(least), max(figures.Size(least), s.last/figures.Size(width)), s.factor)
}

// compareAt measures variants at one point, taking turns, so that all have the same conditions, each time in another
// order: who comes behind a variant that leaves the caches full of something else has to fetch its data. A call takes
// as long as it takes the rank that is done last: otherwise an algorithm that leaves all work to a root would win.
func (s *session) compareAt(ctx context.Context, o *operation, p point, variants []variant) (all []sample, err error) {
	t := s.trials(o, p.Count)[0]
	t.inPlace = s.places[len(s.places)-1]
	l, err := t.element.load(ctx, s.c, t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.free()) }()
	meter := &meter{load: l, c: s.c, iterations: s.iterations, hops: t.hops}
	batches, took := make([]int, len(variants)), make([]times, len(variants))
	for i, v := range variants {
		if batches[i], err = s.prepare(ctx, meter, v, t.bytes(s.c.Size())); err != nil {
			return nil, err
		}
	}
	turns := rand.New(rand.NewPCG(1, 2)) // the same on all ranks
	for range max(leastBatches, s.iterations) {
		for _, i := range turns.Perm(len(variants)) {
			l.force(variants[i].algorithm, variants[i].depth)
			one, err := meter.one(ctx, batches[i])
			if err != nil {
				return nil, err
			}
			took[i] = append(took[i], one)
		}
	}
	for i, v := range variants {
		if err := fast.AllReduce(ctx, s.c, []float64(took[i]), fast.Max); err != nil {
			return nil, err
		}
		all = append(all, sampleOf(p, v, took[i]))
	}
	return all, nil
}

// prepare warms a variant up, and finds how many of its calls make a batch; 0: each is timed by itself.
func (s *session) prepare(ctx context.Context, m *meter, v variant, bytes int) (batch int, err error) {
	m.force(v.algorithm, v.depth)
	if err := m.rounds(ctx, s.warmUp); err != nil || bytes > batchedBytes {
		return 0, err
	}
	return m.batchSize(ctx)
}

// one returns a time per call, of a batch of so many or, for 0, of one by itself.
func (m *meter) one(ctx context.Context, batch int) (float64, error) {
	if batch == 0 {
		return m.single(ctx)
	}
	return m.batch(ctx, batch)
}
