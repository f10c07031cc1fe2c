package fast

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/agree"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/inproc"
	"github.com/collgen/collgen/fast/internal/wire"
)

// jobOf is goroutines that stand for processes, and their ends of a communicator of all.
func jobOf(t *testing.T, size int) (*inproc.Job, []*Comm) {
	t.Helper()
	j := inproc.NewJob(size)
	t.Cleanup(j.Close)
	return j, fasttest.Begin(t, size, func(rank int) (*Comm, error) {
		return new(initConfig).goroutineWorld(j.Plane(rank), size).first(t.Context(), size)
	})
}

// checkSum makes an all-reduce on all of some ranks, each of which has to get the sum of value over all.
func checkSum(ctx context.Context, c *Comm, value, want int64) error {
	x := []int64{value}
	if err := AllReduce(ctx, c, x, Sum); err != nil {
		return err
	}
	if x[0] != want {
		return fmt.Errorf("%v: the sum is %d, want %d", c, x[0], want)
	}
	return nil
}

// TestAgree agrees on communicators in every state that allows it.
func TestAgree(t *testing.T) {
	for name, harm := range map[string]func(c *Comm){
		"healthy": func(*Comm) {},
		"failed":  func(c *Comm) { c.fail(errors.New("planted")) },
		"revoked": func(c *Comm) { _ = c.Revoke() },
	} {
		_, all := jobOf(t, 4)
		harm(all[2])
		for range 3 {
			fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *Comm) error {
				flags, err := c.Agree(t.Context(), ^uint64(1<<c.Rank()))
				if err == nil && flags != ^uint64(15) {
					err = fmt.Errorf("%s: the flags are %#x", name, flags)
				}
				return err
			}))
		}
	}
}

// TestAgreeWithout has a rank die and another leave: the others agree, and know who is missing.
func TestAgreeWithout(t *testing.T) {
	j, all := jobOf(t, 5)
	j.Plane(0).End(wire.ErrDied)
	if err := all[3].Close(); err != nil {
		t.Fatal(err)
	}
	fasttest.CheckErrors(t, fasttest.OnAll([]*Comm{all[1], all[2], all[4]}, func(c *Comm) error {
		flags, err := c.Agree(t.Context(), ^uint64(1<<c.Rank()))
		if flags != ^uint64(1<<1|1<<2|1<<4) || !slices.Equal(fasttest.PeersIn[*CallError](err), []int{0, 3}) ||
			!errors.Is(err, ErrDied) ||
			!errors.Is(err, ErrClosed) {
			return fmt.Errorf("%#x, %w", flags, err)
		}
		return nil
	}))
}

// TestAgreeRefused are calls that do nothing, after which the next one succeeds.
func TestAgreeRefused(t *testing.T) {
	_, all := jobOf(t, 2)
	c := all[0]
	var none *Comm
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	agreed := func(c *Comm, ctx context.Context) error { _, err := c.Agree(ctx, 1); return err }
	shrunk := func(opts ...ShrinkOption) error { _, err := c.Shrink(t.Context(), opts...); return err }
	for _, test := range []struct {
		name string
		err  error
		want error
	}{
		{"nil communicator", agreed(none, t.Context()), ErrInvalidArgument},
		{"zero communicator", agreed(new(Comm), t.Context()), ErrInvalidArgument},
		{"nil context", agreed(c, nil), ErrInvalidArgument},
		{"no control plane", agreed(newComm(0, 2, inproc.New(2)[0]), t.Context()), ErrInvalidArgument},
		{"context that has ended", agreed(c, ended), context.Canceled},
		{"nil option", shrunk(nil), ErrInvalidArgument},
		{"quorum of more than all", shrunk(WithQuorum(3)), ErrInvalidArgument},
		{"negative quorum", shrunk(WithQuorum(-1)), ErrInvalidArgument},
		{"revoke nothing", none.Revoke(), ErrInvalidArgument},
	} {
		if !errors.Is(test.err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, test.err, test.want)
		}
	}
	fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *Comm) error { return agreed(c, t.Context()) }))
}

// TestAgreeEnds has rank 1 not call Agree: rank 0's call ends with its context, Abort or Close.
func TestAgreeEnds(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(c *Comm, cancel func())
		want error
	}{
		{"context", func(_ *Comm, cancel func()) { cancel() }, context.Canceled},
		{"abort", func(c *Comm, _ func()) { c.Abort() }, ErrAborted},
		{"abort after a failure", func(c *Comm, _ func()) { c.fail(errors.New("planted")); c.Abort() }, ErrAborted},
		{"close", func(c *Comm, _ func()) { _ = c.Close() }, ErrClosed},
	} {
		_, all := jobOf(t, 2)
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error)
		go func() {
			_, err := all[0].Agree(ctx, 1)
			result <- err
		}()
		for all[0].membership.TryBegin() { // until the call is under way
			all[0].membership.End()
			runtime.Gosched()
		}
		if _, err := all[0].Agree(ctx, 1); !errors.Is(err, ErrConcurrentUse) {
			t.Errorf("%s: a second call got %v", test.name, err)
		}
		start := time.Now()
		test.end(all[0], cancel)
		select {
		case err := <-result:
			if !errors.Is(err, test.want) {
				t.Errorf("%s: %v, want %v", test.name, err, test.want)
			}
		case <-time.After(fasttest.Generous):
			t.Fatalf("%s: it does not end", test.name)
		}
		t.Logf("%s: after %v", test.name, time.Since(start))
		cancel()
	}
}

// TestAgreeLate has the calls of ranks 0 and 1 end before rank 2 makes its own, which succeeds, as do later ones.
func TestAgreeLate(t *testing.T) { synctest.Test(t, testAgreeLate) }

func testAgreeLate(t *testing.T) {
	_, all := jobOf(t, 3)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for rank, err := range fasttest.OnAll(all[:2], func(c *Comm) error { _, err := c.Agree(ctx, 6); return err }) {
		var timeout *TimeoutError
		if !errors.As(err, &timeout) || !errors.Is(err, context.DeadlineExceeded) || len(timeout.Waiting) == 0 {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	if flags, err := all[2].Agree(t.Context(), 3); flags != 2 || err != nil {
		t.Errorf("the late one got %d, %v", flags, err)
	}
	fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *Comm) error { _, err := c.Agree(t.Context(), 1); return err }))
}

// TestAgreeMismatch has one rank call Shrink: all find out whose call is another one.
func TestAgreeMismatch(t *testing.T) {
	_, all := jobOf(t, 3)
	for rank, err := range fasttest.OnAll(all, func(c *Comm) (err error) {
		if c.Rank() == 1 {
			_, err = c.Shrink(t.Context())
		} else {
			_, err = c.Agree(t.Context(), 1)
		}
		return err
	}) {
		var mismatch *MismatchError
		if !errors.As(err, &mismatch) || mismatch.Field != "operation" || (mismatch.Rank == 1) == (rank == 1) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestAgreeAhead has a rank make calls whose contexts end until no more are taken. The other rank's calls get their
// results when it makes them.
func TestAgreeAhead(t *testing.T) {
	all := comms(t, 2)
	defer leaveAll(all)
	var err error
	for range 10 * agree.MaxOpen {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Microsecond)
		_, err = all[1].Agree(ctx, 1)
		if cancel(); errors.Is(err, ErrInvalidArgument) {
			break
		}
	}
	if n := all[1].membership.Open(); n != agree.MaxOpen || !errors.Is(err, ErrInvalidArgument) {
		t.Fatalf("%d calls were taken, %v", n, err)
	}
	for i := range agree.MaxOpen {
		if _, err := all[0].Agree(t.Context(), 1); err != nil {
			t.Fatal(i, err)
		}
	}
	for all[1].membership.Open() > 0 { // until the last result has come
		runtime.Gosched()
	}
	fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *Comm) error { _, err := c.Agree(t.Context(), 1); return err }))
}
