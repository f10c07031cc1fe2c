//go:build linux

package shm

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Two collectives, and a point-to-point call.
var (
	broadcast = wire.Call{Seq: 1, Primitive: 1, Root: 0, PrimitiveName: wire.NewLabel("Broadcast")}
	otherRoot = wire.Call{Seq: 1, Primitive: 1, Root: 1, PrimitiveName: wire.NewLabel("Broadcast")}
	zeroToOne = wire.Call{Seq: 1, Primitive: 2, Root: 0, Peer: 2, PrimitiveName: wire.NewLabel("Send")}
	oneToZero = wire.Call{Seq: 4, Primitive: 2, Root: 1, Peer: 1, PrimitiveName: wire.NewLabel("Send")}
)

// TestThirdRank: two of three ranks disagree, while one of them waits for the third one too, which does nothing.
func TestThirdRank(t *testing.T) {
	all := group(t, 3)
	defer closeGroup(all)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for rank, err := range together(all[:2], func(e *Endpoint) error {
		if e.rank == 1 {
			e.Begin(wire.NewMark(&zeroToOne))
			return e.Exchange(ctx, nil, []wire.Recv{{Peer: 0, Into: make([]byte, 1)}})
		}
		e.Begin(wire.NewMark(&broadcast))
		return e.Exchange(ctx, nil, []wire.Recv{{Peer: 1, Into: make([]byte, 1)}, {Peer: 2, Into: make([]byte, 1)}})
	}) {
		var m *wire.MismatchError
		if !errors.As(err, &m) || m.Rank != 1-rank || m.Field != "primitive" {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestCrossed: of two roots that only send, the later one is told at once. What a rank sends in a later call, or in a
// call of its own with this one, is no disagreement.
func TestCrossed(t *testing.T) {
	for name, test := range map[string]struct {
		earlier, later wire.Call
		want           string
	}{
		"roots":              {otherRoot, broadcast, "call 1 does not match rank 0's: root is 0 here and 1 there"},
		"a later call":       {wire.Call{Seq: 2, Primitive: 1}, broadcast, "<nil>"},
		"two sends":          {zeroToOne, oneToZero, "<nil>"},
		"a send meets other": {zeroToOne, broadcast, "<nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			all := group(t, 2)
			defer closeGroup(all)
			all[0].Begin(wire.NewMark(&test.earlier))
			if err := send(all[0], 1); err != nil {
				t.Fatal(err)
			}
			all[1].Begin(wire.NewMark(&test.later))
			if got := fmt.Sprint(send(all[1], 0)); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestRenamed: other ranks see the names of a call itself, and not those of one before it that differed in them alone.
func TestRenamed(t *testing.T) {
	all := group(t, 2)
	defer closeGroup(all)
	call := zeroToOne
	for _, name := range []string{"Send", "SendRecv"} {
		call.PrimitiveName = wire.NewLabel(name)
		for range history {
			call.Seq++
			all[0].Begin(wire.NewMark(&call))
			if err := all[0].Exchange(t.Context(), nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		past := all[1].links[0].control.past(nil)
		if len(past) != history {
			t.Errorf("%d calls can be seen, want %d", len(past), history)
		}
		for _, c := range past {
			if c.PrimitiveName != call.PrimitiveName {
				t.Errorf("call %d is %v, want %s", c.Seq, c.PrimitiveName, name)
			}
		}
	}
}
