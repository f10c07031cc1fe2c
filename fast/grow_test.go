package fast

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/fasttest"
)

var growSecret = bytes.Repeat([]byte{7}, 32)

// grown returns what all of some ranks and newcomers get, of whom rank by invites so many.
func grown(ctx context.Context, all []*Comm, by, newcomers int, opts ...InitOption) ([]*Comm, error) {
	out := make([]*Comm, len(all)+newcomers)
	tickets := make([]string, newcomers)
	for i := range tickets {
		var err error
		if tickets[i], err = all[by].Invite(ctx); err != nil {
			return nil, err
		}
	}
	errs := make([]error, len(out))
	var calls sync.WaitGroup
	for i := range out {
		calls.Go(func() {
			if i < len(all) {
				out[i], errs[i] = all[i].Grow(ctx)
			} else {
				out[i], errs[i] = Join(ctx, tickets[i-len(all)], opts...)
			}
		})
	}
	calls.Wait()
	return out, errors.Join(errs...)
}

func closeEach(all []*Comm) {
	for _, c := range all {
		_ = c.Close()
	}
}

// TestGrow has processes join a job over every transport; one of them invites another one.
func TestGrow(t *testing.T) {
	for name, opts := range map[string][]InitOption{
		"shm":       {WithTransport("shm")},
		"tcp":       {WithTransport("tcp")},
		"encrypted": {WithTransport("tcp"), WithEncryption()},
		"mixed":     {oddAndEven},
	} {
		t.Run(name, func(t *testing.T) {
			opts = append(opts, WithSecret(growSecret))
			first := initComms(t, 3, opts...)
			defer closeEach(first)
			second, err := grown(t.Context(), first, 1, 2, opts...)
			if err != nil {
				t.Fatal(err)
			}
			defer closeEach(second)
			checkHealthy(t, second)
			third, err := grown(t.Context(), second, 4, 1, opts...)
			if err != nil {
				t.Fatal(err)
			}
			defer closeEach(third)
			for rank, c := range third {
				if c.Rank() != rank || c.Size() != 6 {
					t.Errorf("rank %d is %v", rank, c)
				}
			}
			for _, all := range [][]*Comm{third, second, first} {
				checkHealthy(t, all)
			}
		})
	}
}

// TestGrowAndShrink has newcomers take the places of processes that are gone.
func TestGrowAndShrink(t *testing.T) {
	all := initComms(t, 3, WithSecret(growSecret))
	for range 3 {
		closeEach(all[:1]) // with its process
		small := make([]*Comm, 2)
		fasttest.CheckErrors(t, fasttest.OnAll(all[1:], func(c *Comm) (err error) {
			small[c.Rank()-1], err = c.Shrink(t.Context())
			return errors.Join(err, c.Close())
		}))
		large, err := grown(t.Context(), small, 0, 1, WithSecret(growSecret))
		if err != nil {
			t.Fatal(err)
		}
		closeEach(small)
		all = large
		checkHealthy(t, all)
	}
	closeEach(all)
}

// TestGrowRefused are calls that fail on all ranks, after which c is as before.
func TestGrowRefused(t *testing.T) {
	all := initComms(t, 2, WithSecret(growSecret))
	defer closeEach(all)
	for rank, err := range fasttest.OnAll(all, func(c *Comm) error { _, err := c.Grow(t.Context()); return err }) {
		if !errors.Is(err, ErrInvalidArgument) {
			t.Errorf("nobody was invited, rank %d: %v", rank, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := all[0].Invite(ended); !errors.Is(err, ErrInvalidArgument) {
		t.Errorf("invited without time: %v", err)
	}
	//lint:ignore SA1012 it is what the test is about
	if _, err := Join(nil, ""); !errors.Is(err, ErrInvalidArgument) {
		t.Errorf("joined without a context: %v", err)
	}
	ticket, err := all[0].Invite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := slices.Clone(growSecret)
	other[0]++
	for _, test := range []struct {
		ticket string
		opts   []InitOption
		want   error
	}{
		{"no ticket", []InitOption{WithSecret(growSecret)}, ErrTicket},
		{ticket[:len(ticket)-1], []InitOption{WithSecret(growSecret)}, ErrTicket},
		{ticket, nil, ErrInvalidArgument},
		{ticket, []InitOption{nil}, ErrInvalidArgument},
		{ticket, []InitOption{WithSecret(other)}, nil},
	} {
		if _, err := Join(t.Context(), test.ticket, test.opts...); err == nil || !errors.Is(err, test.want) && test.want != nil {
			t.Errorf("%q: %v, want %v", test.ticket, err, test.want)
		}
	}
	checkHealthy(t, all)
	_, outside := jobOf(t, 1)
	if _, err := outside[0].Invite(t.Context()); !errors.Is(err, ErrInvalidArgument) {
		t.Errorf("invited to Run: %v", err)
	}
	if _, err := outside[0].Grow(t.Context()); !errors.Is(err, ErrInvalidArgument) {
		t.Errorf("grown under Run: %v", err)
	}
}

// TestInviteNobody: where no newcomer could prove that it belongs to the job, nobody is invited.
func TestInviteNobody(t *testing.T) {
	c, err := Init(t.Context(), WithRank(0, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Invite(t.Context()); !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), "with a secret") {
		t.Errorf("invited without a secret: %v", err)
	}
}

// TestGrowLate has nobody come in time, and somebody with the same ticket the next time; a third time it is used up.
func TestGrowLate(t *testing.T) {
	all := initComms(t, 2, WithSecret(growSecret))
	defer closeEach(all)
	ticket, err := all[1].Invite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for rank, err := range fasttest.OnAll(all, func(c *Comm) error { _, err := c.Grow(short); return err }) {
		var timeout *TimeoutError
		var peer *PeerError
		if !errors.As(err, &timeout) && !errors.As(err, &peer) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	large := make([]*Comm, 3)
	fasttest.CheckErrors(t, fasttest.OnAll(append(slices.Clone(all), nil), func(c *Comm) (err error) {
		if c == nil {
			large[2], err = Join(t.Context(), ticket, WithSecret(growSecret))
		} else {
			large[c.Rank()], err = c.Grow(t.Context())
		}
		return err
	}))
	checkHealthy(t, large)
	if _, err := Join(t.Context(), ticket, WithSecret(growSecret)); !errors.Is(err, ErrTicketUsed) {
		t.Errorf("joined twice: %v", err)
	}
	closeEach(large)
}

// TestGrowInVain has a process come, and go before Grow is called.
func TestGrowInVain(t *testing.T) {
	all := initComms(t, 2, WithSecret(growSecret))
	defer closeEach(all)
	ticket, err := all[0].Invite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := Join(short, ticket, WithSecret(growSecret)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("joined alone: %v", err)
	}
	for rank, err := range fasttest.OnAll(all, func(c *Comm) error { _, err := c.Grow(t.Context()); return err }) {
		var peer *PeerError
		if !errors.As(err, &peer) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	checkHealthy(t, all)
	if large, err := grown(t.Context(), all, 1, 1, WithSecret(growSecret)); err != nil {
		t.Error(err)
	} else {
		checkHealthy(t, large)
		closeEach(large)
	}
}

// TestGrowAlone has a rank leave while the one that has invited a process waits for it in vain, or that rank itself.
func TestGrowAlone(t *testing.T) {
	for who, want := range []error{ErrAborted, ErrClosed} {
		parents := initComms(t, 2, WithSecret(growSecret))
		defer closeEach(parents)
		all := fasttest.Again(t, parents) // so that no process leaves
		defer closeEach(all)
		if _, err := all[0].Invite(t.Context()); err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			_, err := all[0].Grow(t.Context())
			done <- err
		}()
		for !all[0].membership.HasBegun(0) { // until it is under way
			runtime.Gosched()
		}
		all[who].Abort()
		if err := <-done; !errors.Is(err, want) {
			t.Errorf("rank %d aborts: %v, want %v", who, err, want)
		}
	}
}
