package exec

// Option changes how one call is made. All ranks must pass the same options. The zero Option changes nothing.
type Option struct {
	Kind   optionKind
	Name   string
	Depth  int
	Handle any // *fast.Handle or *fast.Persistent
	Fused  *Lengths
	Part   *Part
	Factor float64
}

// optionKind is the kind of an Option.
type optionKind uint8

// The kinds of options.
const (
	AlgorithmOption optionKind = iota + 1
	DepthOption
	StartOption // the call is started; Handle belongs to it
	UnprovedOption
	FusedOption // the call reduces the fused tensors of a Bucket
	PartOption  // the call is a part of an operation
	ReproducibleOption
	LabelOption   // Name is the call's label
	PrepareOption // the call is prepared; Handle is what keeps it
	FactorOption  // this rank's operands are multiplied by Factor first
)

// fusedOf returns the tensors that a Bucket has fused for the call, or none if it is not a Bucket's.
func fusedOf(opts []Option) Lengths {
	for i := range opts {
		if opts[i].Kind == FusedOption {
			return *opts[i].Fused
		}
	}
	return Lengths{}
}

// labelOf returns the label of a call with these options, "" if it has none, and whether that is one.
func labelOf(opts []Option) (label string, ok bool) {
	for i := range opts {
		if opts[i].Kind == LabelOption {
			if label = opts[i].Name; !IsLabel(label) {
				return "", false
			}
		}
	}
	return label, true
}

// factorOf returns what this rank's operands are multiplied by, and whether they are.
func factorOf(opts []Option) (factor float64, is bool) {
	for i := range opts {
		if opts[i].Kind == FactorOption {
			factor, is = opts[i].Factor, true
		}
	}
	return factor, is
}

// Continues reports whether the call with these options is one of several that all ranks make together, and not the
// first. What a Bucket has made before is not known here.
func Continues(opts []Option) bool {
	for i := range opts {
		if o := &opts[i]; o.Kind == FusedOption || o.Kind == PartOption && o.Part.Number > 0 {
			return true
		}
	}
	return false
}

// AsksFor reports whether opts name an algorithm.
func AsksFor(opts []Option) bool { return has(opts, AlgorithmOption) }

// has reports whether one of opts is of that kind.
func has(opts []Option, kind optionKind) bool {
	for i := range opts {
		if opts[i].Kind == kind {
			return true
		}
	}
	return false
}
