package fast

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/spec"
	"github.com/google/go-cmp/cmp"
)

// worlds are all ways in which ranks talk.
var worlds = fasttest.Worlds(Init)

// comms returns the ranks of a communicator of goroutines.
func comms(t testing.TB, size int) []*Comm { return fasttest.Goroutines[*Comm, InitOption](t, size) }

// checkHealthy makes a call that succeeds on a communicator which nothing has happened to.
func checkHealthy(t *testing.T, all []*Comm) {
	t.Helper()
	for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
		x := []int64{int64(c.Rank()) + 1}
		err := AllReduce(t.Context(), c, x, Sum)
		if n := int64(len(all)); err == nil && x[0] != n*(n+1)/2 {
			err = errors.New("wrong result")
		}
		return err
	}) {
		if err != nil {
			t.Errorf("rank %d is not healthy: %v", rank, err)
		}
	}
}

// bareOp is declared once in a process.
var bareOp = sync.OnceValues(func() (Op, error) { return spec.DeclareOp("bare", spec.TypeFloat32, true) })

// TestArguments refuses every bad argument before anything is sent.
func TestArguments(t *testing.T) {
	ctx := t.Context()
	x := make([]float32, 8)
	all := comms(t, 2)
	c := all[0]
	sum := exec.Args{Count: 4, Op: Sum}
	k := &exec.Collective{Name: "Test", Reduces: true, Algorithms: []exec.Algorithm{{Name: "none", Proved: everything}}}
	tooMuch := &exec.Collective{Name: "Test", Algorithms: []exec.Algorithm{{Name: "scratch", Proved: everything,
		Run: func(_ context.Context, x *exec.Call) error {
			return x.Layout(1, math.MaxInt/2)
		}}}}
	pair := &exec.Collective{Name: "Test", PointToPoint: true}
	bare, err := bareOp()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"nil communicator", AllReduce(ctx, nil, x, Sum), "the communicator is nil"},
		{"zero communicator", AllReduce(ctx, new(Comm), x, Sum), "made by neither Run nor Init"},
		//lint:ignore SA1012 it is what the test is about
		{"nil context", AllReduce(nil, c, x, Sum), "the context is nil"},
		{"op of another type", AllReduce(ctx, c, x, BAnd), "op band is not defined on float32"},
		{"order of complex numbers", AllReduce(ctx, c, []complex64{1}, Max), "op max is not defined on complex64"},
		{"no op", AllReduce(ctx, c, x, 0), "op(0) is none of the ops"},
		{"unknown op", AllReduce(ctx, c, x, 200), "op(200) is none of the ops"},
		{"op without a function", AllReduce(ctx, c, x, bare), "op bare was declared without a function"},
		{"negative root", Broadcast(ctx, c, x, -1), "root is -1, want a rank of 2"},
		{"root too large", Broadcast(ctx, c, x, 2), "root is 2, want a rank of 2"},
		{"no collective", do(ctx, c, nil, x, x, &sum, nil), "the collective is nil"},
		{"no arguments", do(ctx, c, k, x, x, nil, nil), "the arguments are nil"},
		{"root of Do", do(ctx, c, k, x, x, &exec.Args{Op: Sum, Root: 2}, nil), "root is 2, want a rank of 2"},
		{"peer of Do", do(ctx, c, k, x, x, &exec.Args{Op: Sum, Peer: -1}, nil), "peer is -1, want a rank of 2"},
		{"negative count", do(ctx, c, k, x, x, &exec.Args{Op: Sum, Count: -1}, nil), "a block of -1 elements"},
		{"too large a count", do(ctx, c, k, x, x, &exec.Args{Op: Sum, Count: math.MaxInt / 2}, nil), "a block of "},
		{"other rank's point-to-point call", do(ctx, comms(t, 3)[0], pair, x, x, &exec.Args{Root: 1, Peer: 2}, nil),
			"rank 0 takes no part"},
		{"too long", AllReduceInto(ctx, c, x[:4], x[:5], Sum), "len(dst) is 4, want 5"},
		{"odd length", ReduceScatterInto(ctx, c, x[:2], make([]float32, 5), Sum), "5"},
		{"overlap", AllReduceInto(ctx, c, x[:4], x[2:6], Sum), "dst and src overlap"},
		{"overlap without in place", do(ctx, c, k, x, x, &exec.Args{Op: Sum, NoAlias: true}, nil), "dst and src overlap"},
		{"in place at another offset", do(ctx, c, k, x, x, &exec.Args{Op: Sum, AliasIn: 1}, nil), "dst and src overlap"},
		{"unknown algorithm", AllReduce(ctx, c, x, Sum, WithAlgorithm("rong")), `no algorithm is called "rong"; there are `},
		{"no depth", AllReduce(ctx, c, x, Sum, WithDepth(0)), "depth is 0"},
		{"too much scratch", do(ctx, c, tooMuch, x, x, &sum, nil), "too much scratch memory"},
		{"send to nobody", Send(ctx, c, x, 2), "the receiver is 2, want a rank of 2"},
		{"receive from nobody", Recv(ctx, c, x, -1), "the sender is -1, want a rank of 2"},
		{"send to itself", Send(ctx, c, x, 0), "rank 0 cannot exchange messages with itself"},
	} {
		if !errors.Is(test.err, ErrInvalidArgument) || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.name, test.err, test.want)
		}
	}
	checkHealthy(t, all)
}

// TestEndedContext makes a call whose context has ended: nothing is sent, and the next call succeeds.
func TestEndedContext(t *testing.T) {
	all := comms(t, 2)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no time"))
	err := Barrier(ctx, all[0])
	var timeout *TimeoutError
	if !errors.As(err, &timeout) || timeout.Waiting != nil || !errors.Is(err, context.Cause(ctx)) ||
		!errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	checkHealthy(t, all)
}

// TestNilComm has no rank, and says so.
func TestNilComm(t *testing.T) {
	var c *Comm
	if c.Rank() != 0 || c.Size() != 1 || c.String() != "rank 0 of 1" || c.Close() != nil {
		t.Errorf("got %v", c)
	}
	if c.State() != Closed || c.Err() != nil || c.Topology().String() != "1 host: [0]" {
		t.Errorf("%v, %v, %v", c.State(), c.Err(), c.Topology())
	}
}

// TestOneRank makes calls that need no transport: there is none.
func TestOneRank(t *testing.T) {
	ctx, c := t.Context(), newComm(0, 1, nil)
	x, y := []float64{1, 2, 3}, make([]float64, 3)
	for _, err := range []error{
		Barrier(ctx, c), AllReduce(ctx, c, x, Avg), AllReduceInto(ctx, c, y, x, Max), Broadcast(ctx, c, y, 0),
		Reduce(ctx, c, x, Sum, 0),
		AllGather(ctx, c, x), ReduceScatter(ctx, c, x, Sum), AllToAll(ctx, c, x), Gather(ctx, c, x, 0), Scatter(ctx, c, x, 0),
		AllReduce(ctx, c, []float64{}, Sum), c.Close(),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(y, []float64{1, 2, 3}) || !slices.Equal(x, y) {
		t.Errorf("got %v and %v", x, y)
	}
}

// TestEmpty makes every call with no elements.
func TestEmpty(t *testing.T) {
	for rank, err := range fasttest.OnAll(comms(t, 3), func(c *Comm) error {
		var none []int32
		ctx := t.Context()
		return errors.Join(AllReduce(ctx, c, none, Sum), Broadcast(ctx, c, none, 1), Reduce(ctx, c, none, Sum, 2),
			AllGather(ctx, c, none),
			ReduceScatter(ctx, c, none, Sum), AllToAll(ctx, c, none), Gather(ctx, c, none, 0), Scatter(ctx, c, none, 0),
			Barrier(ctx, c))
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestConcurrentUse refuses a call while another one runs, which goes on undisturbed.
func TestConcurrentUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := comms(t, 2)
		first := make(chan error)
		go func() { first <- Barrier(t.Context(), all[0]) }()
		synctest.Wait()
		if err := Barrier(t.Context(), all[0]); !errors.Is(err, ErrConcurrentUse) {
			t.Errorf("the second call: %v", err)
		}
		if err := errors.Join(Barrier(t.Context(), all[1]), <-first); err != nil {
			t.Errorf("the first call: %v", err)
		}
		checkHealthy(t, all)
	})
}

// TestManyGoroutines uses one communicator from several goroutines without any order between them: each call is either
// refused or makes a whole step with one of the other rank's.
func TestManyGoroutines(t *testing.T) {
	const calls = 30
	for rank, err := range fasttest.OnAll(comms(t, 2), func(c *Comm) error {
		left := make(chan struct{}, calls)
		for range calls {
			left <- struct{}{}
		}
		close(left)
		var users sync.WaitGroup
		errs := make([]error, 3)
		for i := range errs {
			users.Go(func() { errs[i] = callUntilDone(t, c, left) })
		}
		users.Wait()
		return errors.Join(errs...)
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

func callUntilDone(t *testing.T, c *Comm, left <-chan struct{}) error {
	for range left {
		x := []int64{1}
		err := AllReduce(t.Context(), c, x, Sum)
		for errors.Is(err, ErrConcurrentUse) {
			err = AllReduce(t.Context(), c, x, Sum)
		}
		if err != nil || x[0] != 2 {
			return errors.Join(err, errors.New("wrong result"))
		}
	}
	return nil
}

// TestMismatch has two ranks make calls that differ in one thing. Both learn in which, each from its own side.
func TestMismatch(t *testing.T) {
	ctx := t.Context()
	ints, floats := make([]int32, 8), make([]float32, 8)
	for _, test := range []struct {
		name, mine, theirs string
		a, b               func(c *Comm) error
	}{
		{"primitive", "AllReduce", "AllToAll", func(c *Comm) error { return AllReduce(ctx, c, ints, Sum) },
			func(c *Comm) error { return AllToAll(ctx, c, make([]int32, 8)) }},
		{"seq", "1", "2", func(c *Comm) error { return AllReduce(ctx, c, ints, Sum) },
			func(c *Comm) error { c.exec.Calls++; return AllReduce(ctx, c, make([]int32, 8), Sum) }},
		{"op", "sum", "max", func(c *Comm) error { return AllReduce(ctx, c, ints, Sum) },
			func(c *Comm) error { return AllReduce(ctx, c, make([]int32, 8), Max) }},
		{"type", "int32", "float32", func(c *Comm) error { return AllReduce(ctx, c, ints, Sum) },
			func(c *Comm) error { return AllReduce(ctx, c, floats, Sum) }},
		{"count", "8", "7", func(c *Comm) error { return AllReduce(ctx, c, ints, Sum) },
			func(c *Comm) error { return AllReduce(ctx, c, make([]int32, 7), Sum) }},
		{"root", "0", "1", func(c *Comm) error { return Broadcast(ctx, c, ints, 0, WithAlgorithm("scatter-allgather")) },
			func(c *Comm) error { return Broadcast(ctx, c, make([]int32, 8), 1, WithAlgorithm("scatter-allgather")) }},
		{"algorithm", "ring", "two-shot", func(c *Comm) error { return AllReduce(ctx, c, ints, Sum, WithAlgorithm("ring")) },
			func(c *Comm) error { return AllReduce(ctx, c, make([]int32, 8), Sum, WithAlgorithm("two-shot")) }},
		{"depth", "1", "2", func(c *Comm) error { return AllReduce(ctx, c, ints, Sum, WithDepth(1)) },
			func(c *Comm) error { return AllReduce(ctx, c, make([]int32, 8), Sum, WithDepth(2)) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			errs := fasttest.OnAll(comms(t, 2), func(c *Comm) error {
				if c.Rank() == 0 {
					return test.a(c)
				}
				return test.b(c)
			})
			seq := [2]uint64{1, 1}
			if test.name == "seq" {
				seq[1] = 2
			}
			checkMismatch(t, errs[0], MismatchError{Rank: 1, Seq: seq[0], TheirSeq: seq[1], Field: test.name, Mine: test.mine,
				Theirs: test.theirs})
			checkMismatch(t, errs[1], MismatchError{Rank: 0, Seq: seq[1], TheirSeq: seq[0], Field: test.name, Mine: test.theirs,
				Theirs: test.mine})
		})
	}
}

func checkMismatch(t *testing.T, err error, want MismatchError) {
	t.Helper()
	var got *MismatchError
	if !errors.As(err, &got) {
		t.Fatalf("got %v, want %v", err, &want)
	}
	if diff := cmp.Diff(want, *got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestCancel ends the context of one rank in the middle of a call: it learns for whom it waited, the others which rank
// gave up, and every later call says what came first.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := comms(t, 4)
		errs := fasttest.OnAll(all, func(c *Comm) error {
			ctx := t.Context()
			switch c.Rank() {
			case 1:
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, time.Minute)
				defer cancel()
			case 3:
				return nil // never comes
			}
			return AllReduce(ctx, c, make([]int64, 100), Sum, WithAlgorithm("two-shot"))
		})
		var timeout *TimeoutError
		if !errors.As(errs[1], &timeout) || !errors.Is(errs[1], context.DeadlineExceeded) || !slices.Equal(timeout.Waiting,
			[]int{3}) {
			t.Errorf("rank 1: %v", errs[1])
		}
		for _, rank := range []int64{0, 2} {
			checkPeer(t, errs[rank], 1, ErrAborted)
		}
		err := Barrier(t.Context(), all[1])
		if !errors.Is(err, ErrAborted) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("rank 1, later: %v", err)
		}
		checkPeer(t, Barrier(t.Context(), all[0]), 1, ErrAborted)
		checkPeer(t, Barrier(t.Context(), all[3]), 1, ErrAborted)
	})
}

func checkPeer(t *testing.T, err error, rank int, cause error) {
	t.Helper()
	var peer *PeerError
	if !errors.As(err, &peer) || peer.Rank != rank || !errors.Is(err, cause) {
		t.Errorf("got %v, want rank %d: %v", err, rank, cause)
	}
}

// TestClose closes a communicator before a call, on another rank, and while a call runs.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := comms(t, 3)
		waiting := make(chan error)
		go func() { waiting <- Recv(t.Context(), all[0], make([]int64, 1), 1) }()
		synctest.Wait()
		if err := errors.Join(all[2].Close(), all[2].Close()); err != nil {
			t.Error(err)
		}
		if err := Barrier(t.Context(), all[2]); !errors.Is(err, ErrClosed) {
			t.Errorf("on the closed rank: %v", err)
		}
		checkPeer(t, Barrier(t.Context(), all[1]), 2, ErrClosed)
		checkPeer(t, <-waiting, 2, ErrClosed) // rank 1 has said so
	})
	synctest.Test(t, func(t *testing.T) {
		all := comms(t, 2)
		waiting := make(chan error)
		go func() { waiting <- Recv(t.Context(), all[0], make([]int64, 1), 1) }()
		synctest.Wait()
		if err := all[0].Close(); err != nil {
			t.Error(err)
		}
		if err := <-waiting; !errors.Is(err, ErrClosed) {
			t.Errorf("the call that ran: %v", err)
		}
		checkPeer(t, Send(t.Context(), all[1], make([]int64, 1), 0), 0, ErrClosed)
	})
}

// TestPanic leaves a communicator unusable when a call has panicked.
func TestPanic(t *testing.T) {
	all := comms(t, 2)
	k := &exec.Collective{Name: "Test", Algorithms: []exec.Algorithm{{Name: "bad", Proved: everything,
		Run: func(_ context.Context, x *exec.Call) error {
			x.Out.Chunk(1)
			return nil
		}}}}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_ = do(t.Context(), all[0], k, []int64{}, nil, &exec.Args{}, nil)
	}()
	if err := Barrier(t.Context(), all[0]); !errors.Is(err, ErrAborted) {
		t.Errorf("later: %v", err)
	}
	checkPeer(t, Barrier(t.Context(), all[1]), 0, ErrAborted)
}

// TestStaging gives an algorithm that needs distinct buffers a copy of the input where a rank's overlap. The copy is
// apart from the scratch, which the algorithm fills before it looks at its input, and from the output.
func TestStaging(t *testing.T) {
	k := &exec.Collective{Name: "Test", Algorithms: []exec.Algorithm{{Name: "pass-on", Proved: everything,
		OutOfPlace: true, Run: reverseAndPassOn}}}
	for _, size := range []int{1, 3} {
		for rank, err := range fasttest.OnAll(comms(t, size), func(c *Comm) error {
			first := int64(10 * c.Rank())
			x := []int64{first + 1, first + 2, first + 3, first + 4}
			err := do(t.Context(), c, k, x, x, &exec.Args{Count: 4}, nil)
			from := int64(10 * ((c.Rank() + size - 1) % size))
			if want := []int64{from + 4, from + 3, from + 2, from + 1}; !slices.Equal(x, want) {
				t.Errorf("rank %d of %d: got %v, want %v", c.Rank(), size, x, want)
			}
			return err
		}) {
			if err != nil {
				t.Errorf("rank %d of %d: %v", rank, size, err)
			}
		}
	}
}

// reverseAndPassOn gives each rank the elements of the rank before it, the last one first. On its way it overwrites all
// of scratch and of out before it has read in.
func reverseAndPassOn(ctx context.Context, x *exec.Call) error {
	if err := x.Layout(4, 4); err != nil {
		return err
	}
	for i := range 4 {
		clear(x.Scratch.Slot(i, 0))
		clear(x.Out.Chunk(i))
	}
	if x.Size == 1 {
		for i := range 4 {
			x.Copy(x.Out.Chunk(i), x.In.Chunk(3-i))
		}
		return nil
	}
	for i := range 4 {
		x.Send((x.Rank+1)%x.Size, x.In.Chunk(3-i))
		x.Recv((x.Rank+x.Size-1)%x.Size, x.Out.Chunk(i))
	}
	return x.Exchange(ctx)
}

// TestPointToPoint has messages between two ranks match in their order, apart from collectives and other ranks'
// messages.
func TestPointToPoint(t *testing.T) {
	for rank, err := range fasttest.OnAll(comms(t, 3), func(c *Comm) error {
		ctx := t.Context()
		a, b := []int64{0}, []int64{0}
		switch c.Rank() {
		case 0:
			return errors.Join(Barrier(ctx, c), Send(ctx, c, []int64{7}, 2), Send(ctx, c, []int64{8}, 2), Recv(ctx, c, a, 1),
				Barrier(ctx, c))
		case 1:
			return errors.Join(Barrier(ctx, c), Send(ctx, c, []int64{9}, 0), Barrier(ctx, c))
		}
		err := errors.Join(Barrier(ctx, c), Recv(ctx, c, a, 0), Recv(ctx, c, b, 0), Barrier(ctx, c))
		if a[0] != 7 || b[0] != 8 {
			err = errors.Join(err, errors.New("wrong order"))
		}
		return err
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestPointToPointMismatch has a rank send what the other one does not expect.
func TestPointToPointMismatch(t *testing.T) {
	errs := fasttest.OnAll(comms(t, 2), func(c *Comm) error {
		if c.Rank() == 0 {
			return Send(t.Context(), c, make([]int32, 3), 1)
		}
		return Recv(t.Context(), c, make([]int32, 4), 0)
	})
	checkMismatch(t, errs[0], MismatchError{Rank: 1, Seq: 1, TheirSeq: 1, Field: "count", Mine: "3", Theirs: "4"})
	checkMismatch(t, errs[1], MismatchError{Rank: 0, Seq: 1, TheirSeq: 1, Field: "count", Mine: "4", Theirs: "3"})
	errs = fasttest.OnAll(comms(t, 2), func(c *Comm) error {
		if c.Rank() == 0 {
			return Send(t.Context(), c, make([]int32, 3), 1)
		}
		return AllReduce(t.Context(), c, make([]int32, 3), Sum)
	})
	checkMismatch(t, errs[1], MismatchError{Rank: 0, Seq: 1, TheirSeq: 1, Field: "primitive", Mine: "AllReduce",
		Theirs: "Send"})
}

// TestFreeDuringCall is refused: the call may use the memory.
func TestFreeDuringCall(t *testing.T) {
	all := comms(t, 2)
	defer fasttest.CloseAll(t, all)
	errs := fasttest.OnAll(all, func(c *Comm) error {
		b, err := Alloc[int](t.Context(), c, 10)
		if err != nil || c.Rank() == 1 {
			return errors.Join(err, Barrier(t.Context(), c), Barrier(t.Context(), c))
		}
		h := StartBarrier(t.Context(), c)
		if err := h.Wait(t.Context()); err != nil {
			return err
		}
		c.busy.Set()
		if err := Free(c, b); !errors.Is(err, ErrConcurrentUse) {
			return fmt.Errorf("during a call: %v", err)
		}
		c.busy.Unset()
		c.starts().pending.Add(1)
		if err := Free(c, b); !errors.Is(err, ErrConcurrentUse) {
			return fmt.Errorf("before a call that was started: %v", err)
		}
		c.starts().pending.Add(-1)
		return errors.Join(Free(c, b), Barrier(t.Context(), c))
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}
