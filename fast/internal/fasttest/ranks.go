package fasttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/collgen/collgen/fast/internal/rdma/vm"
	"github.com/collgen/collgen/fast/internal/wire"
)

// OnAll calls f for each rank in a goroutine of its own, and returns their errors.
func OnAll[C any](all []C, f func(c C) error) []error {
	errs := make([]error, len(all))
	var ranks sync.WaitGroup
	for rank, c := range all {
		ranks.Go(func() { errs[rank] = f(c) })
	}
	ranks.Wait()
	return errs
}

// CloseAll closes all of them, which succeeds.
func CloseAll[C io.Closer](t *testing.T, all []C) {
	t.Helper()
	for _, c := range all {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// CheckErrors reports the errors of all ranks.
func CheckErrors(t *testing.T, errs []error) {
	t.Helper()
	for rank, err := range errs {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// Unless returns usual, or other if odd.
func Unless[T any](odd bool, usual, other T) T {
	if odd {
		return other
	}
	return usual
}

// DeviceOf returns the real devices that a rank in a test has, one or both; "" if there are none for tests.
func DeviceOf(rank int) string {
	if !vm.Inside() {
		return ""
	}
	patient := fmt.Sprint(",timeout=", vm.Patience)
	one, other := vm.NICs[rank%2].Device+patient, vm.NICs[(rank+1)%2].Device+patient
	return []string{one, one + ";" + other, "all" + patient}[rank%3]
}

// Begin has all ranks come to a communicator at once.
func Begin[C any](t testing.TB, size int, f func(rank int) (C, error)) []C {
	t.Helper()
	all, errs := make([]C, size), make([]error, size)
	var begins sync.WaitGroup
	for rank := range all {
		begins.Go(func() { all[rank], errs[rank] = f(rank) })
	}
	begins.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return all
}

// Again returns a new communicator of the ranks of each of all, for a test that spoils it.
func Again[C duplicable[C]](t testing.TB, all []C) []C {
	t.Helper()
	more := make([]C, len(all))
	if err := errors.Join(OnAll(all, func(c C) (err error) {
		more[c.Rank()], err = c.Dup(t.Context())
		return err
	})...); err != nil {
		t.Fatal(err)
	}
	return more
}

// duplicable is a communicator, of which tests make new ones.
type duplicable[C any] interface {
	Rank() int
	Dup(ctx context.Context) (C, error)
}

// PeersIn returns the ranks of all PeerErrors in err, which is a call's, whose cause was joined.
func PeersIn[Call interface {
	error
	Unwrap() error
}](err error) (ranks []int) {
	var call Call
	if !errors.As(err, &call) {
		return nil
	}
	joined, ok := call.Unwrap().(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	for _, e := range joined.Unwrap() {
		var peer *wire.PeerError
		if errors.As(e, &peer) {
			ranks = append(ranks, peer.Rank)
		}
	}
	return ranks
}
