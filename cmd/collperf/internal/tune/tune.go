// Package tune measures all algorithms of operations and writes the table of rules by which calls select them.
package tune

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
	"github.com/collgen/collgen/cmd/collperf/internal/ranks"
	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/internal/figures"
	"github.com/collgen/collgen/internal/program"
)

// errLate is the error if the time is over before everything was measured.
var errLate = errors.New("the time is over before everything was measured: the same command goes on")

// Tuner measures the algorithms and writes the table.
type Tuner struct {
	*bench.Config
	Keep  string        // the file of the table, which this run continues; "": none
	Limit time.Duration // after which no further point is measured; 0: all points are
	Anew  bool          // what is in the file is measured again, and the rest of it stays
	Quick bool          // no time is spent on variants that are much slower than others

	samples []sample
	old     []sample  // of the file, if it is measured anew
	until   time.Time // zero: no limit
	late    bool      // the time was over before all points were measured
}

// Start sets the time at which the tuner stops, and on the first rank loads the table that is continued.
func (t *Tuner) Start(first bool) error {
	if t.Limit > 0 {
		t.until = time.Now().Add(t.Limit)
	}
	if !first || t.Keep == "" {
		return nil
	}
	text, err := os.ReadFile(t.Keep)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		t.samples, err = decodeSamples(text)
	}
	if t.Anew { // what cannot be read, such as a table of algorithms that are gone, is replaced
		t.old, t.samples = t.samples, nil
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.Keep, err)
	}
	return nil
}

// all returns the samples of this run, and those of the file of which this run has none: of another operation,
// transport or number of ranks.
func (t *Tuner) all() []sample {
	type series struct {
		collective, transport string
		ranks, perHost        int
	}
	seriesOf := func(s sample) series { return series{s.Collective, s.Transport, s.Ranks, s.PerHost} }
	has := map[series]bool{}
	for _, s := range t.samples {
		has[seriesOf(s)] = true
	}
	rest := slices.DeleteFunc(slices.Clone(t.old), func(s sample) bool { return has[seriesOf(s)] })
	return append(rest, t.samples...)
}

// Late reports whether the time is over.
func (t *Tuner) Late() bool { return t.late }

// Save writes the table to the file that keeps it, if there is one, and otherwise to stdout if it is complete.
func (t *Tuner) Save(stdout io.Writer) error {
	text, err := table(t.all(), time.Now())
	if err == nil && t.Keep != "" {
		err = replaceFile(t.Keep, text)
	} else if err == nil && !t.late {
		_, err = stdout.Write(text)
	}
	if err == nil && t.late {
		err = errLate
	}
	return err
}

// replaceFile writes a file, all of it or nothing.
func replaceFile(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Measure measures all candidates of all operations on one rank, round after round. Rank 0 has the samples of earlier
// runs. progress may be nil.
func (t *Tuner) Measure(ctx context.Context, c *fast.Comm, progress *program.Progress) error {
	defer progress.Clear()
	if c.Rank() > 0 {
		t = &Tuner{Config: t.Config, Quick: t.Quick}
	}
	s := &session{Tuner: t, comm: c, transport: ranks.TransportOf(c), progress: progress}
	for round := range t.Cycles {
		for i := range t.Operations {
			if err := s.measureSizes(ctx, &t.Operations[i], round); err != nil || t.late {
				return err
			}
		}
	}
	return nil
}

// session is the measurements of one rank.
type session struct {
	*Tuner
	comm      *fast.Comm
	transport string
	progress  *program.Progress
}

// measureSizes measures all candidates of an operation at all sizes.
func (s *session) measureSizes(ctx context.Context, o *bench.Operation, round int) error {
	candidates := candidatesOf(o.Primitive, s.transport, s.comm.Size())
	if len(candidates) < 2 {
		return nil // there is nothing to choose
	}
	for _, bytes := range s.blockSizes(o) {
		s.progress.Update("%s over %s, %d ranks: blocks of %v", o.Name, s.transport, s.comm.Size(), figures.Size(bytes))
		p := point{o.Name, s.transport, s.comm.Size(), mostOnHost(s.comm), bytes, bytes / s.Element.Bytes, round}
		what, err := s.next(ctx, p)
		switch {
		case err != nil || what == stop:
			return err
		case what == skip:
			continue
		}
		more, err := s.measureAt(ctx, o, p, variantsOf(candidates, p.Count, bytes))
		if err != nil {
			return fmt.Errorf("%s with blocks of %d bytes: %w", o.Name, bytes, err)
		}
		s.samples = append(s.samples, more...)
	}
	return nil
}

// mostOnHost returns the number of ranks on the host that has the most.
func mostOnHost(c *fast.Comm) (most int) {
	for _, ranks := range c.Topology().Hosts {
		most = max(most, len(ranks))
	}
	return most
}

// What to do with a point.
const (
	measure = iota
	skip    // it was measured by an earlier run
	stop    // the time is over
)

// next returns what all ranks do with a point; rank 0 decides.
func (s *session) next(ctx context.Context, p point) (int, error) {
	word := []int{measure}
	switch {
	case s.comm.Rank() > 0:
	case slices.ContainsFunc(s.samples, func(x sample) bool { return x.point == p }):
		word[0] = skip
	case !s.until.IsZero() && time.Now().After(s.until):
		word[0] = stop
	}
	err := fast.Broadcast(ctx, s.comm, word, 0)
	s.late = err == nil && word[0] == stop
	return word[0], err
}

// blockSizes returns the sizes of blocks to measure: rules are by the size of blocks. Last bounds all blocks of a rank
// together.
func (s *session) blockSizes(o *bench.Operation) []int {
	width := o.Width(s.comm.Size())
	if width == 0 {
		return []int{0}
	}
	least := max(int(s.First), s.Element.Bytes)
	return bench.Sizes(figures.Size(least), max(figures.Size(least), s.Last/figures.Size(width)), s.Factor)
}

// measureAt measures the variants at one point. They take turns, so that all have the same conditions, each time in
// another order, because a variant leaves its data in the caches for the next one. The time of a call is that of the
// rank that finishes last; otherwise an algorithm that leaves all work to a root would win.
func (s *session) measureAt(ctx context.Context, o *bench.Operation, p point, variants []variant) (all []sample,
	err error) {
	cases := s.Cases(o, p.Count, s.comm.Size())
	c := cases[len(cases)-1]
	l, err := c.Load(ctx, s.comm)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Free()) }()
	meter := s.Meter(l, s.comm, c)
	batches, took := make([]int, len(variants)), make([]bench.Times, len(variants))
	for i, v := range variants {
		l.Force(v.algorithm, v.depth)
		if batches[i], err = meter.Prepare(ctx, s.WarmUp, c.Bytes(s.comm.Size())); err != nil {
			return nil, err
		}
	}
	turns := rand.New(rand.NewPCG(1, 2)) // the same on all ranks
	left := inOrder(len(variants))
	for begin, turn := time.Now(), 1; turn <= max(bench.MinBatches, s.Iterations) && len(left) > 0; turn++ {
		for _, k := range turns.Perm(len(left)) {
			i := left[k]
			l.Force(variants[i].algorithm, variants[i].depth)
			one, err := meter.One(ctx, batches[i])
			if err != nil {
				return nil, err
			}
			took[i] = append(took[i], one)
		}
		if s.Quick && turn >= quickTurns {
			if left, err = s.promising(ctx, left, took, time.Since(begin)); err != nil {
				return nil, err
			}
		}
	}
	for i, v := range variants {
		if err := fast.AllReduce(ctx, s.comm, []float64(took[i]), fast.Max); err != nil {
			return nil, err
		}
		all = append(all, sampleOf(p, v, took[i]))
	}
	return all, nil
}
