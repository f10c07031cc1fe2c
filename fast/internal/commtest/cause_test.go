package commtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/inproc"
	"github.com/collgen/collgen/fast/internal/setup"
	"github.com/collgen/collgen/fast/internal/wire"
)

// TestClosedAfterMismatch: a rank returns from a call that needed nothing of the one that disagrees with it, and closes
// at once. Who waits for it learns that they disagree, and not only that it has closed.
func TestClosedAfterMismatch(t *testing.T) {
	for _, w := range worlds {
		for _, size := range []int{2, 3, 5} {
			t.Run(w.Name, func(t *testing.T) {
				all := w.Comms(t, size)
				defer fasttest.CloseAll(t, all)
				ctx, cancel := context.WithTimeout(t.Context(), fasttest.Generous)
				defer cancel()
				errs := fasttest.OnAll(all, func(c *fast.Comm) error {
					defer c.Close()
					return fast.Reduce(ctx, c, make([]int32, 4), fast.Sum, fasttest.Unless(c.Rank() == 1, 0, 1))
				})
				if err := wantMismatchOrNone(errs, 1); err != nil {
					t.Errorf("%d ranks: %v", size, err)
				}
			})
		}
	}
}

// wantMismatchOrNone says what is wrong with the errors of ranks of which the odd one disagrees: who does not succeed
// says in what.
func wantMismatchOrNone(errs []error, odd int) error {
	for rank, err := range errs {
		if err == nil { // it only sent
			continue
		}
		if !errors.As(err, new(*fast.MismatchError)) || rank != odd && !slices.Contains(fast.Culprits(err), odd) {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	if errors.Join(errs...) == nil {
		return errSucceeds
	}
	return nil
}

// TestEverySurvivorKnowsWhoLeft: one rank closes while the others are in a call, or make a communicator. Each of these
// learns that it was closed, and by whom, also if another one has told it so.
func TestEverySurvivorKnowsWhoLeft(t *testing.T) {
	for what, call := range map[string]func(ctx context.Context, c *fast.Comm) error{
		"Barrier": func(ctx context.Context, c *fast.Comm) error { return fast.Barrier(ctx, c) },
		"Split":   func(ctx context.Context, c *fast.Comm) error { _, err := c.Split(ctx, 0, 0); return err },
		"Alloc":   func(ctx context.Context, c *fast.Comm) error { _, err := fast.Alloc[int32](ctx, c, 8); return err },
		"Group": func(ctx context.Context, c *fast.Comm) error {
			_, err := c.Group(ctx, []int{4, 3, 2, 1, 0}[5-c.Size():])
			return err
		},
	} {
		for _, w := range worlds {
			for _, size := range []int{2, 3, 5} {
				t.Run(what+"/"+w.Name, func(t *testing.T) {
					all, gone := w.Comms(t, size), size/2
					ctx, cancel := context.WithTimeout(t.Context(), fasttest.Generous)
					defer cancel()
					for rank, err := range fasttest.OnAll(all, func(c *fast.Comm) error {
						if c.Rank() == gone {
							return c.Close()
						}
						return call(ctx, c)
					}) {
						if rank != gone && (!errors.Is(err, fast.ErrClosed) || !slices.Equal(fast.Culprits(err), []int{gone})) {
							t.Errorf("%d ranks, rank %d: %v blames %v", size, rank, err, fast.Culprits(err))
						}
					}
					fasttest.CloseAll(t, all)
				})
			}
		}
	}
}

// TestWordsOfFounding: what one rank of a new communicator cannot do the others learn with its type, and with their own
// ranks, also if rank 0 passes it on.
func TestWordsOfFounding(t *testing.T) {
	job := inproc.NewJob(9)
	defer job.Close()
	of := func(process int) *setup.Group {
		return &setup.Group{Plane: job.Plane(process), Members: []int{7, 3, 8, 5}}
	}
	inner := &fast.TimeoutError{Waiting: []int{1}, Err: &wire.Inner{Err: &fast.PeerError{Rank: 6, Err: fast.ErrFrozen}}}
	for _, x := range []struct {
		err   error
		is    error
		blame []int
	}{
		{&fast.PeerError{Rank: 3, Err: fast.ErrDied}, fast.ErrDied, []int{3}},
		{&fast.PeerError{Rank: 3, Err: fmt.Errorf("%w: silent", fast.ErrFrozen)}, fast.ErrFrozen, []int{3}},
		{&fast.PeerError{Rank: 3, Err: fast.ErrClosed}, fast.ErrClosed, []int{3}},
		{&fast.TimeoutError{Waiting: []int{1}, Err: context.Canceled}, context.Canceled, []int{2}},
		{inner, fast.ErrFrozen, nil},
		{errors.New("no memory"), nil, nil},
	} {
		teller, first, other := of(8), of(7), of(3)
		err := other.Told(7, first.Words(first.Told(8, teller.Words(x.err))))
		if once := first.Told(8, teller.Words(x.err)); x.is != nil && !errors.Is(once, x.is) ||
			!slices.Equal(fast.Culprits(once), x.blame) {
			t.Errorf("%v: rank 0 has %v, which blames %v", x.err, once, fast.Culprits(once))
		}
		if x.is != nil && !errors.Is(err, x.is) || !slices.Equal(fast.Culprits(err), x.blame) {
			t.Errorf("%v: rank 1 has %v, which blames %v", x.err, err, fast.Culprits(err))
		}
	}
}

// TestFoundingIsLetGo: who waits for members watches them until then, and not afterwards.
func TestFoundingIsLetGo(t *testing.T) {
	job := inproc.NewJob(2)
	defer job.Close()
	p := &watchedPlane{Plane: job.Plane(0)}
	f := &setup.Group{Plane: p, Members: []int{0, 1}}
	_, stop := f.Watched(t.Context())
	if p.watching != 1 {
		t.Errorf("%d watch", p.watching)
	}
	if stop(); p.watching != 0 {
		t.Errorf("%d watch still", p.watching)
	}
}

// watchedPlane counts those who watch.
type watchedPlane struct {
	control.Plane
	watching int
}

func (p *watchedPlane) Watch(f func(process int, err error)) (stop func()) {
	p.watching++
	unwatch := p.Plane.Watch(f)
	return func() {
		p.watching--
		unwatch()
	}
}

// FuzzWordsOfFounding takes any bytes for the words of another rank: they become a legible error that names ranks of
// the communicator.
func FuzzWordsOfFounding(f *testing.F) {
	job := inproc.NewJob(9)
	defer job.Close()
	g := &setup.Group{Plane: job.Plane(3), Members: []int{7, 3, 8, 5}}
	for _, err := range []error{&fast.PeerError{Rank: 3, Err: fast.ErrDied}, &fast.TimeoutError{Waiting: []int{0, 2},
		Err: context.Canceled}, fast.ErrAborted} {
		f.Add(g.Words(err))
	}
	f.Add([]byte("\u001b[2J"))
	f.Add([]byte(`{"Rank":-7,"Down":"died","Waiting":[99]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		err := g.Told(8, body)
		if err == nil || !failure.Printable(err.Error()) {
			t.Fatalf("%q: %v", body, err)
		}
		for _, rank := range fast.Culprits(err) {
			if rank < 0 || rank >= 4 {
				t.Fatalf("%q blames rank %d", body, rank)
			}
		}
	})
}

// TestNoticeFits: what a rank tells is a control message, also of a communicator of very many ranks, and so is what it
// tells of a founding.
func TestNoticeFits(t *testing.T) {
	const size = 100_000
	ranks := make([]int, size)
	for rank := range ranks {
		ranks[rank] = rank
	}
	job := inproc.NewJob(1)
	defer job.Close()
	f := &setup.Group{Plane: job.Plane(0), Members: ranks}
	late := &fast.TimeoutError{Waiting: ranks, Err: context.Canceled}
	for _, err := range []error{late, &fast.DeadlockError{Ranks: ranks, Sends: make([]bool, size)},
		&fast.PeerError{Rank: 7, Err: &failure.RemoteError{Text: late.Error(), Is: late}},
		errors.New(strings.Repeat("<", size))} {
		told := failure.NoticeOf(fast.Failed, 0, 1, err)
		body := told.Encode()
		if words := f.Words(err); len(body) > wire.MaxNote || len(words) > wire.MaxNote {
			t.Errorf("%T: %d bytes, and %d of a founding, of at most %d", err, len(body), len(words), wire.MaxNote)
		}
		if n, ok := failure.DecodeNotice(body, size); !ok || err == late && !errors.Is(n.Meaning(1, size), context.Canceled) {
			t.Errorf("%T: another rank cannot read it", err)
		}
	}
}

// TestCulprits are the ranks that an error blames, however many errors it is made of.
func TestCulprits(t *testing.T) {
	mismatch := &fast.MismatchError{Rank: 3, Field: "count"}
	for _, x := range []struct {
		err  error
		want []int
	}{
		{nil, nil},
		{fast.ErrInvalidArgument, nil},
		{&fast.TimeoutError{Waiting: []int{1}, Err: context.Canceled}, nil},
		{fmt.Errorf("Barrier: %w", mismatch), []int{3}},
		{&fast.PeerError{Rank: 1, Err: fast.ErrAborted}, []int{1}},
		// either of them may be wrong
		{&fast.PeerError{Rank: 1, Err: fmt.Errorf("%w: %w", fast.ErrAborted, mismatch)}, []int{1, 3}},
		{&fast.PeerError{Rank: 1, Err: fmt.Errorf("%w: %w", fast.ErrAborted, &fast.PeerError{Rank: 3, Err: fast.ErrDied})},
			[]int{3}},
		{&fast.PeerError{Rank: 0, Err: fmt.Errorf("%w: %w", fast.ErrAborted, &fast.DeadlockError{Ranks: []int{2, 1},
			Sends: []bool{true, true}})}, []int{1, 2}},
		{&fast.PeerError{Rank: 1, Err: fmt.Errorf("%w: %w", fast.ErrAborted, &fast.TimeoutError{Waiting: []int{3},
			Err: context.Canceled})}, []int{1}},
		{&fast.PeerError{Rank: 1, Err: fmt.Errorf("%w: %w", fast.ErrAborted, &fast.TimeoutError{Waiting: []int{3},
			Err: context.DeadlineExceeded})}, nil}, // it waited for others
		{errors.Join(&fast.PeerError{Rank: 4, Err: fast.ErrDied}, &fast.PeerError{Rank: 0, Err: fast.ErrFrozen}),
			[]int{0, 4}},
		{&fast.CallError{Op: "Recv", Err: &fast.DeadlockError{Ranks: []int{2, 1}, Sends: []bool{true, true}}}, []int{1, 2}},
	} {
		if got := fast.Culprits(x.err); !slices.Equal(got, x.want) {
			t.Errorf("%v blames %v, want %v", x.err, got, x.want)
		}
	}
	if got, want := (&fast.CallError{Comm: "world", Rank: 1, Size: 2, Op: "Shrink", Peer: -1,
		Err: fast.ErrFenced}).Error(),
		"Shrink on world, rank 1 of 2: "+fast.ErrFenced.Error(); got != want {
		t.Errorf("an error without a call is %q, want %q", got, want)
	}
}
