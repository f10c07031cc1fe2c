package induct

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// orElse evaluates e, or is otherwise where e is absent.
func (f *frame) orElse(e, otherwise expr) expr {
	if e.IsAbsent() {
		return otherwise
	}
	return f.eval(e)
}

// on reports whether this rank passes buf.
func (f *frame) on(buf spec.Buf) expr {
	b, ok := f.c.buffer(buf)
	if !ok {
		return yes
	}
	if b.Blocks.IsAbsent() {
		return no
	}
	return f.orElse(b.On, yes)
}

func (c *context) buffer(buf spec.Buf) (spec.Buffer, bool) {
	switch buf {
	case spec.In:
		return c.a.Primitive.In, true
	case spec.Out:
		return c.a.Primitive.Out, true
	}
	return spec.Buffer{}, false
}

// length returns how many cells buf has on this rank, if it passes it.
func (f *frame) length(buf spec.Buf) expr {
	switch b, ok := f.c.buffer(buf); {
	case ok && b.Blocks.IsAbsent():
		return zero
	case ok:
		return f.product(f.eval(b.Blocks), f.chunks())
	case buf == gen.Heard:
		return spec.Size
	}
	return f.orElse(f.c.a.Scratch, zero)
}

func (f *frame) chunks() expr { return f.orElse(f.c.a.Chunks, one) }

// shift returns how many cells after the start of Out In starts, in place.
func (f *frame) shift() expr {
	p := f.c.a.Primitive.InPlace
	return f.product(sub(f.eval(p.OutBlock), f.eval(p.InBlock)), f.chunks())
}

// shared reports whether In and Out of this rank are one memory.
func (f *frame) shared() expr {
	if !f.c.o.InPlace {
		return no
	}
	return and(f.on(spec.In), f.on(spec.Out))
}
