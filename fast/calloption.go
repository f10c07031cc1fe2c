package fast

import (
	"github.com/collgen/collgen/fast/internal/exec"
)

// Option changes how one call is carried out. All ranks have to pass the same options. The zero Option changes nothing.
type Option = exec.Option

// WithAlgorithm carries a call out by the algorithm of that name instead of the one that the selection table gives.
func WithAlgorithm(name string) Option {
	return Option{Kind: exec.AlgorithmOption, Name: name}
}

// WithDepth has a pipelined algorithm cut its chunks into n pieces, n >= 1, but not into more than a block has
// elements. Other algorithms ignore it. It is refused if the algorithm was not proved for this depth, see Unproved.
func WithDepth(n int) Option { return Option{Kind: exec.DepthOption, Depth: n} }

// Unproved lets a call be carried out by an algorithm that was not proved for so many ranks, or for its depth, which is
// refused otherwise. The algorithm may give wrong results there, or never end. Without a name, a call still gets one
// that was proved for so many ranks, if there is one. Everything in this package was proved for every number of ranks
// and every depth.
func Unproved() Option { return Option{Kind: exec.UnprovedOption} }
