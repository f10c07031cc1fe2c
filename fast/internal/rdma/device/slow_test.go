//go:build linux && cgo && !netgo

package device_test

import (
	"context"
	"errors"
	"testing"

	"github.com/collgen/collgen/fast/internal/exchangetest"
	"github.com/collgen/collgen/fast/internal/verbs/fake"
	"github.com/collgen/collgen/fast/internal/wire"
)

// slow are the functions of the library that may take long while a link is made.
var slow = []string{"reg_mr", "create_qp", "modify_qp", "connect"}

// TestSlowPeer has the library take long for rank 0's link to rank 1, which rank 0 did not ask for: it makes another
// link, exchanges messages over it, and fails, meanwhile.
func TestSlowPeer(t *testing.T) {
	withLibrary(t, func(folder string) {
		for _, call := range slow {
			own := fake.Add(t, folder, "own-"+call)
			fake.Add(t, folder, "others-"+call)
			all := on(t, 3, 1, func(rank, _ int) string {
				if rank == 0 {
					return "own-" + call
				}
				return "others-" + call
			})
			held, goOn := own.Hold(call)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- all[1].Exchange(ctx, nil, []wire.Recv{{Peer: 0, Into: make([]byte, 1)}}) }()
			exchangetest.Soon(t, call, held)
			exchangetest.Soon(t, "an Exchange with another rank during "+call, func() {
				done := make(chan error)
				go func() { done <- all[2].receive(0, make([]byte, 100_000)) }()
				if err := errors.Join(all[0].send(2, make([]byte, 100_000)), <-done); err != nil {
					t.Error(err)
				}
			})
			exchangetest.Soon(t, "Close during "+call, func() { _ = all[0].Close() })
			cancel()
			<-ended
			goOn()
		}
	})
}

// TestSlowCalls has each function of the library take long, and meanwhile all others used on the same domain, which
// then closes.
func TestSlowCalls(t *testing.T) {
	withLibrary(t, func(folder string) {
		for _, call := range append(slow, "destroy_qp", "dereg_mr") {
			d := fake.Add(t, folder, call)
			domain := on(t, 1, 1, func(int, int) string { return call })[0].domain
			work := func() (err error) {
				region, err := domain.Register(make([]byte, 100))
				if err != nil {
					return err
				}
				pair, err := domain.Pair(10, 10)
				if err != nil {
					return err
				}
				return errors.Join(pair.Connect(pair.Address()), pair.Close(), region.Close())
			}
			held, goOn := d.Hold(call)
			ended, closed := make(chan error), make(chan error)
			go func() { ended <- work() }()
			exchangetest.Soon(t, call, held)
			exchangetest.Soon(t, "everything else during "+call, func() {
				if err := work(); err != nil {
					t.Error(err)
				}
			})
			go func() { closed <- domain.Close() }()
			goOn()
			exchangetest.Soon(t, call, func() { <-ended }) // perhaps the rest of it finds the domain closed
			exchangetest.Soon(t, "Close", func() {
				if err := <-closed; err != nil {
					t.Error(err)
				}
			})
		}
	})
}
