package kernel

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
)

// longest is how many bytes operands have at most: more than two of the largest pieces that any kernel takes at a time,
// and a rest.
const longest = 1200

// layout says where in the arena the result and the operands of n bytes begin, counted in operands from the first one.
// All are neighbours: what is written, or used, beyond an operand's end shows in another one, or beyond the arena.
type layout struct {
	name      string
	dst, a, b int
}

var layouts = []layout{
	{"dst, a, b", 0, 1, 2},
	{"a, dst, b", 1, 0, 2},
	{"b, a, dst", 2, 1, 0},
	{"dst is a", 0, 0, 1},
	{"dst is b", 0, 1, 0},
	{"a is b", 1, 0, 0},
	{"all are the same", 0, 0, 0},
}

// operands returns how many different ones the layout has.
func (l layout) operands() int { return 1 + max(l.dst, l.a, l.b) }

// checkKernel compares a kernel with the reference: values of all kinds; every number of elements up to longest bytes;
// in every layout; from the beginning of memory, with several alignments, and up to its end.
func checkKernel(k wire.Kernel, op spec.Op, typ spec.Type) error {
	random := rand.New(rand.NewPCG(uint64(op), uint64(typ)))
	if err := checkValues(k, op, typ, random); err != nil {
		return err
	}
	arena := newField(3*longest + 64)
	defer arena.free()
	size := typ.Bytes()
	a, b := make([]byte, longest), make([]byte, longest)
	kinds[typ].fill(random, spectest.Mixed, a)
	kinds[typ].fill(random, spectest.Mixed, b)
	ab, aa := make([]byte, longest), make([]byte, longest)
	kinds[typ].combine(op, ab, a, b)
	kinds[typ].combine(op, aa, a, a)
	for _, l := range layouts {
		want := ab
		if l.a == l.b {
			want = aa
		}
		for n := 0; n <= longest; n += size {
			end := len(arena.memory) - l.operands()*n
			for _, from := range []int{0, size, 64 - size, end} {
				if err := checkCall(k, l, arena, from, a[:n], b[:n], want[:n], typ); err != nil {
					return fmt.Errorf("%s, from byte %d of the arena: %w", l.name, from, err)
				}
			}
		}
	}
	return nil
}

// field is an arena, what it is filled with before a call, and what it then has to be but for the result.
type field struct {
	memory, pattern, before []byte
	free                    func()
}

func newField(bytes int) field {
	memory, free := newArena(bytes)
	f := field{memory, make([]byte, len(memory)), make([]byte, len(memory)), free}
	for i := range f.pattern {
		f.pattern[i] = byte(i*7 + i>>8)
	}
	return f
}

// checkCall makes one call in the arena, whose other memory has to stay as it is.
func checkCall(k wire.Kernel, l layout, arena field, from int, a, b, want []byte, typ spec.Type) error {
	n := len(a)
	in := func(memory []byte, operand int) []byte { return memory[from+operand*n:][:n] }
	copy(arena.memory, arena.pattern)
	copy(in(arena.memory, l.b), b)
	copy(in(arena.memory, l.a), a)
	copy(arena.before, arena.memory)
	dst := in(arena.memory, l.dst)
	k(dst, in(arena.memory, l.a), in(arena.memory, l.b))
	if err := kinds[typ].difference(typ.Bytes(), dst, want); err != nil {
		return err
	}
	copy(dst, in(arena.before, l.dst))
	if !bytes.Equal(arena.memory, arena.before) {
		return fmt.Errorf("%d bytes: memory other than the result has changed", n)
	}
	return nil
}

// checkValues compares results of many values, special ones and random ones.
func checkValues(k wire.Kernel, op spec.Op, typ spec.Type, random *rand.Rand) error {
	n := 5000 * typ.Bytes()
	a, b, got, want := make([]byte, n), make([]byte, n), make([]byte, n), make([]byte, n)
	for _, values := range []spectest.Kind{spectest.Ordinary, spectest.Special, spectest.AnyBits, spectest.Mixed} {
		kinds[typ].fill(random, values, a)
		kinds[typ].fill(random, values, b)
		kinds[typ].combine(op, want, a, b)
		k(got, a, b)
		if err := kinds[typ].difference(typ.Bytes(), got, want); err != nil {
			return fmt.Errorf("kind %d: %w", values, err)
		}
	}
	return nil
}

// sizes are numbers of ranks: of all types, those that the type can hold, just cannot, and far from it.
var sizes = fitting([]uint64{1, 2, 3, 5, 7, 64, 100, 127, 128, 129, 255, 256, 1000, 32767, 32768, 65535, 65536, 70000,
	1<<24 + 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1<<53 + 1, 1<<63 - 1})

// fitting returns the numbers that an int can hold.
func fitting(numbers []uint64) (fit []int) {
	for _, n := range numbers {
		if n <= math.MaxInt {
			fit = append(fit, int(n))
		}
	}
	return fit
}

// checkDivision compares what finishes a reduction with the reference, as checkKernel does.
func checkDivision(finish division, op spec.Op, typ spec.Type) error {
	random := rand.New(rand.NewPCG(uint64(op), uint64(typ)))
	arena := newField(longest + 64)
	defer arena.free()
	size := typ.Bytes()
	for i, ranks := range sizes {
		data := make([]byte, 4*longest)
		kinds[typ].fill(random, spectest.Kind(i)%(spectest.Mixed+1), data)
		want := bytes.Clone(data)
		kinds[typ].finish(op, want, ranks)
		got := bytes.Clone(data)
		finish(got, ranks)
		if err := kinds[typ].difference(size, got, want); err != nil {
			return fmt.Errorf("divided by %d: %w", ranks, err)
		}
	}
	data := make([]byte, longest)
	kinds[typ].fill(random, spectest.Mixed, data)
	want := bytes.Clone(data)
	kinds[typ].finish(op, want, 3)
	l := layout{"in place", 0, 0, 0}
	inPlace := func(dst, _, _ []byte) { finish(dst, 3) }
	for n := 0; n <= longest; n += size {
		for _, from := range []int{0, size, 64 - size, len(arena.memory) - n} {
			if err := checkCall(inPlace, l, arena, from, data[:n], data[:n], want[:n], typ); err != nil {
				return fmt.Errorf("from byte %d of the arena: %w", from, err)
			}
		}
	}
	return nil
}
