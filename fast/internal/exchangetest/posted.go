package exchangetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// testPosted has ranks post messages one after the other, in orders that differ, and move them now and then. All sends
// come first on each rank, so that they end only if receives join them. Each is over by itself and whole, and an
// Exchange follows.
func testPosted(t *testing.T, make Make) {
	for seed := range uint64(8) {
		size := 2 + int(seed)%3
		succeed(t, group(t, make, size), func(ctx context.Context, e rank) error {
			for round := range 3 {
				if err := postAll(ctx, e, rand.New(rand.NewPCG(seed, uint64(round))), 1<<(6*round)); err != nil {
					return fmt.Errorf("round %d: %w", round, err)
				}
			}
			e.Begin(wire.NewMark(&wire.Call{Seq: 1}))
			into := aligned(8)[:8]
			next, before := (e.rank+1)%size, (e.rank+size-1)%size
			return e.Exchange(ctx, []wire.Send{{Peer: next, Data: filled(1, e.rank, 8)}},
				[]wire.Recv{{Peer: before, Into: into}})
		})
	}
}

// posting is a message of a rank that posts some. Its call is the same at both ends.
type posting struct {
	send []wire.Send
	recv []wire.Recv
	want []byte
}

func (p *posting) over() bool {
	return len(p.send) > 0 && p.send[0].Over || len(p.recv) > 0 && p.recv[0].Over
}

// idle is what messages are marked with beside which a rank may post others.
var idle = wire.Posted{Idle: true}

// postAll posts a rank's part of messages that r draws, which is the same on all ranks.
func postAll(ctx context.Context, e rank, r *rand.Rand, most int) error {
	var sends, recvs []*posting
	for number := range 4 * e.size {
		from := r.IntN(e.size)
		to := (from + 1 + r.IntN(e.size-1)) % e.size
		n := r.IntN(most * 64)
		data, call := filled(number, from, n), &wire.Call{Seq: uint64(number + 1), Root: uint32(from), Peer: uint32(to) + 1}
		switch e.rank {
		case from:
			sends = append(sends, &posting{send: []wire.Send{{Peer: to, Data: data, Call: call, Posted: idle}}})
		case to:
			into := aligned(n)[:n]
			recvs = append(recvs, &posting{recv: []wire.Recv{{Peer: from, Into: into, Call: call, Posted: idle}}, want: data})
		}
	}
	own := rand.New(rand.NewPCG(uint64(e.rank), uint64(most)))
	all := slices.Concat(sends, recvs)
	for _, p := range all {
		if err := e.Post(p.send, p.recv); err != nil {
			return err
		}
		if own.IntN(2) == 0 {
			until, cancel := context.WithTimeout(ctx, time.Duration(own.IntN(200))*time.Microsecond)
			err := e.Progress(ctx, until)
			cancel()
			if err != nil {
				return err
			}
		}
	}
	for slices.ContainsFunc(all, func(p *posting) bool { return !p.over() }) {
		if err := e.Progress(ctx, context.Background()); err != nil {
			return err
		}
	}
	for _, p := range recvs {
		if !bytes.Equal(p.recv[0].Into, p.want) {
			return fmt.Errorf("%d bytes of rank %d are not what was sent", len(p.want), p.recv[0].Peer)
		}
	}
	return nil
}

// testNudge: a Progress in which nothing moves ends when it is nudged, also if it was before, with until, with its
// context, and when the transport fails.
func testNudge(t *testing.T, make Make) {
	ctx, e := t.Context(), group(t, make, 2)[0]
	if err := e.Post(nil, []wire.Recv{{Peer: 1, Into: aligned(8)[:8], Call: new(wire.Call)}}); err != nil {
		t.Fatal(err)
	}
	e.Nudge()
	err := e.Progress(ctx, ctx)
	time.AfterFunc(time.Millisecond, e.Nudge)
	err = errors.Join(err, e.Progress(ctx, ctx))
	until, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if err = errors.Join(err, e.Progress(ctx, until)); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(time.Millisecond, func() { e.Fail(errTold) })
	if err := e.Progress(ctx, ctx); !errors.Is(err, errTold) {
		t.Errorf("after a failure: %v", err)
	}
	other := group(t, make, 2)[0]
	if err := other.Post([]wire.Send{{Peer: 1, Data: aligned(tooLong), Call: new(wire.Call)}}, nil); err != nil {
		t.Fatal(err)
	}
	late, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	var timeout *wire.TimeoutError
	for err == nil { // until the end of the context, however much of the message moves
		err = other.Progress(late, ctx)
	}
	if !errors.As(err, &timeout) || !slices.Equal(timeout.Waiting, []int{1}) {
		t.Errorf("after the end of the context: %v", err)
	}
}
