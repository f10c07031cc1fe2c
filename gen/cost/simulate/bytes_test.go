package simulate

import (
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
)

// TestFootprint works out by hand which bytes four ranks of a host work on that send their block to each other.
func TestFootprint(t *testing.T) {
	for _, tc := range []struct {
		name string
		m    Machine
		want float64
	}{
		{"buffers alone", Machine{Segment: 300}, 4 * 1000},
		{"rings of two segments to three ranks", Machine{Segment: 300, Ring: 2}, 4*1000 + 3*2*300},
		{"segments longer than messages", Machine{Segment: 5000, Ring: 2}, 4*1000 + 3*2*1000},
		{"one ring, because what is put for one is put for all", Machine{Segment: 300, Ring: 2, Near: Path{Share: true}},
			4*1000 + 2*300},
		{"of two ranks for each core", Machine{Segment: 300, Ring: 2, Cores: 2}, 2 * (4*1000 + 3*2*300)},
	} {
		c := call(&catalogue.AllGatherDirect, 4, 1000)
		w := &world{m: &tc.m, call: c, cuts: gen.Cuts{Block: c.Block, Chunks: 1}}
		got, err := w.footprint(func(rank int) program { return gen.Steps(c.Algorithm, c.Params, rank) }, 4)
		if err != nil || got != tc.want {
			t.Errorf("%s: %v, %v, want %v", tc.name, got, err, tc.want)
		}
	}
}

// TestCount: which bytes local actions copy and reduce.
func TestCount(t *testing.T) {
	in, out := gen.Place{Buf: spec.In, N: 1}, gen.Place{Buf: spec.Out, N: 1}
	scratch := gen.Place{Buf: spec.Scratch, N: 1}
	for _, tc := range []struct {
		name            string
		instr           gen.Instr
		inPlace         bool
		copied, reduced int
	}{
		{"a copy", gen.Instr{Kind: gen.CopyInstr, Dst: out, Srcs: []gen.Place{in}}, false, 1000, 0},
		{"a copy to the same memory", gen.Instr{Kind: gen.CopyInstr, Dst: out, Srcs: []gen.Place{in}}, true, 0, 0},
		{"a copy to scratch", gen.Instr{Kind: gen.CopyInstr, Dst: scratch, Srcs: []gen.Place{in}}, true, 1000, 0},
		{"a copy from scratch", gen.Instr{Kind: gen.CopyInstr, Dst: out, Srcs: []gen.Place{scratch}}, true, 1000, 0},
		{"a copy that is read where it comes from",
			gen.Instr{Kind: gen.CopyInstr, Dst: scratch, Srcs: []gen.Place{in}, Lend: true}, false, 0, 0},
		{"a reduction of three", gen.Instr{Kind: gen.ReduceInstr, Dst: out, Srcs: []gen.Place{in, out, scratch}}, false, 0,
			2000},
		{"a reduction of one", gen.Instr{Kind: gen.ReduceInstr, Dst: out, Srcs: []gen.Place{in}}, false, 1000, 0},
	} {
		w, k := &world{call: Call{InPlace: tc.inPlace}, cuts: gen.Cuts{Block: 1000, Chunks: 1}}, &rank{}
		if w.count(k, &tc.instr); k.copied != tc.copied || k.reduced != tc.reduced {
			t.Errorf("%s: %d bytes copied, %d reduced, want %d, %d", tc.name, k.copied, k.reduced, tc.copied, tc.reduced)
		}
	}
}
