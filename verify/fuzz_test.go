package verify_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// FuzzSchedule: whatever a plan says, the checker gives a report or an error, and soon.
func FuzzSchedule(f *testing.F) {
	for i := range 8 {
		f.Add([]byte{byte(i), 2, 1, 2, 0, 1, 3, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 1, 1, 0, 0, 0, 0, 1})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4096 {
			return
		}
		r := &reader{data}
		checkAll(r.schedule())
	})
}

// reader makes numbers, most of them small, out of bytes. Past the end there are zeros.
type reader struct{ data []byte }

func (r *reader) byte() int {
	if len(r.data) == 0 {
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return int(b)
}

// number is mostly 0..63; a byte from 0xf0 on stands for something far out.
func (r *reader) number() int {
	switch b := r.byte(); {
	case b >= 0xfd:
		return [...]int{math.MaxInt, math.MinInt, math.MaxInt32}[b-0xfd]
	case b >= 0xf8:
		var wide [8]byte
		r.data = r.data[copy(wide[:], r.data):]
		return int(binary.LittleEndian.Uint64(wide[:]))
	case b >= 0xf0:
		return 0xf0 - b - 1
	default:
		return b % 64
	}
}

func (r *reader) schedule() *gen.Schedule {
	primitives := append(spec.Primitives(), nothing, meets)
	s := &gen.Schedule{Algorithm: "hostile", Primitive: primitives[r.byte()%len(primitives)]}
	s.Ranks = make([]gen.Program, r.byte()%8)
	s.Size, s.Chunks = len(s.Ranks), 1
	if r.byte() >= 0xf0 {
		s.Size, s.Chunks, s.Root, s.Peer = r.number(), r.number(), r.number(), r.number()
	}
	for rank := range s.Ranks {
		r.program(s, rank)
	}
	return s
}

// program reads one, with buffers that are right, as a rule.
func (r *reader) program(s *gen.Schedule, rank int) {
	p := &s.Ranks[rank]
	in, _ := s.Primitive.In.Len(s.Env(rank))
	out, _ := s.Primitive.Out.Len(s.Env(rank))
	p.In, p.Out, p.Scratch = in*s.Chunks, out*s.Chunks, r.byte()%4
	if r.byte() >= 0xf0 {
		p.In, p.Out, p.Scratch = r.number(), r.number(), r.number()
	}
	for range r.byte() % 16 {
		p.Instrs = append(p.Instrs, r.instr(len(p.Instrs)))
	}
}

func (r *reader) instr(index int) gen.Instr {
	x := gen.Instr{Kind: gen.Kind(r.byte() % 8), AfterSend: -1}
	flags := r.byte()
	x.ReceivedFirst = flags&1 != 0
	if flags&2 != 0 {
		x.AfterSend = r.number()
	}
	if flags&4 != 0 {
		x.Channel = r.number()
	}
	for range flags >> 3 & 3 {
		x.After = append(x.After, r.number())
	}
	if flags&32 != 0 && index > 0 {
		x.After = append(x.After, index-1)
	}
	if x.Kind != gen.JoinInstr && x.Kind != gen.SendInstr || flags&64 != 0 {
		x.Dst = r.place()
	}
	x.Peer, x.Step = r.number(), r.number()
	for range sources(x.Kind, flags>>6) {
		x.Srcs = append(x.Srcs, r.place())
	}
	return x
}

func sources(k gen.Kind, otherwise int) int {
	switch k {
	case gen.SendInstr, gen.RecvReduceInstr, gen.CopyInstr:
		return 1
	case gen.ReduceInstr:
		return otherwise
	}
	return 0
}

func (r *reader) place() gen.Place {
	bufs := [...]spec.Buf{spec.In, spec.Out, spec.Scratch, ""}
	switch b := r.byte(); {
	case b >= 0xf0:
		return gen.Place{Buf: bufs[b%4], At: r.number(), N: r.number(), Like: r.number()}
	case b%4 == 3:
		return gen.Place{}
	default:
		return gen.Place{Buf: bufs[b%4], At: b >> 2 % 4, N: 1}
	}
}
