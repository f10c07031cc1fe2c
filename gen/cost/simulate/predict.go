package simulate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Method is how a result came out.
type Method uint8

// The methods. The first plays every message.
const (
	Full   Method = iota
	Folded        // one host or rack was played, because the ranks of all others do the same at the same time
	Steady        // of steps that repeat, the first ones were played, until what they take repeated as well
)

// String returns the method's name: "full".
func (x Method) String() string { return [...]string{"full", "folded", "steady"}[x] }

// LimitError is the error of a call that would take the simulator too long, or too much memory.
type LimitError struct{ Why string }

// Error returns the reason.
func (e *LimitError) Error() string { return e.Why }

// The work that is done, in steps and messages: up to few, every message is played without a look at what is equal;
// more than most is refused.
const (
	few  = 1 << 14
	most = 1 << 22
)

// Predict returns what [Play] does, sooner where many ranks do the same, or one does the same many times: Result.How
// says how it came out. If the bytes of a block cannot be dealt out equally, and every message would be too many, the
// block is played longer, by less than a byte for each chunk: Result.Block says how long. A call that takes too many
// messages all the same is refused with a [LimitError].
//
// Folded and steady results are those of Play, but for the order in which what comes to a link or a core at the very
// same time is served.
func Predict(ctx context.Context, m *Machine, c Call) (Result, error) {
	if err := m.Validate(); err != nil {
		return Result{}, fmt.Errorf("the machine: %w", err)
	}
	chunks, err := c.chunks()
	if err != nil {
		return Result{}, err
	}
	return predict(ctx, m, c, chunks, few)
}

// predict plays every message of a call that has no more steps and messages than few.
func predict(ctx context.Context, m *Machine, c Call, chunks, few int) (Result, error) {
	s, err := look(ctx, m, c, chunks)
	switch {
	case err != nil:
		return Result{}, err
	case s.work <= few || c.Repeat > 1:
		return Play(ctx, m, c)
	case s.same || s.period < c.Size:
		return s.play(ctx, m, c, chunks)
	case s.work <= most:
		return Play(ctx, m, c)
	case c.Block%chunks == 0:
		return Result{}, s.refusal()
	}
	return even(ctx, m, c, chunks)
}

// even plays c with so many bytes more in a block that all chunks are equally long. Where there are fewer bytes than
// chunks, that is right for rings alone: each chunk that has a byte makes its way past all ranks.
func even(ctx context.Context, m *Machine, c Call, chunks int) (Result, error) {
	bytes := c.Block
	c.Block += chunks - c.Block%chunks
	s, err := look(ctx, m, c, chunks)
	switch {
	case err != nil:
		return Result{}, err
	case !s.same && s.period == c.Size:
		return Result{}, s.refusal()
	}
	if bytes < chunks {
		if ring, err := s.isRing(&c, chunks); err != nil || !ring {
			return Result{}, cmp.Or(err, error(&LimitError{fmt.Sprintf("%d bytes in %d chunks: most of them would be empty",
				bytes, chunks)}))
		}
	}
	return s.play(ctx, m, c, chunks)
}

// isRing reports whether all ranks send to the same one or two neighbours in all steps, one message each.
func (s *survey) isRing(c *Call, chunks int) (bool, error) {
	if !s.same || c.Depth > 1 {
		return false, nil
	}
	runs, err := runsOf(c, chunks)
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(runs, func(r run) bool {
		return r.sent > 2 || !slices.Equal(r.sendsTo(), runs[0].sendsTo())
	}), nil
}

func (s *survey) refusal() error {
	return &LimitError{fmt.Sprintf("some %d steps and messages, of ranks that do not do the same; up to %d are played",
		s.work, most)}
}

// play plays c, whose ranks do the same, or the same as those of other hosts.
func (s *survey) play(ctx context.Context, m *Machine, c Call, chunks int) (Result, error) {
	if s.same {
		return playSame(ctx, m, c, chunks)
	}
	if work := s.work / c.Size * s.period; work > most {
		return Result{}, &LimitError{fmt.Sprintf("some %d steps and messages of %d ranks alone; up to %d are played", work,
			s.period, most)}
	}
	programs := stepsOf(&c)
	w, err := newWorld(m, c, chunks, s.folding, programs)
	if err != nil {
		return Result{}, err
	}
	return w.play(ctx, programs)
}
