package emittest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
)

// TestEmittedCodeIsNotTheSchedule plants errors in hand-written code; each has to be seen, and named.
func TestEmittedCodeIsNotTheSchedule(t *testing.T) {
	u := generated(t, &catalogue.AllReduceRing)
	ring := u.code.Run
	bug := func(b ringBug) func(context.Context, *exec.Call) error {
		return func(ctx context.Context, x *exec.Call) error { return ringAllReduce(ctx, x, b) }
	}
	for name, plant := range map[string]struct {
		run  func(context.Context, *exec.Call) error
		want string
	}{
		"a chunk too many": {bug(ringBug{chunks: 1}), "rank 0, the layout is 4 chunks and 0 elements of scratch, " +
			"want 3 and 0"},
		"the chunk before": {bug(ringBug{chunk: 1}), "rank 0, step 0: event 0 of the code is\n  send to 1: in[3:5]\nof " +
			"the schedule\n  send to 1: in[0:3]"},
		"operands swapped": {bug(ringBug{swapped: true}), "received first: true, after send: false, lent: false\nof the " +
			"schedule\n  receive from 2"},
		"not finished": {bug(ringBug{unfinished: true}),
			"rank 2, after step 2: element 0 of out is another expression than the schedule's: (x29 ⊕ (x15 ⊕ x1)), want ((x29 " +
				"⊕ (x15 ⊕ x1)) finished)"},
		"steps are merged": {bug(ringBug{merged: true}), "rank 0, step 0: event 1 of the code is\n  send to 1"},
		"the wrong rank": {bug(ringBug{back: true}), "event 0 of the code is\n  send to 2: in[0:3]\nof the schedule\n  " +
			"send to 1: in[0:3]"},
		"after a send": {bug(ringBug{afterSend: true}), "after send: true, lent: false\nof the schedule"},
		"it ends too early": {bug(ringBug{steps: -1}),
			"rank 0, step 4: the code ends before it; the schedule has\nsend to 1"},
		"it goes on": {bug(ringBug{steps: 1}), "after step 4, the last: the code goes on with\nsend to "},
		"nothing done": {func(_ context.Context, x *exec.Call) error { return x.Layout(x.Size, 0) },
			"step 0: the code ends before it"},
		"finished twice": {func(ctx context.Context, x *exec.Call) error {
			if err := ring(ctx, x); err != nil {
				return err
			}
			x.Finish(x.Out.Chunk(0))
			return nil
		}, "after step 4: element 0 of out is another expression than the schedule's: ("},
		"input written": {func(ctx context.Context, x *exec.Call) error {
			if err := ring(ctx, x); err != nil {
				return err
			}
			clear(x.In.Data)
			return nil
		}, "element 0 of in is another expression"},
	} {
		if fault := u.perform(t, plant.run); !strings.Contains(fault, plant.want) ||
			!strings.Contains(fault, "allreduce/ring, 3 ranks, root 0") {
			t.Errorf("%s:\n%s\nwant\n%s", name, fault, plant.want)
		}
	}
	for _, run := range []func(context.Context, *exec.Call) error{ring, bug(ringBug{})} {
		if fault := u.perform(t, run); fault != "" {
			t.Errorf("without a bug:\n%s", fault)
		}
	}
}

// perform makes a call of three ranks that is to be run, and gives the first difference to the schedule.
func (u subject) perform(t *testing.T, run func(context.Context, *exec.Call) error) string {
	t.Helper()
	code := *u.code
	code.Run = run
	u.code = &code
	e := u.instantiate(t, u.collective(), gen.Params{Size: 3, Depth: 1})
	e.count = 7
	return newStage(3).perform(e)
}

// ringBug is an error in ringAllReduce; the zero ringBug is none.
type ringBug struct {
	chunks, chunk, steps                         int
	swapped, unfinished, merged, back, afterSend bool
}

// ringAllReduce makes the ring all-reduce of three ranks, by hand.
func ringAllReduce(ctx context.Context, x *exec.Call, bug ringBug) error {
	if err := x.Layout(x.Size+bug.chunks, 0); err != nil {
		return err
	}
	next, prev := (x.Rank+1)%x.Size, (x.Rank+x.Size-1)%x.Size
	to := next
	if bug.back {
		to = prev
	}
	for s := range 2*(x.Size-1) + bug.steps {
		c := (x.Rank + 2*x.Size - s + bug.chunk) % x.Size
		d := (c + x.Size - 1) % x.Size
		from := &x.Out
		if s == 0 {
			from = &x.In
		}
		x.Send(to, from.Chunk(c))
		if s < x.Size-1 {
			x.RecvReduce(prev, x.Out.Chunk(d), x.In.Chunk(d), bug.swapped)
		} else {
			x.Recv(prev, x.Out.Chunk(d))
		}
		if bug.afterSend {
			x.AfterSend()
		}
		if bug.merged && s == 0 {
			continue
		}
		if err := x.Exchange(ctx); err != nil {
			return err
		}
		if s == x.Size-2 && !bug.unfinished {
			x.Finish(x.Out.Chunk(d))
		}
	}
	return nil
}

// What a generated function does when the runtime fails: it returns that error, and does nothing more.

var errTransport = errors.New("the transport fails")

// failing is a transport without other ranks, whose Exchange of that number fails.
type failing struct {
	*actor
	fails, made int
}

func (f *failing) Exchange(context.Context, []wire.Send, []wire.Recv) error {
	f.made++
	if f.made == f.fails {
		return errTransport
	}
	return nil
}

// errorFault has each Exchange of each rank fail, one at a time, and gives the first whose error the function does not
// return at once; and so of a layout that needs too much memory. It counts the errors.
func (u subject) errorFault(size, depth int) (errs int, fault string) {
	for _, p := range u.Calls(size, depth) {
		for rank := range size {
			for fails := 1; ; fails++ {
				f, err := u.runFailing(p, rank, fails)
				if f.made < fails {
					break
				}
				if errs++; !errors.Is(err, errTransport) || f.made > fails {
					return errs, fmt.Sprintf("%s, %+v, rank %d: Exchange %d of %d fails, and the call ends with %v", u.FullName(), p,
						rank, fails, f.made, err)
				}
			}
			env := p.Env(rank)
			if u.Param.Name != "" {
				env = env.With(u.Param.Name, u.Param.Value)
			}
			if scratch, err := u.Scratch.OrElse(spec.Int(0)).Eval(env); err != nil {
				return errs, err.Error()
			} else if scratch > 0 {
				if errs++; !u.refusesLayout(p, rank) {
					return errs, fmt.Sprintf("%s, %+v, rank %d: Layout fails, and the call does not", u.FullName(), p, rank)
				}
			}
		}
	}
	return errs, ""
}

// runFailing runs the function alone.
func (u subject) runFailing(p gen.Params, rank, fails int) (f *failing, err error) {
	f = &failing{fails: fails}
	x := u.callOn(f, p, rank, 7*p.Size*p.Depth)
	e, err := spec.Expect(u.Primitive, spec.Call{Size: p.Size, Root: p.Root, Peer: p.Peer})
	if err != nil {
		return f, err
	}
	x.In.Data = make([]byte, len(e.Ranks[rank].In)*x.Count)
	x.Out.Data = make([]byte, len(e.Ranks[rank].Out)*x.Count)
	defer func() {
		if r := recover(); r != nil { // of what came after the error that was dropped
			err = fmt.Errorf("a panic: %v", r)
		}
	}()
	return f, u.code.Run(context.Background(), x)
}

// refusesLayout reports whether the function returns the error of a layout whose scratch does not fit into memory.
func (u subject) refusesLayout(p gen.Params, rank int) (refuses bool) {
	defer func() { _ = recover() }() // of what came after the error that was dropped
	f := &failing{}
	err := u.code.Run(context.Background(), u.callOn(f, p, rank, math.MaxInt/2))
	return errors.Is(err, fast.ErrInvalidArgument) && f.made == 0
}

// callOn returns a rank's call of bytes over f, without an algorithm's run around it.
func (u subject) callOn(f *failing, p gen.Params, rank, count int) *exec.Call {
	e := new(exec.Executor)
	e.SetUp(rank, p.Size, f)
	x := &e.Call
	x.Size, x.Rank, x.Root, x.Peer, x.Depth, x.Local, x.Param = p.Size, rank, p.Root, p.Peer, p.Depth, p.Local,
		u.code.Param
	x.Collective, x.Algorithm, x.Count, x.Op, x.Elem = u.k, u.code, count, fast.Sum, spec.TypeUint8
	x.Kernel = func(dst, a, b []byte) {}
	x.Begun = true
	return x
}

// TestEmittedCodeReturnsErrors of every Exchange, and of Layout.
func TestEmittedCodeReturnsErrors(t *testing.T) {
	for _, a := range catalogue.Algorithms() {
		u, total := generated(t, &a), 0
		for size := 2; size <= 9; size++ {
			n, fault := u.errorFault(size, 2)
			if fault != "" {
				t.Fatal(fault)
			}
			if total += n; n == 0 && len(a.Locals(size)) > 0 {
				t.Errorf("%s: no error was returned to %d ranks", a.FullName(), size)
			}
		}
		t.Logf("%s returns %d errors", a.FullName(), total)
	}
}
