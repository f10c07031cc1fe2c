package fast

// Option changes how one call is carried out. All ranks have to pass the same options. The zero Option changes nothing.
type Option struct {
	kind   optionKind
	name   string
	depth  int
	handle any // *fast.Handle
	fused  *fused
}

type optionKind uint8

const (
	algorithmOption optionKind = iota + 1
	depthOption
	startOption // the call is started, and handle's
	unprovedOption
	fusedOption // the call reduces what a Bucket has fused
)

// fusedOf returns what a Bucket has fused for the call; the zero fused if it is no Bucket's.
func fusedOf(opts []Option) fused {
	for i := range opts {
		if opts[i].kind == fusedOption {
			return *opts[i].fused
		}
	}
	return fused{}
}

// asksFor reports whether opts name an algorithm.
func asksFor(opts []Option) bool {
	for _, o := range opts {
		if o.kind == algorithmOption {
			return true
		}
	}
	return false
}
