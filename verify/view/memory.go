package view

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// bufs are the buffers of a rank, in the order in which messages and places number them.
var bufs = []spec.Buf{spec.In, spec.Out, spec.Scratch}

// met is the name of what is no buffer: a cell of each rank that stands for those that it knows to have entered.
const met spec.Buf = "met"

// number returns the number of a buffer in a Place of the page, -1 for none.
func number(b spec.Buf) int {
	for i, x := range bufs {
		if x == b {
			return i
		}
	}
	return -1
}

// layout gives chunks and slots their cells, as package verify does: in place, Out begins where the primitive says.
func (r *run) layout() {
	r.base = make([][]int, len(bufs))
	for rank := range r.s.Ranks {
		p := &r.s.Ranks[rank]
		in, out, want := r.cells, r.cells+p.In, &r.want.Ranks[rank]
		end := r.cells + p.In + p.Out
		r.start = append(r.start, r.cells)
		if r.inPlace && want.InBlock >= 0 {
			d := (want.InBlock - want.OutBlock) * r.s.Chunks
			in -= min(0, d)
			out = in + d
			end = max(in+p.In, out+p.Out)
		}
		r.base[0], r.base[1], r.base[2] = append(r.base[0], in), append(r.base[1], out), append(r.base[2], end)
		r.cells = end + p.Scratch
	}
	if r.asksWhoEntered() {
		for range r.s.Ranks {
			r.metAt = append(r.metAt, r.cells)
			r.cells++
		}
	}
}

func (r *run) asksWhoEntered() bool {
	for _, c := range r.s.Primitive.Post {
		if c.Value.Kind == spec.Entered {
			return true
		}
	}
	return false
}

// buffers describes the layout.
func (r *run) buffers() (list []Buffer) {
	for i, name := range bufs {
		b := Buffer{Name: name, Base: r.base[i]}
		any := false
		for rank := range r.s.Ranks {
			n := r.s.Ranks[rank].Len(name)
			b.Len, any = append(b.Len, n), any || n > 0
		}
		if !any {
			b.Base, b.Len = []int{}, []int{} // the number of a buffer is its index
		}
		list = append(list, b)
	}
	if r.metAt != nil {
		b := Buffer{Name: met, Base: r.metAt}
		for range r.s.Ranks {
			b.Len = append(b.Len, 1)
		}
		list = append(list, b)
	}
	return list
}

// held returns the cells of a rank that are one place in place, in the order of their addresses there.
func (r *run) held(rank int) (pairs []int) {
	p, want := &r.s.Ranks[rank], &r.want.Ranks[rank]
	if want.InBlock < 0 {
		return []int{}
	}
	d := (want.InBlock - want.OutBlock) * r.s.Chunks // Out's first cell lies d cells after In's
	cellOr := func(buf, at, n int) int {
		if at < 0 || at >= n {
			return -1
		}
		return r.base[buf][rank] + at
	}
	for at := min(0, d); at < max(p.In, d+p.Out); at++ {
		pairs = append(pairs, cellOr(1, at-d, p.Out), cellOr(0, at, p.In))
	}
	return pairs
}

// initialize gives each cell what it holds before the call: the node of its own number, unless it is an input that has
// another name.
func (r *run) initialize() {
	r.mem = make([]int, r.cells)
	for cell := range r.mem {
		r.mem[cell] = cell
	}
	for rank := range r.want.Ranks {
		for b, given := range r.want.Ranks[rank].Given {
			at := r.base[0][rank] + b*r.s.Chunks
			for i := range r.s.Chunks {
				switch {
				case given.Kind != spec.Input:
					r.undefined = append(r.undefined, at+i)
				case given.Terms[0] != (spec.Term{Rank: rank, Block: b}):
					r.mem[at+i] = r.input(given.Terms[0], i)
					r.renamed = append(r.renamed, at+i)
				}
			}
		}
	}
}

// input returns the node of a chunk of an input block.
func (r *run) input(t spec.Term, chunk int) int {
	return r.base[0][t.Rank] + t.Block*r.s.Chunks + chunk
}

// at returns the first cell of a place, -1 of no data.
func (r *run) at(rank int, p gen.Place) int {
	if b := number(p.Buf); b >= 0 {
		return r.base[b][rank] + p.At
	}
	return -1
}
