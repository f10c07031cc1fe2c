package interp

import (
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// uneven is how long the blocks of a call are, and where they lie: in their buffer, one after the other.
type uneven struct {
	n    func(spec.Length) int
	ends []map[spec.Buf][]int // by rank, buffer and block
	slot []int                // by rank: the length of a slot, that of the longest block of its buffers
}

// start returns the first element of a place.
func (u *uneven) start(rank int, p gen.Place) int {
	switch {
	case p.Buf == spec.Scratch:
		return p.At * u.slot[rank]
	case p.At == 0:
		return 0
	}
	return u.ends[rank][p.Buf][p.At-1]
}

// RunUneven executes s as Run does, with uneven blocks that are as long as n says, which is not negative.
func RunUneven[T any](s *gen.Schedule, n func(spec.Length) int, in, out [][]T, arith Arith[T]) error {
	u := &uneven{n: n}
	p := &interpreter[T]{s: s, uneven: u, arith: arith, messages: map[message][]T{}}
	for r, prog := range s.Ranks {
		u.ends, u.slot = append(u.ends, map[spec.Buf][]int{}), append(u.slot, 0)
		memory := memory[T]{in: in[r], out: out[r]}
		for buf, of := range map[spec.Buf]spec.Buffer{spec.In: s.Primitive.In, spec.Out: s.Primitive.Out} {
			end := 0
			for b := range prog.Len(buf) {
				l, err := of.Length(s.Env(r), b)
				if err != nil {
					return err
				}
				end += n(l)
				u.ends[r][buf] = append(u.ends[r][buf], end)
				u.slot[r] = max(u.slot[r], n(l))
			}
			if n := len(memory.of(buf)); n != end {
				return fmt.Errorf("rank %d: %s of %d elements does not fit %s, which wants %d", r, buf, n, s.Algorithm, end)
			}
		}
		memory.scratch = make([]T, prog.Scratch*u.slot[r])
		p.memory = append(p.memory, memory)
	}
	return p.run()
}
