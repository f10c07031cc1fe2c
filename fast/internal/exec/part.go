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
	Graph     uint64  // the number of the call that made the graph of the whole; 0: it has none
	// How many parts come before it on the same communicator. If one that is not the first cannot be made, the
	// communicator is given up, because the other ranks make it.
	Number int
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

// Continues reports whether the call is one of several that all ranks make together, and not the first. What the bucket
// of a fused call has made before is not known here.
func (p *Form) Continues() bool {
	return p.part.Number > 0 || p.lengths.n > 0 && !p.Collective.Uneven
}

// describe adds p to what ranks compare in a call.
func (p *Part) describe(d *wire.Call) {
	if p.Operation == "" {
		return
	}
	for i := range len(p.Operation) {
		d.Primitive = wire.Mix(d.Primitive ^ uint64(p.Operation[i]))
	}
	if p.Op.Declared() {
		d.Primitive = thenText(d.Primitive, p.Op.String())
	}
	for _, x := range []uint64{uint64(commuting.mark(p.Op)), uint64(p.Root), p.Graph, uint64(p.Number)} {
		d.Primitive = wire.Mix(d.Primitive ^ x)
	}
	d.PrimitiveName = p.label()
}

// label returns p in words, such as "hosts.Reduce sum root 2", or "neighbor.AllToAll #3+1" of the second part of a call
// on the graph that call 3 has made.
func (p *Part) label() (label wire.Label) {
	text := append(make([]byte, 0, 64), p.Operation...) // on the stack, also what is cut off
	if p.Op != 0 {
		text = append(append(text, ' '), p.Op.String()...)
	}
	if p.Root >= 0 {
		text = strconv.AppendInt(append(text, " root "...), int64(p.Root), 10)
	}
	if p.Graph > 0 {
		text = strconv.AppendUint(append(text, " #"...), p.Graph, 10)
	}
	if p.Number > 0 {
		text = strconv.AppendInt(append(text, '+'), int64(p.Number), 10)
	}
	copy(label[:], text)
	return label
}
