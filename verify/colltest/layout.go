package colltest

import (
	"bytes"
	"fmt"

	"github.com/collgen/collgen/spec"
)

// leastGuard is the least number of known bytes before, between and after buffers. It is more than the longest vector.
// MostGuard is a limit so that a handwritten Case cannot take all memory.
const leastGuard, mostGuard = 128, 1 << 20

// mostRepeat is a limit for a handwritten Case, too.
const mostRepeat = 1 << 17

// pattern is what memory contains at first, again and again. Its bytes differ, so that moved data is noticed.
var pattern = func() (all [256]byte) {
	for i := range all {
		all[i] = byte(0xa5 ^ i*29)
	}
	return all
}()

// layout has the offsets of In and Out in a rank's Memory, and its length, in bytes.
type layout struct{ inAt, outAt, bytes int }

// layout returns the layout of a rank's buffers, lead elements off their alignment.
func (s *Step) layout(rank int, r *spec.RankExpectation, sh shape, lead int) layout {
	size, guard := s.Type.Bytes(), max(s.Guard, leastGuard)
	inBytes, outBytes := span(sh.in[rank], sh.inStarts[rank])*size, span(sh.out[rank], sh.outStarts[rank])*size
	inAt := guard + lead*size
	if s.InPlace && r.InBlock >= 0 {
		shift := (sh.inStarts[rank][r.InBlock] - sh.outStarts[rank][r.OutBlock]) * size // of Out from In
		l := layout{inAt: inAt + max(-shift, 0), outAt: inAt + max(shift, 0)}
		l.bytes = max(l.inAt+inBytes, l.outAt+outBytes) + guard
		return l
	}
	end := inAt + inBytes + guard
	outAt := (end+alignment-1)/alignment*alignment + lead/2*size
	return layout{inAt, outAt, outAt + outBytes + guard}
}

// arrange returns the rank's part of the call, with its inputs.
func (s *Step) arrange(rank int, r *spec.RankExpectation, sh shape, inputs [][]byte) *Call {
	lead := s.Lead * (rank + 1) % 18
	l := s.layout(rank, r, sh, lead)
	c := &Call{Primitive: s.Primitive, Type: s.Type, Op: s.Op, Root: s.Root, Peer: s.Peer, Comm: s.Comm, Tag: s.Tag,
		InPlace: s.InPlace, Uneven: s.Counts != nil || s.Displaced != 0,
		Memory: Aligned(l.bytes), InAt: l.inAt, OutAt: l.outAt}
	if len(r.In) > 0 {
		c.InCounts = sh.in[rank]
	}
	if len(r.Out) > 0 {
		c.OutCounts = sh.out[rank]
	}
	if s.Displaced != 0 && len(r.In) > 1 {
		c.InStarts = sh.inStarts[rank]
	}
	if s.Displaced != 0 && len(r.Out) > 1 {
		c.OutStarts = sh.outStarts[rank]
	}
	for at := 0; at < l.bytes; at += len(pattern) {
		copy(c.Memory[at:], pattern[:])
	}
	if s.Type == spec.TypeBool { // Out too: what stays as it was has to be some then
		for i := range c.Out() {
			c.Out()[i] &= 1
		}
	}
	for b, block := range inputs {
		copy(c.Memory[l.inAt+sh.inStarts[rank][b]*s.Type.Bytes():], block)
	}
	return c
}

// strayed returns in words where memory outside the blocks of In and Out has changed, or "" if it has not.
func (c *Call) strayed(after []byte) string {
	expected := bytes.Clone(c.Memory)
	was, is := *c, *c
	was.Memory, is.Memory = expected, after
	for b := range c.InCounts {
		copy(was.InBlock(b), is.InBlock(b))
	}
	for b := range c.OutCounts {
		copy(was.OutBlock(b), is.OutBlock(b))
	}
	if bytes.Equal(expected, after) {
		return ""
	}
	i := 0
	for expected[i] == after[i] {
		i++
	}
	where, at := "in", i-c.InAt
	if c.InCounts == nil || c.OutCounts != nil && distance(i, c.OutAt, len(c.Out())) < distance(i, c.InAt, len(c.In())) {
		where, at = "out", i-c.OutAt
	}
	text := fmt.Sprintf("memory outside of the blocks has changed, at byte %d from the beginning of %s: % x, was % x",
		at, where, excerpt(after[i:]), excerpt(c.Memory[i:]))
	if after[i] == ^expected[i] {
		text += "; or it was put back to what it was before, though its owner had changed it during the call"
	}
	return text
}

// distance returns the distance of i from the n bytes at at.
func distance(i, at, n int) int { return max(at-i, i-at-n, 0) }

func excerpt(b []byte) []byte { return b[:min(len(b), 8)] }

// Clone returns a copy of c with its own memory, aligned in the same way.
func (c *Call) Clone() *Call {
	d := *c
	d.Memory = Aligned(len(c.Memory))
	copy(d.Memory, c.Memory)
	return &d
}

// changed reports whether the n bytes from at on differ from those in Memory.
func (c *Call) changed(after []byte, at, n int) bool {
	return !bytes.Equal(after[at:at+n], c.Memory[at:at+n])
}
