package commtest

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

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/access"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

var growSecret = bytes.Repeat([]byte{7}, 32)

// grown returns what all of some ranks and newcomers get, of whom rank by invites so many.
func grown(ctx context.Context, all []*fast.Comm, by, newcomers int, opts ...fast.InitOption) ([]*fast.Comm, error) {
	out := make([]*fast.Comm, len(all)+newcomers)
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
				out[i], errs[i] = fast.Join(ctx, tickets[i-len(all)], opts...)
			}
		})
	}
	calls.Wait()
	return out, errors.Join(errs...)
}

func closeEach(all []*fast.Comm) {
	for _, c := range all {
		_ = c.Close()
	}
}

// TestGrow has processes join a job over every transport; one of them invites another one.
func TestGrow(t *testing.T) {
	for name, opts := range map[string][]fast.InitOption{
		"shm":       {fast.WithTransport("shm")},
		"tcp":       {fast.WithTransport("tcp")},
		"encrypted": {fast.WithTransport("tcp"), fast.WithEncryption()},
		"mixed":     {oddAndEven()},
	} {
		t.Run(name, func(t *testing.T) {
			opts = append(opts, fast.WithSecret(growSecret))
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
			for _, all := range [][]*fast.Comm{third, second, first} {
				checkHealthy(t, all)
			}
		})
	}
}

// TestGrowAndShrink has newcomers take the places of processes that are gone.
func TestGrowAndShrink(t *testing.T) {
	all := initComms(t, 3, fast.WithSecret(growSecret))
	for range 3 {
		closeEach(all[:1]) // with its process
		small := make([]*fast.Comm, 2)
		fasttest.CheckErrors(t, fasttest.OnAll(all[1:], func(c *fast.Comm) (err error) {
			small[c.Rank()-1], err = c.Shrink(t.Context())
			return errors.Join(err, c.Close())
		}))
		large, err := grown(t.Context(), small, 0, 1, fast.WithSecret(growSecret))
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
	all := initComms(t, 2, fast.WithSecret(growSecret))
	defer closeEach(all)
	for rank, err := range fasttest.OnAll(all, func(c *fast.Comm) error { _, err := c.Grow(t.Context()); return err }) {
		if !errors.Is(err, fast.ErrInvalidArgument) {
			t.Errorf("nobody was invited, rank %d: %v", rank, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := all[0].Invite(ended); !errors.Is(err, fast.ErrInvalidArgument) {
		t.Errorf("invited without time: %v", err)
	}
	//lint:ignore SA1012 it is what the test is about
	if _, err := fast.Join(nil, ""); !errors.Is(err, fast.ErrInvalidArgument) {
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
		opts   []fast.InitOption
		want   error
	}{
		{"no ticket", []fast.InitOption{fast.WithSecret(growSecret)}, fast.ErrTicket},
		{ticket[:len(ticket)-1], []fast.InitOption{fast.WithSecret(growSecret)}, fast.ErrTicket},
		{ticket, nil, fast.ErrInvalidArgument},
		{ticket, []fast.InitOption{nil}, fast.ErrInvalidArgument},
		{ticket, []fast.InitOption{fast.WithSecret(other)}, nil},
	} {
		if _, err := fast.Join(t.Context(), test.ticket, test.opts...); err == nil || !errors.Is(err, test.want) &&
			test.want != nil {
			t.Errorf("%q: %v, want %v", test.ticket, err, test.want)
		}
	}
	checkHealthy(t, all)
	outside := comms(t, 1)
	if _, err := outside[0].Invite(t.Context()); !errors.Is(err, fast.ErrInvalidArgument) {
		t.Errorf("invited to Run: %v", err)
	}
	if _, err := outside[0].Grow(t.Context()); !errors.Is(err, fast.ErrInvalidArgument) {
		t.Errorf("grown under Run: %v", err)
	}
}

// TestInviteNobody: where no newcomer could prove that it belongs to the job, nobody is invited.
func TestInviteNobody(t *testing.T) {
	c, err := fast.Init(t.Context(), fast.WithRank(0, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Invite(t.Context()); !errors.Is(err, fast.ErrInvalidArgument) || !strings.Contains(err.Error(),
		"with a secret") {
		t.Errorf("invited without a secret: %v", err)
	}
}

// TestGrowLate has nobody come in time, and somebody with the same ticket the next time; a third time it is used up.
func TestGrowLate(t *testing.T) {
	all := initComms(t, 2, fast.WithSecret(growSecret))
	defer closeEach(all)
	ticket, err := all[1].Invite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for rank, err := range fasttest.OnAll(all, func(c *fast.Comm) error { _, err := c.Grow(short); return err }) {
		var timeout *fast.TimeoutError
		var peer *fast.PeerError
		if !errors.As(err, &timeout) && !errors.As(err, &peer) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	large := make([]*fast.Comm, 3)
	fasttest.CheckErrors(t, fasttest.OnAll(append(slices.Clone(all), nil), func(c *fast.Comm) (err error) {
		if c == nil {
			large[2], err = fast.Join(t.Context(), ticket, fast.WithSecret(growSecret))
		} else {
			large[c.Rank()], err = c.Grow(t.Context())
		}
		return err
	}))
	checkHealthy(t, large)
	if _, err := fast.Join(t.Context(), ticket, fast.WithSecret(growSecret)); !errors.Is(err, fast.ErrTicketUsed) {
		t.Errorf("joined twice: %v", err)
	}
	closeEach(large)
}

// TestGrowInVain has a process come, and go before Grow is called.
func TestGrowInVain(t *testing.T) {
	all := initComms(t, 2, fast.WithSecret(growSecret))
	defer closeEach(all)
	ticket, err := all[0].Invite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := fast.Join(short, ticket, fast.WithSecret(growSecret)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("joined alone: %v", err)
	}
	for rank, err := range fasttest.OnAll(all, func(c *fast.Comm) error { _, err := c.Grow(t.Context()); return err }) {
		var peer *fast.PeerError
		if !errors.As(err, &peer) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	checkHealthy(t, all)
	if large, err := grown(t.Context(), all, 1, 1, fast.WithSecret(growSecret)); err != nil {
		t.Error(err)
	} else {
		checkHealthy(t, large)
		closeEach(large)
	}
}

// TestGrowAlone has a rank leave while the one that has invited a process waits for it in vain, or that rank itself.
func TestGrowAlone(t *testing.T) {
	for who, want := range []error{fast.ErrAborted, fast.ErrClosed} {
		parents := initComms(t, 2, fast.WithSecret(growSecret))
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
		for !access.Fast.HasBegun(all[0], 0) { // until it is under way
			runtime.Gosched()
		}
		all[who].Abort()
		if err := <-done; !errors.Is(err, want) {
			t.Errorf("rank %d aborts: %v, want %v", who, err, want)
		}
	}
}
