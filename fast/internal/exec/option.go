package exec

import (
	"bytes"
	"strconv"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Option changes how one call is made. All ranks must pass the same options. The zero Option changes nothing.
type Option struct {
	Kind   optionKind
	Name   string
	Depth  int
	Handle any // *fast.Handle
	Fused  *Fused
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
)

// fusedOf returns the tensors that a Bucket has fused for the call, or the zero Fused if it is not a Bucket's.
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

// Fused describes the tensors that a Bucket reduces in one call. Ranks compare their lengths, in order.
type Fused struct {
	n    int
	hash uint64     // of the lengths
	name wire.Label // for people: how many there are, and the first lengths
	used int        // bytes of name
	full bool       // one of the lengths did not fit into name
}

// Add adds a tensor of n elements.
func (f *Fused) Add(n int) {
	f.n++
	f.hash = wire.Mix(f.hash ^ uint64(n))
	var b [24]byte
	text := strconv.AppendInt(append(b[:0], ' '), int64(n), 10)
	if f.full = f.full || len(text) > len(f.name)-f.used; !f.full {
		f.used += copy(f.name[f.used:], text)
	}
}

// Label returns the number of tensors and the first lengths, such as "Bucket 3: 6 2 5".
func (f *Fused) Label() (l wire.Label) {
	text := append(strconv.AppendInt(append(l[:0], "Bucket "...), int64(f.n), 10), ':')
	lengths := f.name[:f.used]
	if space := len(l) - len(text); len(lengths) > space { // only whole ones
		lengths = lengths[:max(0, bytes.LastIndexByte(lengths[:max(0, space)+1], ' '))]
	}
	copy(l[min(len(text), len(l)):], lengths)
	return l
}

// Mark returns the bits of f in the Op of a call's description, or 0 if f is empty.
func (f *Fused) Mark() uint32 {
	if f.n == 0 {
		return 0
	}
	return max(1, uint32(f.hash>>(32+wire.OpBits))) << wire.OpBits
}
