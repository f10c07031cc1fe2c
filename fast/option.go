package fast

// Option changes how one call is carried out. All ranks have to pass the same options. The zero Option changes nothing.
type Option struct {
	kind   optionKind
	name   string
	depth  int
	handle *Handle
	fused  *fused
}

type optionKind uint8

const (
	algorithmOption optionKind = iota + 1
	depthOption
	startOption // the call is started, and handle's
	fusedOption // the call reduces what a Bucket has fused
)

// WithAlgorithm carries a call out by the algorithm of that name instead of the one that the selection table gives.
func WithAlgorithm(name string) Option { return Option{kind: algorithmOption, name: name} }

// WithDepth has a pipelined algorithm cut its chunks into n pieces, n >= 1, but not into more than a block has elements.
// Other algorithms ignore it.
func WithDepth(n int) Option { return Option{kind: depthOption, depth: n} }

// handleOf is the handle of the call, if it is to be started.
func handleOf(opts []Option) *Handle {
	for i := range opts {
		if opts[i].kind == startOption {
			return opts[i].handle
		}
	}
	return nil
}

// fusedOf is what a Bucket has fused for the call; the zero fused if it is no Bucket's.
func fusedOf(opts []Option) fused {
	for i := range opts {
		if opts[i].kind == fusedOption {
			return *opts[i].fused
		}
	}
	return fused{}
}
