package fast

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// TestSendRecv has ranks pass data on in a ring, each in one call, and to themselves where they are alone.
func TestSendRecv(t *testing.T) {
	for _, size := range []int{1, 2, 3, 5} {
		all := comms(t, size)
		for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
			for _, count := range []int{0, 1, 1000} {
				if err := passOn(t.Context(), c, count); err != nil {
					return errors.Join(err, c.Close()) // the others do not wait for this rank
				}
			}
			return Barrier(t.Context(), c)
		}) {
			if err != nil {
				t.Errorf("rank %d of %d: %v", rank, size, err)
			}
		}
		leaveAll(all)
	}
}

// passOn passes this rank's number on to the next one, then back again in place, and on once more as a started call.
func passOn(ctx context.Context, c *Comm, count int) error {
	next, previous := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	mine, theirs := slices.Repeat([]int64{int64(c.Rank())}, count), slices.Repeat([]int64{int64(previous)}, count)
	got := make([]int64, count)
	if err := SendRecv(ctx, c, mine, next, got, previous); err != nil || !slices.Equal(got, theirs) {
		return errors.Join(err, errors.New("not on"))
	}
	if err := SendRecvReplace(ctx, c, got, previous, next); err != nil || !slices.Equal(got, mine) {
		return errors.Join(err, errors.New("not back"))
	}
	if err := StartSendRecvReplace(ctx, c, got, next, previous).Wait(ctx); err != nil || !slices.Equal(got, theirs) {
		return errors.Join(err, errors.New("not on in place, as a started call"))
	}
	clear(got)
	if err := StartSendRecv(ctx, c, mine, next, got, previous).Wait(ctx); err != nil || !slices.Equal(got, theirs) {
		return errors.Join(err, errors.New("not on as a started call"))
	}
	return nil
}

// TestSendRecvMeetsOthers has one rank do both at once, and the others one after the other; lengths differ, and one way
// there is nothing.
func TestSendRecvMeetsOthers(t *testing.T) {
	all := comms(t, 3)
	for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
		ctx := t.Context()
		switch c.Rank() {
		case 0:
			got := make([]int32, 2)
			err := SendRecv(ctx, c, []int32{1, 2, 3}, 1, got, 2)
			if got[1] != 5 {
				t.Errorf("got %v", got)
			}
			return errors.Join(err, SendRecv(ctx, c, []int32{9}, 1, nil, 1))
		case 1:
			got, last := make([]int32, 3), make([]int32, 1)
			err := errors.Join(Recv(ctx, c, got, 0), StartRecv(ctx, c, last, 0).Wait(ctx), Send(ctx, c, []int32{}, 0))
			if got[2] != 3 || last[0] != 9 {
				t.Errorf("got %v and %v", got, last)
			}
			return err
		}
		return Send(ctx, c, []int32{4, 5}, 0)
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	checkHealthy(t, all)
	leaveAll(all)
}

func TestSendRecvRefuses(t *testing.T) {
	ctx, all := t.Context(), comms(t, 2)
	c, x := all[0], make([]int32, 8)
	for name, err := range map[string]error{
		"no communicator":          SendRecv(ctx, nil, x, 1, x, 1),
		"nobody to send to":        SendRecv(ctx, c, x[:4], 2, x[4:], 1),
		"nobody to hear from":      SendRecv(ctx, c, x[:4], 1, x[4:], -1),
		"itself, with a factor":    SendRecv(ctx, c, x[:4], 0, x[4:8], 0, WithPreMul(2)),
		"itself, with a bad label": SendRecv(ctx, c, x[:4], 0, x[4:8], 0, WithLabel("\n")),
		"itself, by an algorithm":  SendRecv(ctx, c, x[:4], 0, x[4:8], 0, WithAlgorithm("none")),
		"itself one way":           SendRecv(ctx, c, x[:4], 0, x[4:], 1),
		"another length":           SendRecv(ctx, c, x[:3], 0, x[4:], 0),
		"memory that overlaps":     SendRecv(ctx, c, x[:4], 1, x[2:6], 1),
		"the very same memory":     SendRecv(ctx, c, x[:4], 1, x[:4], 1),
		"and sent to itself":       SendRecv(ctx, c, x[:4], 0, x[:4], 0),
		"lengths that overlap":     SendRecv(ctx, c, x[:4], 1, x[:5], 1),
		"in place, to somebody":    SendRecvReplace(ctx, c, x, 2, 1),
	} {
		if !errors.Is(err, ErrInvalidArgument) || !strings.HasPrefix(err.Error(), "SendRecv: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := SendRecv(ended, c, x[:4], 1, x[4:], 1); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	checkHealthy(t, all)
}

// TestSendRecvMismatch has a message be longer than expected: both ranks learn of it.
func TestSendRecvMismatch(t *testing.T) {
	all := comms(t, 2)
	for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
		return SendRecv(t.Context(), c, make([]int32, 3+c.Rank()), 1-c.Rank(), make([]int32, 3), 1-c.Rank())
	}) {
		var mismatch *MismatchError
		var call *CallError
		if !errors.As(err, &mismatch) || mismatch.Field != "count" || !errors.As(err, &call) ||
			call.Op != "SendRecv" || call.Peer != 1-rank {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestSendRecvAllocates nothing when it is called again, and a communicator that has started calls makes others as
// before.
func TestSendRecvAllocates(t *testing.T) {
	const runs = 50
	all := comms(t, 2)
	defer leaveAll(all)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	once := func(c *Comm) func() {
		out, in := make([]float32, 100), make([]float32, 100)
		if err := StartAllReduce(ctx, c, out, Sum).Wait(ctx); err != nil {
			t.Error(err)
		}
		return func() {
			other := 1 - c.Rank()
			err := errors.Join(SendRecv(ctx, c, out, other, in, other), SendRecvReplace(ctx, c, out, other, other),
				AllReduce(ctx, c, in, Sum))
			if err != nil {
				t.Error(err)
			}
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f := once(all[1])
		for range countedCalls(runs) {
			f()
		}
	}()
	if n := allocations(runs, once(all[0])); n != 0 {
		t.Errorf("%v allocations", n)
	}
	<-done
}

// TestStagingAgain calls an algorithm that needs distinct buffers in place again and again, with other data and other
// lengths: its input is this call's, all of it.
func TestStagingAgain(t *testing.T) {
	k := &exec.Collective{Name: "Test", Algorithms: []exec.Algorithm{{Name: "pass-on", OutOfPlace: true,
		Proved: exec.Proved{Every: true}, Run: reverseAndPassOn}}}
	for _, size := range []int{1, 2, 3} {
		if err := errors.Join(fasttest.OnAll(comms(t, size), func(c *Comm) error {
			for round, count := range []int{4, 4, 1000, 12, 12, 100_004, 4, 0, 1 << 20, 1000} {
				x, want := marked(round, c.Rank(), count), marked(round, (c.Rank()+size-1)%size, count)
				slices.Reverse(want)
				for chunk := range slices.Chunk(want, max(1, count/4)) { // chunks come in reverse, and their elements do not
					slices.Reverse(chunk)
				}
				if err := do(t.Context(), c, k, x, x, &exec.Args{Count: count}, nil); err != nil {
					return err
				}
				if !bytes.Equal(x, want) {
					return fmt.Errorf("rank %d of %d, round %d: %d bytes are not those of the rank before it", c.Rank(), size, round,
						count)
				}
			}
			return nil
		})...); err != nil {
			t.Error(err)
		}
	}
}

// TestReplaceAgain replaces what it sends by what it receives, again and again, with other data and other lengths,
// short and long.
func TestReplaceAgain(t *testing.T) {
	const size = 3
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, size)
			defer fasttest.CloseAll(t, all)
			if err := errors.Join(fasttest.OnAll(all, func(c *Comm) error {
				for round, count := range []int{1, 63, 1000, 1000, 7, 1 << 20, 1<<20 + 1, 3 << 20, 64} {
					x := marked(round, c.Rank(), count)
					if err := SendRecvReplace(t.Context(), c, x, (c.Rank()+1)%size, (c.Rank()+size-1)%size); err != nil {
						return err
					}
					if !bytes.Equal(x, marked(round, (c.Rank()+size-1)%size, count)) {
						return fmt.Errorf("rank %d, round %d: %d bytes are not those of the rank before it", c.Rank(), round, count)
					}
				}
				return nil
			})...); err != nil {
				t.Error(err)
			}
		})
	}
}

// marked returns n bytes that differ from round to round and from rank to rank.
func marked(round, rank, n int) []byte {
	x := make([]byte, n)
	for i := range x {
		x[i] = byte(round*101 + rank*31 + i*7 + i>>8 + i>>16)
	}
	return x
}

// TestSendRecvToItself copies what a rank sends to itself, also when the call is started.
func TestSendRecvToItself(t *testing.T) {
	for rank, err := range fasttest.OnAll(comms(t, 2), func(c *Comm) error {
		for round, count := range []int{1, 1000, 1 << 20} {
			out, in, later := marked(round, c.Rank(), count), make([]byte, count), make([]byte, count)
			err := SendRecv(t.Context(), c, out, c.Rank(), in, c.Rank())
			err = errors.Join(err, StartSendRecv(t.Context(), c, out, c.Rank(), later, c.Rank()).Wait(t.Context()))
			if err != nil || !bytes.Equal(in, out) || !bytes.Equal(later, out) {
				return fmt.Errorf("%d bytes were not copied (%v)", count, err)
			}
		}
		return nil
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// perSecond is how many allocations are allowed for what runs beside the calls, be the machine slow.
const perSecond = 1000

// TestMemoryStaysFlat makes very many small all-reduces: they allocate nothing, and the memory that is in use stays
// what it was. What the control plane does beside, such as its signs of life, is allowed for.
func TestMemoryStaysFlat(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 2)
			buffers := [2][]float32{make([]float32, 2), make([]float32, 2)}
			reduce := func(n int) {
				inStep(t, all, n, func(c *Comm) error { return AllReduce(t.Context(), c, buffers[c.Rank()], Sum) })
			}
			reduce(1000)
			before, start := inUse(), time.Now()
			n := fasttest.Tries(t, 20_000, 10_000_000)
			reduce(n)
			after, took := inUse(), time.Since(start)
			t.Logf("%d allocations in %v, %d bytes more in use", after.Mallocs-before.Mallocs, took,
				int64(after.HeapAlloc)-int64(before.HeapAlloc))
			beside := perSecond * took.Seconds()
			if each := (float64(after.Mallocs-before.Mallocs) - beside) / float64(n); each > 0.1 {
				t.Errorf("%.2f allocations in each all-reduce", each)
			}
			if after.HeapAlloc > before.HeapAlloc+1<<20 {
				t.Errorf("%d bytes are in use, after %d", after.HeapAlloc, before.HeapAlloc)
			}
		})
	}
}

// inUse returns the state of the heap with nothing in it but what is in use.
func inUse() (m runtime.MemStats) {
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m
}
