package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/collgen/collgen/fast"
)

// measured is how long every variant of an operation's calls took, among some ranks.
type measured struct {
	operation
	transport  string
	ranks      int
	candidates []candidate
	sizes      []measuredSize // in ascending order
}

// measuredSize is that of blocks of one size.
type measuredSize struct {
	count, bytes int // of a block
	times        map[variant]times
}

// writeTable is collperf -tune.
func (o *options) writeTable(ctx context.Context, stdout, stderr io.Writer) error {
	var all []measured
	for _, setting := range o.settings {
		err := o.on(ctx, setting, stderr, func(ctx context.Context, c *fast.Comm) error {
			s := &session{options: o, c: c, transport: transportOf(c)}
			if c.Rank() == 0 {
				s.progress = newProgress(stderr)
			}
			found, err := s.compare(ctx)
			if c.Rank() == 0 {
				all = append(all, found...)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if isRank() || o.launch != nil && o.launch.Rank != 0 {
		return nil
	}
	text, err := o.table(all, time.Now())
	if err == nil {
		_, err = stdout.Write(text)
	}
	return err
}

// compare measures all candidates of all operations.
func (s *session) compare(ctx context.Context) (all []measured, err error) {
	defer s.progress.clear()
	for i := range s.operations {
		o := &s.operations[i]
		m := measured{operation: *o, transport: s.transport, ranks: s.c.Size()}
		if m.candidates = candidatesOf(o.primitive, s.transport, s.c.Size()); len(m.candidates) < 2 {
			continue // there is nothing to choose
		}
		for _, bytes := range s.blockSizes(o) {
			s.progress.update("%s over %s, %d ranks: blocks of %v", o.name, s.transport, s.c.Size(), size(bytes))
			one, err := s.compareAt(ctx, &m, bytes/s.element.bytes)
			if err != nil {
				return nil, fmt.Errorf("%s with blocks of %d bytes: %w", o.name, bytes, err)
			}
			m.sizes = append(m.sizes, one)
		}
		all = append(all, m)
	}
	return all, nil
}

// blockSizes are the sizes of blocks to measure: rules speak of blocks. -e bounds all blocks of a rank together.
func (s *session) blockSizes(o *operation) []int {
	width := o.width(s.c.Size())
	if width == 0 {
		return []int{0}
	}
	least := max(int(s.first), s.element.bytes)
	return steps(size(least), max(size(least), s.last/size(width)), s.factor)
}

// compareAt measures all candidates at one size, taking turns, so that all have the same conditions.
func (s *session) compareAt(ctx context.Context, m *measured, count int) (one measuredSize, err error) {
	t := s.trials(&m.operation, count)[0]
	t.inPlace = s.places[len(s.places)-1]
	l, err := t.element.load(ctx, s.c, t)
	if err != nil {
		return one, err
	}
	defer l.free()
	one = measuredSize{count: count, bytes: count * s.element.bytes, times: make(map[variant]times)}
	meter := &meter{load: l, c: s.c, iterations: s.iterations, hops: t.hops}
	variants := variantsOf(m.candidates, count, one.bytes)
	batches := make([]int, len(variants))
	for i, v := range variants {
		if batches[i], err = s.prepare(ctx, meter, v, t.bytes(s.c.Size())); err != nil {
			return one, err
		}
	}
	for range max(leastBatches, s.iterations) {
		for i, v := range variants {
			l.force(v.algorithm, v.depth)
			took, err := meter.one(ctx, batches[i])
			if err != nil {
				return one, err
			}
			one.times[v] = append(one.times[v], took)
		}
	}
	for _, v := range variants {
		if err := one.times[v].among(ctx, s.c); err != nil {
			return one, err
		}
		slices.Sort(one.times[v])
	}
	return one, nil
}

// prepare warms a variant up, and finds how many of its calls make a batch; 0: each is timed by itself.
func (s *session) prepare(ctx context.Context, m *meter, v variant, bytes int) (batch int, err error) {
	m.force(v.algorithm, v.depth)
	if err := m.rounds(ctx, s.warmUp); err != nil || bytes > batchedBytes {
		return 0, err
	}
	return m.batchSize(ctx)
}

// one is a time per call, of a batch of so many or, for 0, of one by itself.
func (m *meter) one(ctx context.Context, batch int) (float64, error) {
	if batch == 0 {
		return m.single(ctx)
	}
	return m.batch(ctx, batch)
}
