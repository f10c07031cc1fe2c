package exec

import (
	"strconv"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// Part says of which operation a call is a part. Ranks compare it, because they may agree about a part and not about
// the whole: a part may have another root or op.
type Part struct {
	Operation string  // "hosts.AllReduce"
	Op        spec.Op // of the whole; 0: none
	Root      int     // of the whole; -1: none
}

// partOf returns the operation of which a call with these options is a part.
func partOf(opts []Option) Part {
	for i := range opts {
		if opts[i].Kind == PartOption {
			return *opts[i].Part
		}
	}
	return Part{}
}

// describe adds p to what ranks compare in a call.
func (p *Part) describe(d *wire.Call) {
	if p.Operation == "" {
		return
	}
	for i := range len(p.Operation) {
		d.Primitive = wire.Mix(d.Primitive ^ uint64(p.Operation[i]))
	}
	d.Primitive = wire.Mix(d.Primitive ^ uint64(p.Op))
	d.Primitive = wire.Mix(d.Primitive ^ uint64(p.Root))
	d.PrimitiveName = p.label()
}

// label returns p in words, such as "hosts.Reduce sum root 2".
func (p *Part) label() (label wire.Label) {
	text := append(make([]byte, 0, len(label)), p.Operation...)
	if p.Op != 0 {
		text = append(append(text, ' '), p.Op.String()...)
	}
	if p.Root >= 0 {
		text = strconv.AppendInt(append(text, " root "...), int64(p.Root), 10)
	}
	copy(label[:], text)
	return label
}
