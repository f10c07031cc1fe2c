package exec

import (
	"bytes"
	"strconv"

	"github.com/collgen/collgen/fast/internal/wire"
)

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

// Fused is the tensors that a Bucket reduces in one call, which ranks compare: their lengths, in their order.
type Fused struct {
	n    int
	hash uint64     // of the lengths
	name wire.Label // for people: how many there are, and the first lengths
	used int        // bytes of name
	full bool       // there was no room for one of the lengths
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

// Label names f and the first of its lengths: "Bucket 3: 6 2 5".
func (f *Fused) Label() (l wire.Label) {
	text := append(strconv.AppendInt(append(l[:0], "Bucket "...), int64(f.n), 10), ':')
	lengths := f.name[:f.used]
	if room := len(l) - len(text); len(lengths) > room { // only whole ones
		lengths = lengths[:max(0, bytes.LastIndexByte(lengths[:max(0, room)+1], ' '))]
	}
	copy(l[min(len(text), len(l)):], lengths)
	return l
}

// Mark returns f in the Op of a call's description, 0 if there is none.
func (f *Fused) Mark() uint32 {
	if f.n == 0 {
		return 0
	}
	return max(1, uint32(f.hash>>(32+wire.OpBits))) << wire.OpBits
}
