package rdma_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/wire"
)

// keepBack has the cards of rank from that say that it is ready be kept back until they are let go.
func (g *group) keepBack(from int) (letGo func()) {
	goOn, carry := make(chan struct{}), g.carry
	g.carry = func(rank, peer int, card []byte) {
		if rank != from || !rdma.SaysReady(card) {
			carry(rank, peer, card)
			return
		}
		go func() {
			<-goOn
			carry(rank, peer, card)
		}()
	}
	return func() { close(goOn) }
}

// TestSentBeforeLeft has a rank send and close before the other one has heard that it is ready to be written to, or
// without that it ever does: what was sent comes, and after it that the rank has closed.
func TestSentBeforeLeft(t *testing.T) {
	for _, late := range []bool{false, true} {
		g := worlds["usual"].group(t, 2)
		letGo := g.keepBack(0)
		if err := g.all[0].send(1, []byte{7}); err != nil {
			t.Fatal(err)
		}
		_ = g.all[0].Close()
		if late {
			letGo()
		} else {
			defer letGo()
		}
		into := []byte{0}
		if err := g.all[1].receive(0, into); err != nil || !bytes.Equal(into, []byte{7}) {
			t.Errorf("late %v: %v, %v", late, into, err)
		}
		wantClosed(t, g.all[1].receive(0, into), 0)
	}
}

// TestLeftUnready has a rank close that has not heard that it may write. It has heard of the other rank's link and is
// ready itself, or has only asked for it. The other rank is told that it has closed, though it says no last word.
func TestLeftUnready(t *testing.T) {
	for asks := range 2 {
		t.Run(fmt.Sprintf("rank %d asks", asks), func(t *testing.T) {
			t.Parallel()
			g := worlds["usual"].group(t, 2)
			defer g.keepBack(1)()
			ended := [2]chan error{make(chan error, 1), make(chan error, 1)}
			receives := func(rank int) { ended[rank] <- g.all[rank].receive(1-rank, make([]byte, 1)) }
			go receives(asks)
			soon(t, "connecting", func() {
				for !g.all[1].Connected(0) {
					time.Sleep(time.Millisecond)
				}
			})
			_ = g.all[0].Close()
			if asks == 0 {
				go receives(1)
			}
			wantClosed(t, <-ended[1], 0)
		})
	}
}

// wantClosed wants the error of a rank that has closed.
func wantClosed(t *testing.T, err error, rank int) {
	t.Helper()
	var peer *wire.PeerError
	if !errors.As(err, &peer) || peer.Rank != rank || !errors.Is(err, wire.ErrClosed) {
		t.Errorf("got %v, want that rank %d has closed", err, rank)
	}
}
