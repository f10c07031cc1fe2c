package exec

import (
	"fmt"
	"strings"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"

	"github.com/collgen/collgen/selection"
)

// Proved says for which calls an algorithm was proved, with every root and, of two ranks alone, every pair. The zero
// Proved is for an algorithm of which nothing was proved.
type Proved struct {
	Sizes  int  // every number of ranks up to this one that it serves
	Depths int  // these with every depth up to this one; 0: the depth makes no difference
	Every  bool // by induction, every number of ranks and every depth, up to those of package selection, whatever the above say
}

// Covers reports whether calls among size ranks were proved, at whatever depth.
func (p Proved) Covers(size int) bool {
	return size <= p.Sizes || p.Every && size <= selection.MaxRanks
}

// Deepest returns the largest depth for which a was proved among size ranks, as it was for those below; 0: it was not
// proved.
func (a *Algorithm) Deepest(size int) int {
	switch p := a.Proved; {
	case !p.Covers(size):
		return 0
	case !a.Pipelined:
		return maxInt
	case !p.Every:
		return p.Depths
	}
	return selection.MaxDepth
}

// String says for which calls: "up to 64 ranks and depth 4".
func (p Proved) String() string {
	switch {
	case p.Every:
		return "every number of ranks and every depth"
	case p.Sizes == 0:
		return "nothing"
	case p.Depths == 0:
		return fmt.Sprintf("up to %d ranks", p.Sizes)
	}
	return fmt.Sprintf("up to %d ranks and depth %d", p.Sizes, p.Depths)
}

// notProved returns the error of a call that would get s, and a depth if it asks for one.
func (p *plan) notProved(s *planStep, op spec.Op, depth int, opts []Option) error {
	const more = `; "collgen prove -write" proves every number of ranks and every depth, "collgen gen -n" more ranks, and ` +
		"the option Unproved lets the call run as it is"
	switch {
	case s.deepest > 0:
		return wire.Refuse(p.k.Name, "algorithm %q is proved for %v, not for depth %d"+more, s.Algorithm.Name, s.Algorithm.Proved, depth)
	case AsksFor(opts):
		return wire.Refuse(p.k.Name, "algorithm %q is proved for %v, not for %d ranks"+more, s.Algorithm.Name, s.Algorithm.Proved, p.size)
	}
	var all []string
	for _, a := range p.k.Algorithms {
		if a.Carries(p.size, op) {
			words := fmt.Sprintf("%q is, for %v", a.Name, a.Proved)
			if a.Proved == (Proved{}) {
				words = fmt.Sprintf("%q is for none", a.Name)
			}
			all = append(all, words)
		}
	}
	return wire.Refuse(p.k.Name, "no algorithm is proved for %d ranks: %s"+more, p.size, strings.Join(all, ", "))
}
