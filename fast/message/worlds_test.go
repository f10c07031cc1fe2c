package message

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
	engine "github.com/collgen/collgen/fast/internal/message"
)

// each runs f with the ranks of a communicator in each way in which ranks talk.
func each(t *testing.T, size int, f func(t *testing.T, all []*fast.Comm)) {
	t.Helper()
	for _, w := range fasttest.Worlds(fast.Init) {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, size)
			f(t, all)
			fasttest.CloseAll(t, all)
		})
	}
}

// lengths are numbers of bytes about which the protocol changes, and some between.
var lengths = []int{0, 1, 7, engine.EagerLimit - 1, engine.EagerLimit, engine.EagerLimit + 1, engine.Window / 4,
	engine.Window/4 + 1, engine.Window - 1, engine.Window, engine.Window + 1, 3 << 20}

// fill fills buf with what a message of a rank with that tag has.
func fill(buf []byte, rank, tag int) {
	x := uint32(rank)<<16 ^ uint32(tag) ^ 0x9e3779b9
	for i := range buf {
		x = x*1664525 + 1013904223
		buf[i] = byte(x >> 24)
	}
}

// check returns an error unless buf is what fill makes.
func check(buf []byte, rank, tag int) error {
	want := make([]byte, len(buf))
	fill(want, rank, tag)
	for i := range buf {
		if buf[i] != want[i] {
			return fmt.Errorf("byte %d of %d from rank %d with tag %d is wrong", i, len(buf), rank, tag)
		}
	}
	return nil
}

// TestLengths: messages of all lengths arrive as they were sent, those that come before their receive and those that
// come after it, from another rank and from this one.
func TestLengths(t *testing.T) {
	each(t, 2, func(t *testing.T, all []*fast.Comm) {
		for tag, n := range lengths {
			for _, from := range []int{0, 1} {
				for _, first := range []string{"send", "receive"} {
					out, in := make([]byte, n), make([]byte, n+3)
					fill(out, from, tag)
					var s, r *Handle
					if first == "send" {
						s = StartSend(t.Context(), all[from], out, 1, tag)
						if p, err := Probe(t.Context(), all[1], from, tag); err != nil || p != status(from, tag, n) {
							t.Errorf("%d bytes: the probe has %v, %v", n, p, err)
						}
						r = StartRecv(t.Context(), all[1], in, from, tag)
					} else {
						r = StartRecv(t.Context(), all[1], in, from, tag)
						s = StartSend(t.Context(), all[from], out, 1, tag)
					}
					if err := s.Wait(t.Context()); err != nil {
						t.Error(err)
					}
					if err := r.Wait(t.Context()); err != nil || r.Status() != status(from, tag, n) {
						t.Errorf("%d bytes: %v, %v", n, r.Status(), err)
					}
					if err := check(in[:n], from, tag); err != nil || in[n] != 0 {
						t.Errorf("%s first: %v", first, err)
					}
				}
			}
		}
	})
}

// TestCommunicators: messages are received on the communicator on which they were sent, whose ranks have numbers of
// their own there.
func TestCommunicators(t *testing.T) {
	each(t, 4, func(t *testing.T, all []*fast.Comm) {
		fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
			half, err := c.Split(t.Context(), c.Rank()%2, -c.Rank()) // ranks 0 and 1 of it are 2 and 0, or 3 and 1
			if err != nil {
				return err
			}
			defer half.Close()
			one := StartSend(t.Context(), c, []int{10 + c.Rank()}, (c.Rank()+2)%4, 0)
			two := StartSend(t.Context(), half, []int{20 + c.Rank()}, 1-half.Rank(), 0)
			return errors.Join(receiveOnly(t.Context(), half, 1-half.Rank(), 20+(c.Rank()+2)%4),
				receiveOnly(t.Context(), c, (c.Rank()+2)%4, 10+(c.Rank()+2)%4),
				one.Wait(t.Context()), two.Wait(t.Context()), fast.Barrier(t.Context(), c))
		}))
	})
}

// receiveOnly receives a message from any rank, which has to be that number of that rank.
func receiveOnly(ctx context.Context, c *fast.Comm, from, want int) error {
	n := make([]int, 1)
	got, err := Recv(ctx, c, n, AnySource, AnyTag)
	if err != nil || got.Source != from || n[0] != want {
		return fmt.Errorf("%v has %v of %v, want %d of %d: %w", c, n, got, want, from, err)
	}
	return nil
}

// TestManyGoroutines: on each rank, many goroutines send and receive at once, from this rank and others, while
// collectives run on the same communicator. Each takes the messages of its own tag, by source or from any.
func TestManyGoroutines(t *testing.T) {
	const size, goroutines = 3, 4
	rounds := fasttest.Unless(testing.Short(), 12, 4)
	each(t, size, func(t *testing.T, all []*fast.Comm) {
		fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
			errs := make(chan error, 2*goroutines)
			for tag := range goroutines {
				go func() { errs <- sendRounds(t.Context(), c, tag, rounds) }()
				go func() { errs <- receiveRounds(t.Context(), c, tag, rounds) }()
			}
			for range rounds {
				n := []int{1}
				if err := fast.AllReduce(t.Context(), c, n, fast.Sum); err != nil || n[0] != size {
					return fmt.Errorf("the sum is %d: %w", n[0], err)
				}
			}
			for range cap(errs) {
				if err := <-errs; err != nil {
					return err
				}
			}
			return nil
		}))
	})
}

// sendRounds sends a message to each rank in each round, of a length that depends on the tag and the round.
func sendRounds(ctx context.Context, c *fast.Comm, tag, rounds int) error {
	for round := range rounds {
		buf := make([]byte, lengthOf(tag, round))
		fill(buf, c.Rank(), tag+round)
		for _, to := range rand.Perm(c.Size()) {
			h := StartSend(ctx, c, buf, to, tag)
			defer func() { _ = h.Wait(ctx) }()
		}
	}
	return nil
}

func lengthOf(tag, round int) int { return lengths[(tag+round)%len(lengths)] }

// receiveRounds receives what sendRounds has sent. Those of one rank come in order.
func receiveRounds(ctx context.Context, c *fast.Comm, tag, rounds int) error {
	buf := make([]byte, 3<<20)
	next := make([]int, c.Size())
	for i := range rounds * c.Size() {
		from := AnySource
		if tag%2 == 0 {
			from = i % c.Size()
		}
		got, err := Recv(ctx, c, buf, from, tag)
		if err != nil {
			return err
		}
		round := next[got.Source]
		next[got.Source]++
		if want := lengthOf(tag, round); got.Tag != tag || got.Count != want {
			return fmt.Errorf("message %d of rank %d: got %v, want %d bytes with tag %d", round, got.Source, got, want,
				tag)
		}
		if err := check(buf[:got.Count], got.Source, tag+round); err != nil {
			return err
		}
	}
	return nil
}

func status(source, tag, count int) Status { return Status{Source: source, Tag: tag, Count: count} }
