package emittest

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/access"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/spec"
)

// The functions that programs call are what the specification says: each is called with buffers of the right lengths,
// after which the algorithm has to get them, and everything else that was passed; and with others, which have to be
// refused.

type (
	ints     = []int32
	function func(ctx context.Context, c *fast.Comm, dst, src ints, op fast.Op, root int) error
)

// functions are all that are generated for programs to call. Of those in place dst is the buffer.
var functions = map[string]function{
	"AllGather": func(ctx context.Context, c *fast.Comm, dst, _ ints, _ fast.Op, _ int) error {
		return fast.AllGather(ctx, c, dst)
	},
	"AllGatherInto": func(ctx context.Context, c *fast.Comm, dst, src ints, _ fast.Op, _ int) error {
		return fast.AllGatherInto(ctx, c, dst, src)
	},
	"AllReduce": func(ctx context.Context, c *fast.Comm, dst, _ ints, op fast.Op, _ int) error {
		return fast.AllReduce(ctx, c, dst, op)
	},
	"AllReduceInto": func(ctx context.Context, c *fast.Comm, dst, src ints, op fast.Op, _ int) error {
		return fast.AllReduceInto(ctx, c, dst, src, op)
	},
	"AllToAll": func(ctx context.Context, c *fast.Comm, dst, _ ints, _ fast.Op, _ int) error {
		return fast.AllToAll(ctx, c, dst)
	},
	"AllToAllInto": func(ctx context.Context, c *fast.Comm, dst, src ints, _ fast.Op, _ int) error {
		return fast.AllToAllInto(ctx, c, dst, src)
	},
	"Barrier": func(ctx context.Context, c *fast.Comm, _, _ ints, _ fast.Op, _ int) error {
		return fast.Barrier(ctx, c)
	},
	"Broadcast": func(ctx context.Context, c *fast.Comm, dst, _ ints, _ fast.Op, root int) error {
		return fast.Broadcast(ctx, c, dst, root)
	},
	"BroadcastInto": func(ctx context.Context, c *fast.Comm, dst, src ints, _ fast.Op, root int) error {
		return fast.BroadcastInto(ctx, c, dst, src, root)
	},
	"Exscan": func(ctx context.Context, c *fast.Comm, dst, _ ints, op fast.Op, _ int) error {
		return fast.Exscan(ctx, c, dst, op)
	},
	"ExscanInto": func(ctx context.Context, c *fast.Comm, dst, src ints, op fast.Op, _ int) error {
		return fast.ExscanInto(ctx, c, dst, src, op)
	},
	"Gather": func(ctx context.Context, c *fast.Comm, dst, _ ints, _ fast.Op, root int) error {
		return fast.Gather(ctx, c, dst, root)
	},
	"GatherInto": func(ctx context.Context, c *fast.Comm, dst, src ints, _ fast.Op, root int) error {
		return fast.GatherInto(ctx, c, dst, src, root)
	},
	"Reduce": func(ctx context.Context, c *fast.Comm, dst, _ ints, op fast.Op, root int) error {
		return fast.Reduce(ctx, c, dst, op, root)
	},
	"ReduceInto": func(ctx context.Context, c *fast.Comm, dst, src ints, op fast.Op, root int) error {
		return fast.ReduceInto(ctx, c, dst, src, op, root)
	},
	"ReduceScatter": func(ctx context.Context, c *fast.Comm, dst, _ ints, op fast.Op, _ int) error {
		return fast.ReduceScatter(ctx, c, dst, op)
	},
	"ReduceScatterInto": func(ctx context.Context, c *fast.Comm, dst, src ints, op fast.Op, _ int) error {
		return fast.ReduceScatterInto(ctx, c, dst, src, op)
	},
	"Scan": func(ctx context.Context, c *fast.Comm, dst, _ ints, op fast.Op, _ int) error {
		return fast.Scan(ctx, c, dst, op)
	},
	"ScanInto": func(ctx context.Context, c *fast.Comm, dst, src ints, op fast.Op, _ int) error {
		return fast.ScanInto(ctx, c, dst, src, op)
	},
	"Scatter": func(ctx context.Context, c *fast.Comm, dst, _ ints, _ fast.Op, root int) error {
		return fast.Scatter(ctx, c, dst, root)
	},
	"ScatterInto": func(ctx context.Context, c *fast.Comm, dst, src ints, _ fast.Op, root int) error {
		return fast.ScatterInto(ctx, c, dst, src, root)
	},
	"StartAllGather": func(ctx context.Context, c *fast.Comm, dst, _ ints, _ fast.Op, _ int) error {
		return fast.StartAllGather(ctx, c, dst).Wait(ctx)
	},
	"StartAllGatherInto": func(ctx context.Context, c *fast.Comm, dst, src ints, _ fast.Op, _ int) error {
		return fast.StartAllGatherInto(ctx, c, dst, src).Wait(ctx)
	},
	"StartAllReduce": func(ctx context.Context, c *fast.Comm, dst, _ ints, op fast.Op, _ int) error {
		return fast.StartAllReduce(ctx, c, dst, op).Wait(ctx)
	},
	"StartAllReduceInto": func(ctx context.Context, c *fast.Comm, dst, src ints, op fast.Op, _ int) error {
		return fast.StartAllReduceInto(ctx, c, dst, src, op).Wait(ctx)
	},
	"StartAllToAll": func(ctx context.Context, c *fast.Comm, dst, _ ints, _ fast.Op, _ int) error {
		return fast.StartAllToAll(ctx, c, dst).Wait(ctx)
	},
	"StartAllToAllInto": func(ctx context.Context, c *fast.Comm, dst, src ints, _ fast.Op, _ int) error {
		return fast.StartAllToAllInto(ctx, c, dst, src).Wait(ctx)
	},
	"StartBarrier": func(ctx context.Context, c *fast.Comm, _, _ ints, _ fast.Op, _ int) error {
		return fast.StartBarrier(ctx, c).Wait(ctx)
	},
	"StartBroadcast": func(ctx context.Context, c *fast.Comm, dst, _ ints, _ fast.Op, root int) error {
		return fast.StartBroadcast(ctx, c, dst, root).Wait(ctx)
	},
	"StartBroadcastInto": func(ctx context.Context, c *fast.Comm, dst, src ints, _ fast.Op, root int) error {
		return fast.StartBroadcastInto(ctx, c, dst, src, root).Wait(ctx)
	},
	"StartExscan": func(ctx context.Context, c *fast.Comm, dst, _ ints, op fast.Op, _ int) error {
		return fast.StartExscan(ctx, c, dst, op).Wait(ctx)
	},
	"StartExscanInto": func(ctx context.Context, c *fast.Comm, dst, src ints, op fast.Op, _ int) error {
		return fast.StartExscanInto(ctx, c, dst, src, op).Wait(ctx)
	},
	"StartGather": func(ctx context.Context, c *fast.Comm, dst, _ ints, _ fast.Op, root int) error {
		return fast.StartGather(ctx, c, dst, root).Wait(ctx)
	},
	"StartGatherInto": func(ctx context.Context, c *fast.Comm, dst, src ints, _ fast.Op, root int) error {
		return fast.StartGatherInto(ctx, c, dst, src, root).Wait(ctx)
	},
	"StartReduce": func(ctx context.Context, c *fast.Comm, dst, _ ints, op fast.Op, root int) error {
		return fast.StartReduce(ctx, c, dst, op, root).Wait(ctx)
	},
	"StartReduceInto": func(ctx context.Context, c *fast.Comm, dst, src ints, op fast.Op, root int) error {
		return fast.StartReduceInto(ctx, c, dst, src, op, root).Wait(ctx)
	},
	"StartReduceScatter": func(ctx context.Context, c *fast.Comm, dst, _ ints, op fast.Op, _ int) error {
		return fast.StartReduceScatter(ctx, c, dst, op).Wait(ctx)
	},
	"StartReduceScatterInto": func(ctx context.Context, c *fast.Comm, dst, src ints, op fast.Op, _ int) error {
		return fast.StartReduceScatterInto(ctx, c, dst, src, op).Wait(ctx)
	},
	"StartScan": func(ctx context.Context, c *fast.Comm, dst, _ ints, op fast.Op, _ int) error {
		return fast.StartScan(ctx, c, dst, op).Wait(ctx)
	},
	"StartScanInto": func(ctx context.Context, c *fast.Comm, dst, src ints, op fast.Op, _ int) error {
		return fast.StartScanInto(ctx, c, dst, src, op).Wait(ctx)
	},
	"StartScatter": func(ctx context.Context, c *fast.Comm, dst, _ ints, _ fast.Op, root int) error {
		return fast.StartScatter(ctx, c, dst, root).Wait(ctx)
	},
	"StartScatterInto": func(ctx context.Context, c *fast.Comm, dst, src ints, _ fast.Op, root int) error {
		return fast.StartScatterInto(ctx, c, dst, src, root).Wait(ctx)
	},
}

// primitiveOf returns the primitive that a function is for, and whether it takes two buffers.
func primitiveOf(name string) (p spec.Primitive, into bool) {
	base := strings.TrimPrefix(name, "Start")
	base, into = strings.CutSuffix(base, "Into")
	i := slices.IndexFunc(spec.Primitives(), func(p spec.Primitive) bool { return p.Name == base })
	return spec.Primitives()[i], into
}

// got is what an algorithm was called with.
type got struct {
	in, out, opsRoot string
	calls            int
}

// listen has the collective's algorithms note what they are called with, until the function that it returns is called.
func listen(k *exec.Collective, g *got) (restore func()) {
	algorithms, rules := k.Algorithms, k.Rules
	k.Algorithms, k.Rules = []exec.Algorithm{{Name: "listen", Proved: exec.Proved{Every: true},
		Run: func(_ context.Context, x *exec.Call) error {
			g.calls++
			g.in, g.out, g.opsRoot = whereIs(x.In.Data), whereIs(x.Out.Data), fmt.Sprint(x.Count, x.Op, x.Root)
			return nil
		}}}, nil
	return func() { k.Algorithms, k.Rules = algorithms, rules }
}

// whereIs says which memory b is.
func whereIs(b []byte) string {
	if len(b) == 0 {
		return "none"
	}
	return fmt.Sprint(len(b), "bytes at", uintptr(unsafe.Pointer(unsafe.SliceData(b))))
}

// shape is how many blocks a rank passes, -1 where it passes none, where In and Out meet in place, and the op that is
// passed on.
type shape struct {
	in, out, inBlock, outBlock int
	op                         fast.Op
}

func shapeOf(p spec.Primitive, size, rank, root int) (s shape, refused bool) {
	env := spec.Env{{Name: "rank", Value: rank}, {Name: "size", Value: size}, {Name: "root", Value: root}}
	value := func(e spec.Expr, absent int) int {
		if e.IsAbsent() {
			return absent
		}
		n, err := e.Eval(env)
		if err != nil {
			panic(err)
		}
		return n
	}
	for _, e := range p.Errors {
		refused = refused || value(e.When, 0) != 0
	}
	blocks := func(b spec.Buffer) int {
		if value(b.On, 1) == 0 {
			return -1
		}
		return value(b.Blocks, -1)
	}
	s = shape{in: blocks(p.In), out: blocks(p.Out), inBlock: value(p.InPlace.InBlock, -1),
		outBlock: value(p.InPlace.OutBlock, -1)}
	if slices.Contains(p.Params, spec.ParamOp) {
		s.op = fast.Max
	}
	return s, refused
}

// legal returns the number of elements of a block, if there is one with which buffers of these lengths are right.
func (s shape) legal(out, in int) (count int, ok bool) {
	for count = range max(out, in) + 1 {
		if (s.in < 0 || in == s.in*count) && (s.out < 0 || out == s.out*count) {
			return count, true
		}
	}
	return 0, false
}

// callFault returns the first call of a function that does not do what the specification says.
func callFault(name string) (calls int, fault string) {
	if unevenFunctions[name] != nil {
		return unevenCallFault(name)
	}
	p, into := primitiveOf(name)
	var g got
	defer listen(collectiveOf(p.Name), &g)()
	for size := 1; size <= 4; size++ {
		roots := []int{0}
		if slices.Contains(p.Params, spec.ParamRoot) {
			roots = []int{-1, 0, 1, 2, 3, 4, 5}
		}
		for rank := range size {
			c := access.Fast.CommOver(rank, size, &failing{actor: &actor{}}).(*fast.Comm)
			for _, root := range roots {
				s, refused := shapeOf(p, size, rank, root)
				for _, try := range s.tries(into) {
					calls++
					if words := try.perform(functions[name], c, s, refused, root, &g); words != "" {
						return calls, fmt.Sprintf("%s, rank %d of %d, root %d, %+v: %s", name, rank, size, root, try, words)
					}
				}
			}
			_ = c.Close()
		}
	}
	return calls, ""
}

// try is a call with buffers of so many elements. Those of both share memory from elements alias of each on, if that is
// not negative.
type try struct {
	into              bool
	out, in           int
	aliasOut, aliasIn int
}

// blockOfTries is the number of elements of a block of calls that are right.
const blockOfTries = 3

// tries makes calls with buffers of right and wrong lengths.
func (s shape) tries(into bool) (all []try) {
	const count = blockOfTries
	in, out := max(s.in, 0)*count, max(s.out, 0)*count
	if !into {
		whole := max(in, out)
		return []try{{false, whole, 0, -1, -1}, {false, whole + 1, 0, -1, -1}, {false, max(whole-1, 0), 0, -1, -1},
			{false, 0, 0, -1, -1}}
	}
	for _, x := range []int{out, out - 1, out + 1, out + count, 0} {
		for _, y := range []int{in, in - 1, in + 1, in + count, 0} {
			if x >= 0 && y >= 0 {
				all = append(all, try{true, x, y, -1, -1})
			}
		}
	}
	if s.inBlock >= 0 && s.outBlock >= 0 && in > 0 && out > 0 {
		for _, off := range []int{0, 1, -1} {
			if a, b := s.outBlock*count+off, s.inBlock*count; a >= 0 {
				all = append(all, try{true, out, in, a, b})
			}
		}
	}
	return all
}

// perform makes the call and compares.
func (y try) perform(f function, c *fast.Comm, s shape, refused bool, root int, g *got) (fault string) {
	memory := make(ints, y.out+y.in+16)
	dst, src := memory[:y.out:y.out], memory[y.out+8:][:y.in:y.in]
	if y.aliasOut >= 0 {
		from := max(y.aliasIn-y.aliasOut, 0)
		dst, src = memory[from:][:y.out:y.out], memory[from+y.aliasOut-y.aliasIn:][:y.in:y.in]
	}
	var want got
	if !refused {
		var ok bool
		want, ok = y.expected(s, dst, src, root)
		refused = !ok || y.aliasOut >= 0 && y.aliasOut-y.aliasIn != (s.outBlock-s.inBlock)*blockOfTries
	}
	*g = got{}
	defer func() {
		if r := recover(); r != nil {
			fault = fmt.Sprintf("panics: %v", r)
		}
	}()
	switch err := f(context.Background(), c, dst, src, fast.Max, root); {
	case refused && (!errors.Is(err, fast.ErrInvalidArgument) || g.calls > 0):
		return fmt.Sprintf("is to be refused, and ends with %v after %d calls of the algorithm", err, g.calls)
	case refused:
		return ""
	case err != nil || g.calls != 1:
		return fmt.Sprintf("fails with %v after %d calls of the algorithm", err, g.calls)
	case *g != want:
		return fmt.Sprintf("the algorithm gets %+v, want %+v", *g, want)
	}
	return ""
}

// expected returns what the algorithm is to get, if the lengths are right.
func (y try) expected(s shape, dst, src ints, root int) (g got, ok bool) {
	in, out := src, dst
	if !y.into {
		blocks := max(s.in, s.out, 0)
		count := 0
		if blocks > 0 {
			if count = len(dst) / blocks; count*blocks != len(dst) {
				return g, false
			}
		}
		in, out = dst, dst // of which one may be a part of the other
		if s.in >= 0 && s.in < s.out {
			in = dst[(s.outBlock-s.inBlock)*count:][:s.in*count]
		} else if s.out >= 0 && s.out < s.in {
			out = dst[(s.inBlock-s.outBlock)*count:][:s.out*count]
		}
	}
	if s.in < 0 {
		in = nil
	}
	if s.out < 0 {
		out = nil
	}
	count, ok := s.legal(len(out), len(in))
	return got{whereIs(exec.Bytes(in)), whereIs(exec.Bytes(out)), fmt.Sprint(count, s.op, root), 1}, ok
}

// TestCallsAreTheSpecification makes calls of all functions.
func TestCallsAreTheSpecification(t *testing.T) {
	for _, name := range slices.Concat(slices.Collect(maps.Keys(functions)), slices.Collect(maps.Keys(unevenFunctions))) {
		calls, fault := callFault(name)
		if fault != "" {
			t.Error(fault)
		}
		if calls == 0 {
			t.Errorf("%s was not called", name)
		}
	}
	paths, err := filepath.Glob(filepath.Join(fastDir, "z*.go"))
	if err != nil {
		t.Fatal(err)
	}
	generated := 0
	for _, path := range paths {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.IsExported() {
				if generated++; functions[fn.Name.Name] == nil && unevenFunctions[fn.Name.Name] == nil {
					t.Errorf("%s is not called", fn.Name.Name)
				}
			}
		}
	}
	if called := len(functions) + len(unevenFunctions); generated != called {
		t.Errorf("%d functions are called, and %d generated", called, generated)
	}
}
