package rdma_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/exchangetest"
	"github.com/collgen/collgen/fast/internal/wire"
)

// hold has rank 0's device be at a call of that name until goOn is called, and tells when it is.
func (g *group) hold(what string) (there <-chan struct{}, goOn func()) {
	var taken atomic.Bool
	at, over := make(chan struct{}), make(chan struct{})
	g.all[0].device.Before = func(call string) {
		if call == what && !taken.Swap(true) {
			close(at)
			<-over
		}
	}
	return at, sync.OnceFunc(func() { close(over) })
}

var soon = exchangetest.Soon

// nothingLeft waits until rank 0 has given all of its device back.
func (g *group) nothingLeft(t *testing.T) {
	t.Helper()
	soon(t, "giving everything back", func() {
		for g.all[0].left() > 0 {
			time.Sleep(time.Millisecond)
		}
	})
}

// slow are what a device may take long for while it makes a link.
var slow = []string{"register", "pair", "connect"}

// TestSlowPeer has rank 0's device take long for its link to rank 1, which it did not ask for: nothing else waits for
// that.
func TestSlowPeer(t *testing.T) {
	for _, what := range slow {
		g := worlds["usual"].group(t, 3)
		there, goOn := g.hold(what)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- g.all[1].Exchange(ctx, nil, []wire.Recv{{Peer: 0, Into: make([]byte, 1)}}) }()
		soon(t, what, func() { <-there })
		soon(t, "an Exchange with another rank", func() {
			done := make(chan error)
			go func() { done <- g.all[2].receive(0, make([]byte, 1)) }()
			if err := errors.Join(g.all[0].send(2, []byte{1}), <-done); err != nil {
				t.Error(err)
			}
		})
		soon(t, "Waiting", func() { _ = g.all[0].Waiting() })
		soon(t, "Fail", func() { g.all[0].Fail(wire.ErrFrozen) })
		soon(t, "Close", func() { _ = g.all[0].Close() })
		cancel()
		<-ended
		goOn()
		g.nothingLeft(t)
	}
}

// TestSlowLink has rank 0's device take long for the link that it needs: the rank can be asked and told, and can give
// up.
func TestSlowLink(t *testing.T) {
	for _, what := range slow {
		g := worlds["usual"].group(t, 3)
		there, goOn := g.hold(what)
		ended := make(chan error)
		go func() { ended <- g.all[0].send(1, []byte{1}) }()
		ctx, cancel := context.WithCancel(t.Context())
		others := make(chan error)
		tells := func(rank int) {
			others <- g.all[rank].Exchange(ctx, nil, []wire.Recv{{Peer: 0, Into: make([]byte, 1)}})
		}
		go tells(1)
		soon(t, what, func() { <-there })
		go tells(2)
		soon(t, "Waiting", func() {
			for !slices.Equal(g.all[0].Waiting(), []int{1}) {
				time.Sleep(time.Millisecond)
			}
		})
		soon(t, "a failed Exchange", func() {
			g.all[0].Fail(wire.ErrFrozen)
			if err := <-ended; !errors.Is(err, wire.ErrFrozen) {
				t.Error(err)
			}
		})
		soon(t, "Close", func() { _ = g.all[0].Close() })
		cancel()
		<-others
		<-others
		goOn()
		g.nothingLeft(t)
	}
}

// TestSlowMemory has rank 0's device take long to register the memory of a message: only the message waits for that.
func TestSlowMemory(t *testing.T) {
	g := worlds["usual"].group(t, 2)
	if s, r := g.both([]byte{1}, make([]byte, 1)); s != nil || r != nil {
		t.Fatal(s, r)
	}
	there, goOn := g.hold("register")
	data, into := make([]byte, 1<<20), make([]byte, 1<<20)
	g.all[0].Know(data)
	g.all[1].Know(into)
	ended := make(chan error)
	go func() { ended <- g.all[1].receive(0, into) }()
	go func() { ended <- g.all[0].send(1, data) }()
	soon(t, "registering", func() { <-there })
	soon(t, "Waiting", func() { _ = g.all[0].Waiting() })
	goOn()
	if err := errors.Join(<-ended, <-ended); err != nil {
		t.Error(err)
	}
	g.all[0].Fail(wire.ErrFrozen)
	_ = g.all[0].Close()
	g.nothingLeft(t)
}
