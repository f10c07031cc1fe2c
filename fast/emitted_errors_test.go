package fast

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/collgen/collgen/fast/internal/exec"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
)

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
					return errs, fmt.Sprintf("%s, %+v, rank %d: Exchange %d of %d fails, and the call ends with %v", u.FullName(), p, rank, fails, f.made, err)
				}
			}
			if scratch, err := u.Scratch.OrElse(spec.Int(0)).Eval(p.Env(rank)); err == nil && scratch > 0 {
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
	c := newComm(rank, p.Size, f)
	x := u.callOn(c, p, 7*p.Size*p.Depth)
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
	err := u.code.Run(context.Background(), u.callOn(newComm(rank, p.Size, f), p, math.MaxInt/2))
	return errors.Is(err, ErrInvalidArgument) && f.made == 0
}

// callOn returns a call of bytes without an algorithm's run around it.
func (u subject) callOn(c *Comm, p gen.Params, count int) *exec.Call {
	x := &c.exec.Call
	x.Size, x.Rank, x.Root, x.Peer, x.Depth = p.Size, c.rank, p.Root, p.Peer, p.Depth
	x.Executor, x.Collective, x.Algorithm, x.Count, x.Op, x.Elem = &c.exec, u.k, u.code, count, Sum, spec.TypeUint8
	x.Kernel = func(dst, a, b []byte) {}
	x.In.Cuts, x.Out.Cuts, x.Scratch.Cuts = &x.Cuts, &x.Cuts, &x.Cuts
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
			if total += n; n == 0 {
				t.Errorf("%s: no error was returned to %d ranks", a.FullName(), size)
			}
		}
		t.Logf("%s returns %d errors", a.FullName(), total)
	}
}
