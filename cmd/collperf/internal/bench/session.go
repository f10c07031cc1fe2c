// Package bench times collectives on all ranks and checks their results.
package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/hosts"
	"github.com/collgen/collgen/fast/quantized"
	"github.com/collgen/collgen/internal/figures"
	"github.com/collgen/collgen/internal/program"
)

// Config says what is measured, and how.
type Config struct {
	Operations []Operation

	First, Last figures.Size
	Factor      int
	Iterations  int
	WarmUp      int
	Check       int // calls whose results are checked
	Cycles      int // how often everything is measured

	Element   Element
	Reduction Reduction
	Root      int
	Places    []bool // whether in place, in the order of the columns
	Placement Placement

	Algorithm string
	Depth     int
	Hosts     bool               // the calls of package hosts
	Quantized *quantized.Options // with Hosts: how all-reduces of float32 are quantized; nil: they are not

	GCLoad       bool // keep the garbage collector busy
	Reproducible bool // measure reproducible sums
	Overlap      bool // measure the overlap of started calls
	Idle         bool // sleep instead of computing meanwhile
}

// Meter returns a meter of a load of c.
func (s *Config) Meter(load Load, comm *fast.Comm, c *Case) *Meter {
	return &Meter{Load: load, Comm: comm, Iterations: s.Iterations, hops: c.hops, idle: s.Idle}
}

// Sizes returns the sizes of the largest buffers to measure.
func (s *Config) Sizes() []int { return Sizes(s.First, s.Last, s.Factor) }

// Cases returns the cases of one operation and count: out of place and in place, if it has both.
func (s *Config) Cases(o *Operation, count, ranks int) (all []*Case) {
	places := s.Places
	switch {
	case o.apart:
		places = []bool{false}
	case o.Width(ranks) == 0:
		places = places[:1]
	}
	for _, inPlace := range places {
		c := &Case{Operation: *o, Element: s.Element, Count: count, Root: s.Root, InPlace: inPlace, Placement: s.Placement}
		if o.reduces {
			c.Reduction, c.Reproducible = &s.Reduction, s.Reproducible
		}
		if o.Startable() {
			c.Algorithm, c.Depth = s.Algorithm, s.Depth
		}
		if s.Hosts {
			c.Algorithm = "fast/hosts" // which results name; options of package fast mean nothing to it
			if c.quantized = s.Quantized; c.quantized != nil {
				c.Algorithm += " " + c.quantized.String()
			}
		}
		all = append(all, c)
	}
	return all
}

// Session measures on one rank.
type Session struct {
	*Config
	Comm      *fast.Comm
	Transport string
	Print     func(*Result) error // nil on all ranks but 0
	Progress  *program.Progress   // nil on all ranks but 0
	Wrong     bool                // a check has found wrong elements, on any rank

	hosts *hosts.Comm // of Comm, with Hosts
}

// Run measures all operations, in all cycles.
func (s *Session) Run(ctx context.Context) (err error) {
	defer s.Progress.Clear()
	done, err := s.byHosts(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if s.GCLoad {
		defer loadCollector()()
	}
	for range s.Cycles {
		for i := range s.Operations {
			if err := s.operation(ctx, &s.Operations[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// operation measures one operation at all sizes.
func (s *Session) operation(ctx context.Context, o *Operation) error {
	ranks := s.Comm.Size()
	counts := o.Counts(s.Sizes(), ranks, s.Element.Bytes)
	for i, count := range counts {
		for _, c := range s.Cases(o, count, ranks) {
			c.by = s.hosts
			s.Progress.Update("%s over %s, %d ranks: %v (%d of %d)",
				o.Name, s.Transport, ranks, figures.Size(c.Bytes(ranks)), i+1, len(counts))
			if err := s.measure(ctx, c); err != nil {
				return fmt.Errorf("%s of %d bytes: %w", o.Name, c.Bytes(ranks), err)
			}
		}
	}
	return nil
}

// measure measures and prints one line.
func (s *Session) measure(ctx context.Context, c *Case) (err error) {
	l, err := c.Load(ctx, s.Comm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Free()) }()
	m := s.Meter(l, s.Comm, c)
	r, err := s.time(ctx, m, c)
	if err == nil {
		err = s.check(ctx, m, r)
	}
	if err != nil || s.Print == nil {
		return err
	}
	s.Progress.Clear()
	return s.Print(r)
}

// time warms up and takes the times.
func (s *Session) time(ctx context.Context, m *Meter, c *Case) (*Result, error) {
	if err := m.rounds(ctx, s.WarmUp); err != nil {
		return nil, err
	}
	r := NewResult(c, s.Transport, s.Comm.Size())
	take := m.long
	if r.Bytes <= batchedBytes {
		take = m.short
	}
	times, calls, err := take(ctx)
	if err != nil {
		return nil, err
	}
	r.SetTimes(c, times, calls)
	if s.Overlap && c.Startable() {
		share, err := m.overlap(ctx)
		r.Overlap = &share
		return r, err
	}
	return r, nil
}

// check makes the checked calls and adds the number of wrong elements on all ranks to r.
func (s *Session) check(ctx context.Context, m *Meter, r *Result) error {
	if s.Check == 0 {
		return nil
	}
	wrong := []int{0}
	for range s.Check {
		n, err := m.check(ctx)
		if err != nil {
			return err
		}
		wrong[0] += n
	}
	err := fast.AllReduce(ctx, s.Comm, wrong, fast.Sum)
	r.Wrong, s.Wrong = &wrong[0], s.Wrong || wrong[0] != 0
	return err
}
