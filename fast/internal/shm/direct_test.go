//go:build linux

package shm

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
)

// registeredPair returns two endpoints with a region of n bytes each.
func registeredPair(t *testing.T, n int) ([]*Endpoint, *registry) {
	t.Helper()
	g, all := newRegistry(t, 2, n), group(t, 2)
	g.register(t, all, 7)
	t.Cleanup(func() {
		closeGroup(all)
		g.close()
	})
	return all, g
}

// TestOffered: a long message from a region takes one segment, and all others as many slots as they need.
func TestOffered(t *testing.T) {
	const n = 5*maxSlot + 1
	all, g := registeredPair(t, n)
	inRegion := g.regions[0].Bytes
	for _, x := range []struct {
		what     string
		data     []byte
		segments uint32
	}{
		{"all of it", inRegion, 1},
		{"its end", inRegion[n-directFrom:], 1},
		{"a part", inRegion[3:][:2*maxSlot], 1},
		{"short", inRegion[:directFrom-1], 1},
		{"the program's", make([]byte, n), 6},
	} {
		for i := range x.data {
			x.data[i] = byte(i * 7)
		}
		before, into := all[1].links[0].in.next, make([]byte, len(x.data))
		errs := together(all, func(e *Endpoint) error {
			if e.rank == 0 {
				return e.Exchange(t.Context(), []wire.Send{{Peer: 1, Data: x.data}}, nil)
			}
			return e.Exchange(t.Context(), nil, []wire.Recv{{Peer: 0, Into: into}})
		})
		if err := errors.Join(errs...); err != nil || !bytes.Equal(into, x.data) {
			t.Errorf("%s: it does not arrive: %v", x.what, err)
		}
		if got := all[1].links[0].in.next - before; got != x.segments {
			t.Errorf("%s: %d segments, want %d", x.what, got, x.segments)
		}
	}
}

// TestWithdrawn: a sender gives up, and the receiver does not take what it finds for the message: before it has begun
// to read, and while it reads, as its kernel sees to.
func TestWithdrawn(t *testing.T) {
	const n = 4 * piece
	for name, x := range map[string]struct {
		giveUp func(sender *Endpoint, cancel func())
		cause  error
	}{
		"cancelled": {func(_ *Endpoint, cancel func()) { cancel() }, wire.ErrAborted},
		"failed":    {func(e *Endpoint, _ func()) { e.Fail(wire.ErrFrozen) }, wire.ErrAborted},
		"closed":    {func(e *Endpoint, _ func()) { _ = e.Close() }, wire.ErrClosed},
	} {
		for i, pieces := range []int{0, 1, 3, 4, 0, 1, 3, 4} {
			all, g := registeredPair(t, n)
			data, sent := g.regions[0].Bytes, make(chan error, 1)
			if i >= 4 {
				closeGroup(all)
				all, data = openGroup(t, 2), make([]byte, n)
				defer closeGroup(all)
			}
			ctx, cancel := context.WithCancel(t.Context())
			go func() { sent <- all[0].Exchange(ctx, []wire.Send{{Peer: 1, Data: data}}, nil) }()
			stop := func() {
				x.giveUp(all[0], cancel)
				if err := <-sent; err == nil {
					t.Errorf("%s: the sender succeeds", name)
				}
				for i := range data {
					data[i] = scribble
				}
			}
			for all[1].links[0].in.head.lines[0].seq.Load() == 0 { // until it is offered
				all[1].yield()
			}
			into := make([]byte, n)
			r := wire.Recv{Peer: 0, Into: into, With: into, Kernel: func(dst, a, b []byte) {
				if pieces--; pieces == 0 {
					stop()
				}
				subtract(dst, a, b)
			}}
			if pieces == 0 {
				stop()
			}
			err := all[1].Exchange(t.Context(), nil, []wire.Recv{r})
			var peer *wire.PeerError
			if !errors.As(err, &peer) || peer.Rank != 0 || !errors.Is(err, x.cause) {
				t.Errorf("%s: the receiver gets %v, want rank 0: %v", name, err, x.cause)
			}
			cancel()
		}
	}
}

// TestKernelPanics: the memory of an offered message is not read any more when the sender's Exchange is left by a
// panic.
func TestKernelPanics(t *testing.T) {
	all, g := registeredPair(t, piece)
	into := make([]byte, 1)
	panicking := wire.Recv{Peer: 1, Into: into, With: into, Kernel: func(_, _, _ []byte) { panic("as planned") }}
	if err := send(all[1], 0); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the kernel does not panic")
			}
		}()
		_ = all[0].Exchange(t.Context(), []wire.Send{{Peer: 1, Data: g.regions[0].Bytes}}, []wire.Recv{panicking})
	}()
	err := all[1].Exchange(t.Context(), nil, []wire.Recv{{Peer: 0, Into: make([]byte, piece)}})
	if !errors.Is(err, wire.ErrAborted) {
		t.Errorf("the receiver gets %v", err)
	}
}

// TestHostilePlaces: a sender lies about where a message is.
func TestHostilePlaces(t *testing.T) {
	const n = piece + 1
	whole := uint64(maxSlot + 4096) // the region's file
	for name, x := range map[string]struct {
		where uint32
		place place
		want  string
	}{
		"no such region":        {inRegion, place{8, 0, n}, broken},
		"beyond the end":        {inRegion, place{7, whole * 2, n}, broken},
		"over the end":          {inRegion, place{7, whole - n + 1, n}, broken},
		"around":                {inRegion, place{7, math.MaxUint64 - n + 1, n}, broken},
		"around, by one":        {inRegion, place{7, math.MaxUint64, n}, broken},
		"shorter":               {inRegion, place{7, 0, n - 1}, differs},
		"empty":                 {inRegion, place{7, 0, 0}, differs},
		"longer than all there": {inRegion, place{7, 0, math.MaxUint64}, differs},
		"nowhere known":         {77, place{7, 0, n}, broken},
	} {
		all, _ := registeredPair(t, n)
		if got := uint64(len(all[1].links[0].regions[0].mapped)); got != whole {
			t.Fatalf("a region of %d bytes has a file of %d", n, got)
		}
		all[1].Begin(wire.NewMark(&wire.Call{Seq: 1}))
		l := &all[1].links[0].in.head.lines[0]
		l.left, l.fingerprint, l.where = n, all[1].current.Fingerprint, x.where
		*l.place() = x.place
		l.seq.Store(1)
		err := all[1].Exchange(t.Context(), nil, []wire.Recv{{Peer: 0, Into: make([]byte, n)}})
		if !says(err, x.want) {
			t.Errorf("%s: %v, want one that says: %s", name, err, x.want)
		}
	}
}
