package colltest

import (
	"context"
	"slices"
)

// joint returns a failure of one case that has the last cases before f and that of f, as few as there must be, and
// fails in a world of its own. It returns nil if there is none. For a hang it tries one case, since each takes long.
func (s *Suite) joint(ctx context.Context, f *Failure) *Failure {
	if len(f.before) == 0 {
		return nil
	}
	first := 1
	if f.hangs() {
		first = mostJoined
	}
	for n := first; n <= mostJoined; n *= 2 {
		n = min(n, len(f.before))
		c := joined(append(slices.Clone(f.before[len(f.before)-n:]), f.Case))
		if c.bytes() > mostJoinedBytes || c.checkComms() != nil {
			return nil
		}
		_ = s.end(c.Size)
		if g, err := s.try(ctx, c, s.quick(f), new(Counts)); g != nil && err == nil && ctx.Err() == nil {
			if s.again(ctx, g); g.Failed > 0 {
				return g
			}
		}
		if n == len(f.before) || ctx.Err() != nil {
			break
		}
	}
	return nil
}

// mostJoined is how many cases are joined with one, and mostJoinedBytes a limit of the memory of all. More cases are
// easier to repeat as a run.
const mostJoined, mostJoinedBytes = 32, 1 << 29

// joined returns one case with the calls of several, in the order of the last one.
func joined(cases []Case) Case {
	last := cases[len(cases)-1]
	c := Case{Size: last.Size, Order: last.Order}
	for _, x := range cases {
		for _, step := range x.Steps {
			if step.Comm > 0 {
				step.Comm += len(c.Comms)
			}
			c.Steps = append(c.Steps, step)
		}
		c.Comms = append(c.Comms, x.Comms...)
	}
	return c
}

// bytes returns a bound of the memory of all ranks' buffers.
func (c *Case) bytes() (n int) {
	for i := range c.Steps {
		s := &c.Steps[i]
		longest := s.Count
		for _, counts := range s.Counts {
			longest = max(longest, slices.Max(append(counts, 0)))
		}
		n += 2 * c.Size * c.Size * longest * s.Type.Bytes() * max(1, s.Repeat)
	}
	return n
}
