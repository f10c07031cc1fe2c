// Package exchangetest tests what every transport has to keep: that messages arrive whole, in order and reduced as they
// should be; that channels have the room that they promise (ARCHITECTURE.md, "What a channel promises"), which the
// tests exchange, after send and apart are about; that ranks whose calls disagree are told; that every Exchange ends,
// and touches nothing afterwards; and that it allocates nothing. A transport's own tests call [Run], and add what is
// particular to it.
package exchangetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Transport carries the messages of one rank: the seam between package fast and its transports, which says what the
// methods promise.
type Transport interface {
	Begin(call wire.Mark)
	Exchange(ctx context.Context, sends []wire.Send, recvs []wire.Recv) error
	Post(sends []wire.Send, recvs []wire.Recv) error
	Progress(ctx, until context.Context) error
	Nudge()
	Waiting() []int
	Moved() uint64
	Fail(err error)
	Close() error
}

// Lender is a Transport that may leave what it receives where it lies, until Release.
type Lender interface{ Release() }

// Make is new transports among size ranks, in rank order. It may skip a test of a size that there is none for. What it
// makes has to serve two groups at once.
type Make func(t *testing.T, size int) []Transport

// Run tests the transports that make makes.
func Run(t *testing.T, make Make) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, Make)
	}{
		{"allocations", testAllocations}, // the first one, because what ends after a test would be counted
		{"alone", testAlone},
		{"exchange", testExchange},
		{"lengths", testLengths},
		{"many ranks", testManyRanks},
		{"reduce", testReduce},
		{"after send", testAfterSend},
		{"apart", testApart},
		{"same memory", testSameMemory},
		{"same beginning", testSameBeginning},
		{"lend", testLend},
		{"lend while more comes", testLendWhileMoreComes},
		{"lend several", testLendSeveral},
		{"lend and end", testLendAndEnd},
		{"signals", testSignals},
		{"calls of messages", testCallsOfMessages},
		{"mismatch", testMismatch},
		{"mismatch of one message", testMismatchOfOneMessage},
		{"mismatch before many", testMismatchBeforeMany},
		{"length mismatch", testLengthMismatch},
		{"disagreement", testDisagreement},
		{"gone on", testGoneOn},
		{"agreement", testAgreement},
		{"bad peers", testBadPeers},
		{"timeout", testTimeout},
		{"waiting", testWaiting},
		{"moved", testMoved},
		{"fail", testFail},
		{"close", testClose},
		{"ends", testEnds},
		{"posted", testPosted},
		{"nudge", testNudge},
		{"two groups", testTwoGroups},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, make) })
	}
}

// long is longer than any test takes, on any machine, unless it is to fail.
var long = 60 * time.Second

// rank is one rank's transport.
type rank struct {
	Transport
	rank, size int
	all        []Transport
}

// group is new transports among size ranks, which are closed when the test ends.
func group(t *testing.T, make Make, size int) []rank {
	t.Helper()
	var all []rank
	made := make(t, size)
	for r, e := range made {
		all = append(all, rank{e, r, size, made})
		t.Cleanup(func() { _ = e.Close() })
	}
	return all
}

// together runs f on all ranks at once, and gives their errors.
func together(all []rank, f func(e rank) error) []error {
	errs := make([]error, len(all))
	var ranks sync.WaitGroup
	for i, e := range all {
		ranks.Go(func() { errs[i] = f(e) })
	}
	ranks.Wait()
	return errs
}

// tester is a *testing.T or *rapid.T.
type tester interface {
	rapid.TB
	Context() context.Context
}

// succeed runs f on all ranks at once, each within a long time, and gives up on all that is left if one fails.
func succeed(t tester, all []rank, f func(ctx context.Context, e rank) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	for r, err := range together(all, func(e rank) error {
		err := f(ctx, e)
		if err != nil {
			e.giveUp()
		}
		return err
	}) {
		if err != nil {
			t.Errorf("rank %d of %d: %v", r, len(all), err)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

// giveUp fails the other ranks because of this one, as package fast does when a call has failed on one rank.
func (e rank) giveUp() {
	for r, other := range e.all {
		if r != e.rank {
			other.Fail(&wire.PeerError{Rank: e.rank, Err: wire.ErrAborted})
		}
	}
}

// send and receive are an Exchange of one message.
func (e rank) send(ctx context.Context, to int, data []byte) error {
	return e.Exchange(ctx, []wire.Send{{Peer: to, Data: data}}, nil)
}

func (e rank) receive(ctx context.Context, from int, into []byte) error {
	return e.Exchange(ctx, nil, []wire.Recv{{Peer: from, Into: into}})
}

// wantPeer fails unless err says that rank is at fault, for that cause.
func wantPeer(t *testing.T, err error, rank int, cause error) {
	t.Helper()
	var peer *wire.PeerError
	if !errors.As(err, &peer) || peer.Rank != rank || !errors.Is(err, cause) {
		t.Errorf("got %v, want rank %d: %v", err, rank, cause)
	}
}
