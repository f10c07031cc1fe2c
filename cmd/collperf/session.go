package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/internal/figures"
	"github.com/collgen/collgen/internal/program"
)

// session is one rank's part in the measuring of a setting.
type session struct {
	*options
	c         *fast.Comm
	transport string
	print     func(*result) error // of rank 0 only; nil: another's
	progress  *program.Progress   // of rank 0 only
	wrong     bool                // a check has found something, on whatever rank
}

// measure measures all settings, one after the other.
func (o *options) measure(ctx context.Context, stdout, stderr io.Writer) error {
	w := newPrinter(o, stdout)
	var results []*result // if this is rank 0
	var found error
	for _, setting := range o.settings {
		err := o.on(ctx, setting, stderr, func(ctx context.Context, c *fast.Comm) error {
			s := &session{options: o, c: c, transport: transportOf(c)}
			if c.Rank() == 0 {
				s.progress = program.NewProgress(stderr)
				s.print = func(r *result) error {
					results = append(results, r)
					return w.print(r)
				}
			}
			err := s.run(ctx)
			if s.wrong && c.Rank() == 0 {
				found = errWrong
			}
			return err
		})
		if err != nil {
			return errors.Join(err, w.end())
		}
	}
	if o.plot != "" && results != nil {
		found = errors.Join(found, o.draw(ctx, results, program.NewProgress(stderr)))
	}
	return errors.Join(w.end(), found)
}

// run measures all operations, so many times.
func (s *session) run(ctx context.Context) error {
	defer s.progress.Clear()
	if s.garbage {
		defer litter()()
	}
	for range s.cycles {
		for i := range s.operations {
			if err := s.operation(ctx, &s.operations[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// operation measures one operation at all sizes.
func (s *session) operation(ctx context.Context, o *operation) error {
	counts := o.counts(steps(s.first, s.last, s.factor), s.c.Size(), s.element.bytes)
	for i, count := range counts {
		for _, t := range s.trials(o, count) {
			s.progress.Update("%s over %s, %d ranks: %v (%d of %d)",
				o.name, s.transport, s.c.Size(), figures.Size(t.bytes(s.c.Size())), i+1, len(counts))
			if err := s.trial(ctx, t); err != nil {
				return fmt.Errorf("%s of %d bytes: %w", o.name, t.bytes(s.c.Size()), err)
			}
		}
	}
	return nil
}

// trials returns those of one operation and count: in place and out of place, where that makes a difference.
func (s *session) trials(o *operation, count int) (all []*trial) {
	places := s.places
	if o.width(s.c.Size()) == 0 {
		places = places[:1]
	}
	for _, inPlace := range places {
		t := &trial{operation: *o, element: s.element, count: count, root: s.root, inPlace: inPlace, home: s.home}
		if o.reduces {
			t.folding = &s.folding
		}
		if o.startable() {
			t.algorithm, t.depth = s.algorithm, s.depth
		}
		all = append(all, t)
	}
	return all
}

// trial returns one line.
func (s *session) trial(ctx context.Context, t *trial) (err error) {
	l, err := t.element.load(ctx, s.c, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.free()) }()
	m := &meter{load: l, c: s.c, iterations: s.iterations, hops: t.hops, idle: s.idle}
	r, err := s.time(ctx, m, t)
	if err == nil {
		err = s.checked(ctx, m, r)
	}
	if err != nil || s.print == nil {
		return err
	}
	s.progress.Clear()
	return s.print(r)
}

// time warms up and takes the times.
func (s *session) time(ctx context.Context, m *meter, t *trial) (*result, error) {
	if err := m.rounds(ctx, s.warmUp); err != nil {
		return nil, err
	}
	r := newResult(t, s.transport, s.c.Size())
	take := m.long
	if r.Bytes <= batchedBytes {
		take = m.short
	}
	times, calls, err := take(ctx)
	if err != nil {
		return nil, err
	}
	r.timed(t, times, calls)
	if s.overlap && t.startable() {
		share, err := m.overlap(ctx)
		r.Overlap = &share
		return r, err
	}
	return r, nil
}

// checked adds what checks find on all ranks.
func (s *session) checked(ctx context.Context, m *meter, r *result) error {
	if s.check == 0 {
		return nil
	}
	wrong := []int{0}
	for range s.check {
		n, err := m.check(ctx)
		if err != nil {
			return err
		}
		wrong[0] += n
	}
	err := fast.AllReduce(ctx, s.c, wrong, fast.Sum)
	r.Wrong, s.wrong = &wrong[0], s.wrong || wrong[0] != 0
	return err
}
