package exec

// Option changes how one call is carried out. All ranks have to pass the same options. The zero Option changes nothing.
type Option struct {
	Kind   optionKind
	Name   string
	Depth  int
	Handle any // *fast.Handle
	Fused  *Fused
}

// optionKind says what an Option is about.
type optionKind uint8

// The kinds of options.
const (
	AlgorithmOption optionKind = iota + 1
	DepthOption
	StartOption // the call is started, and handle's
	UnprovedOption
	FusedOption // the call reduces what a Bucket has fused
)

// fusedOf returns what a Bucket has fused for the call; the zero fused if it is no Bucket's.
func fusedOf(opts []Option) Fused {
	for i := range opts {
		if opts[i].Kind == FusedOption {
			return *opts[i].Fused
		}
	}
	return Fused{}
}

// AsksFor reports whether opts name an algorithm.
func AsksFor(opts []Option) bool {
	for _, o := range opts {
		if o.Kind == AlgorithmOption {
			return true
		}
	}
	return false
}
