package verify_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/ref"
	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
	"github.com/collgen/collgen/verify/colltest"
)

// TestLong makes calls with blocks of 1 to 16 MiB, over every transport: of every primitive, as the table has them, and
// by every algorithm; in place and not; in memory of fast.Alloc and not. Lengths are powers of two in bytes, and an
// element more or less; types and ops take turns. With -short or -race it makes some of them.
func TestLong(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // what is live is large here, and five times of it too much
	for _, size := range []int{2, 3, 5} {
		t.Run(fmt.Sprint("goroutines/", size), func(t *testing.T) {
			checkLong(t, goroutines(size), longCalls(goroutines(size).over(divisions(size)[0][0]), 0))
		})
	}
	for i, by := range transports {
		for _, size := range []int{2, 3, min(5, by.most)} {
			t.Run(fmt.Sprint(by.name, "/", size), func(t *testing.T) {
				checkLong(t, newProcesses(t, size, &by), longCalls(by.over(divisions(size)[0][0]), i+1))
			})
		}
	}
}

func checkLong(t *testing.T, w world, all []longCall) {
	if testing.Short() || raceDetector {
		t.Logf("with -short or -race only every 11th of %d calls", len(all))
		all = everyNth(all, 11)
	}
	for i, v := range all {
		e, err := elements[v.ty].expectLong(v.variant, uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		for rank := range e.calls {
			x := &e.calls[rank]
			if x.Long, x.Alloc = v.long, v.alloc; v.byTable {
				x.Algorithm, x.Depth = "", 0
			}
		}
		inLongProgram(e).check(t, w)
		if t.Failed() {
			t.Fatalf("with blocks of %d elements, in memory of fast.Alloc %v", v.long, v.alloc)
		}
	}
	t.Logf("%d calls", len(all))
}

// inLongProgram returns a program of one call, on the first communicator.
func inLongProgram(e expected) *program {
	p := newProgram(e.p.Size)
	members := divisions(e.p.Size)[0][0]
	number := p.add(members, e)
	for rank, process := range members {
		if x := p.part(number, rank); x.Call.takesPart() {
			p.append(0, process, blocking, x)
		}
	}
	return p
}

// longCall is a variant whose blocks have long elements.
type longCall struct {
	variant
	long  int
	alloc bool
}

// longCalls are, of each algorithm, one in place and one not; and of each primitive, by the table, one for each third
// of the lengths. What else there is to a call is drawn with seed.
func longCalls(of selection.Call, seed int) (all []longCall) {
	random := rand.New(rand.NewPCG(uint64(of.Size), uint64(seed)))
	add := func(a *gen.Algorithm, lengths []int, byTable bool) {
		for _, inPlace := range []bool{false, true} {
			if inPlace && !hasInPlace(a) {
				continue
			}
			v := variant{a: a, p: pick(random, callsOver(of, a, 1, 2, 7)), byTable: byTable, count: period, inPlace: inPlace}
			v.ty = pick(random, spec.Types())
			v.op = pick(random, opsOf(a.Primitive, v.ty))
			if byTable && v.op == spec.OpSum {
				v.op = spec.OpAvg // which is done in two parts
			}
			c := longCall{variant: v, long: longCount(a.Primitive, of.Size, pick(random, lengths), v.ty, random.IntN(3)-1)}
			c.alloc = random.IntN(2) == 0 && a.Primitive.Name != spec.Send.Name // all ranks call Alloc
			all = append(all, c)
		}
	}
	byTable := map[string]bool{}
	for _, a := range algorithmsFor(of) {
		if a.Primitive.In.Blocks.IsAbsent() {
			continue // a barrier
		}
		add(a, longLengths, false)
		if !byTable[a.Primitive.Name] {
			byTable[a.Primitive.Name] = true
			for from := range 3 {
				add(a, longLengths[2*from:][:2], true)
			}
		}
	}
	return all
}

func pick[E any](random *rand.Rand, from []E) E { return from[random.IntN(len(from))] }

// longLengths are bytes of a block, in pairs.
var longLengths = []int{1 << 20, 1 << 20, 1 << 21, 1 << 22, 1 << 23, 1 << 24}

// longCount returns the elements of a block of so many bytes, and more. A buffer of several blocks has at most 20 MiB.
func longCount(p spec.Primitive, size, bytes int, ty spec.Type, more int) int {
	x, err := spec.Expect(p, spec.Call{Size: size, Peer: 1})
	if err != nil {
		panic(err)
	}
	blocks := 1
	for _, r := range x.Ranks {
		blocks = max(blocks, len(r.In), len(r.Out))
	}
	for blocks*bytes > 20<<20 {
		bytes /= 2
	}
	return bytes/ty.Bytes() + more
}

// expectLong returns what v leaves of blocks of one period.
func (of[T]) expectLong(v variant, seed uint64) (expected, error) {
	step := colltest.Step{Primitive: v.a.Primitive.Name, Type: v.ty, Root: v.p.Root, Peer: v.p.Peer, Count: v.count,
		InPlace: v.inPlace}
	step.Values = colltest.Values{Kind: spectest.AnyBits, Seed: seed}
	step.Lead = int(seed % 18)
	reduces := slices.Contains(v.a.Primitive.Params, spec.ParamOp)
	if reduces {
		step.Op = v.op
	}
	calls, err := step.Arrange(v.p.Size)
	if err != nil {
		return expected{}, err
	}
	random, in := rand.New(rand.NewPCG(seed, 7)), make([][]T, v.p.Size)
	for r, c := range calls {
		if c == nil {
			continue
		}
		mine := colltest.As[T](c.In())
		if reduces {
			exact(random, v.op, mine)
		}
		in[r] = slices.Clone(mine)
	}
	want, err := ref.Call[T]{In: in, Op: v.op, Root: v.p.Root, Peer: v.p.Peer}.Run(v.a.Primitive.Name)
	e := expected{variant: v}
	for r, c := range calls {
		call, left := v.rankCall(c), rankResult{}
		if c != nil {
			after := c.Clone()
			copy(colltest.As[T](after.Out()), want[r])
			left.Memory = call.plain(after.Memory)
		}
		e.calls, e.want = append(e.calls, call), append(e.want, left)
	}
	return e, err
}

// exact makes floats such that no order of the operands makes a difference to what op makes of them: small whole
// numbers, of products ±1 and ±2, and of complex products so many times 2 + i, since no part of a power of that is
// zero: the sign of a zero depends on the order. Integers stay as they are.
func exact[T spec.Elem](random *rand.Rand, op spec.Op, data []T) {
	for i := range data {
		k := float32(random.IntN(17) - 8)
		z := complex(k, 1)
		if op == spec.OpProd {
			k = []float32{-2, -1, 1, 2}[random.IntN(4)]
			z = complex(2*k, k)
		}
		short := max(-1, min(k, 1)) // of which even 8 bits hold sums and products of all ranks
		switch x := any(&data[i]).(type) {
		case *spec.Float16:
			*x = spec.NewFloat16(k)
		case *spec.BFloat16:
			*x = spec.NewBFloat16(k)
		case *spec.Float8E4M3:
			*x = spec.NewFloat8E4M3(short)
		case *spec.Float8E5M2:
			*x = spec.NewFloat8E5M2(short)
		case *float32:
			*x = k
		case *float64:
			*x = float64(k)
		case *complex64:
			*x = z
		case *complex128:
			*x = complex128(z)
		}
	}
}

// TestLongIsCompared: a wrong byte anywhere in long buffers, or around them, is seen.
func TestLongIsCompared(t *testing.T) {
	seen := 0
	for _, c := range longCalls(goroutines(3).over([]int{0, 1, 2}), 0) {
		e, err := elements[c.ty].expectLong(c.variant, 3)
		if err != nil {
			t.Fatal(err)
		}
		for rank := range e.calls {
			x := &e.calls[rank]
			if x.Long = 3*period + 5; !x.takesPart() {
				continue
			}
			b := elements[c.ty].arrange(t.Context(), new(fast.Comm), x)
			if r := b.result(nil); r.Err != "" || !bytes.Equal(r.Memory, x.Memory) {
				t.Fatalf("%v, rank %d, as it was: %s", &c, rank, r.Err)
			}
			memory := b.(interface{ memory() []byte }).memory()
			for i := 0; i < len(memory); i += 601 {
				memory[i] ^= 1
				if b.result(nil).Err == "" {
					t.Fatalf("%v, rank %d: byte %d of %d is wrong, and that is not seen", &c, rank, i, len(memory))
				}
				memory[i] ^= 1
				seen++
			}
			b.release()
		}
	}
	if seen == 0 {
		t.Error("nothing was tried")
	}
}
