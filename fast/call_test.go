package fast

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/collgen/collgen/fast/internal/wire"
)

// listener is a transport that keeps what it is asked to do.
type listener struct {
	calls []wire.Call
	sends [][]wire.Send
	recvs [][]wire.Recv
}

func (r *listener) Begin(call wire.Mark) { r.calls = append(r.calls, *call.Call) }
func (r *listener) Waiting() []int       { return nil }
func (r *listener) Fail(error)           {}
func (r *listener) Close() error         { return nil }

func (r *listener) Exchange(_ context.Context, sends []wire.Send, recvs []wire.Recv) error {
	r.sends, r.recvs = append(r.sends, slices.Clone(sends)), append(r.recvs, slices.Clone(recvs))
	return nil
}

// TestMessages lists messages with and without bytes, and signals: what has no bytes is left out, and AfterSend marks
// the receive before it or, if that was left out, none.
func TestMessages(t *testing.T) {
	r := new(listener)
	c := newComm(0, 3, r)
	c.exec.Mark = wire.NewMark(&c.exec.Desc)
	x := &c.exec.Call
	a, b, none := []byte{1}, []byte{2}, []byte{}
	for _, list := range []func(){
		func() {},
		func() { x.Send(1, none); x.Recv(1, none); x.RecvReduce(2, none, none, true); x.AfterSend() },
		func() {
			x.Send(1, a)
			x.Recv(1, a)
			x.AfterSend()
			x.Recv(2, none)
			x.AfterSend()
			x.RecvReduce(2, b, a, true)
		},
		func() { x.Recv(2, b); x.Recv(1, none); x.AfterSend() },
		func() { x.Signal(2); x.Await(1) },
	} {
		list()
		if err := x.Exchange(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([][]wire.Send{{{Peer: 1, Data: a}}, nil, {{Peer: 2}}}, r.sends, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("sends (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]wire.Recv{
		{{Peer: 1, Into: a, AfterSend: true}, {Peer: 2, Into: b, With: a, ReceivedFirst: true}}, {{Peer: 2, Into: b}}, {{Peer: 1}},
	}, r.recvs, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("receives (-want +got):\n%s", diff)
	}
	if len(r.calls) != 1 {
		t.Errorf("the call began %d times", len(r.calls))
	}
}

// TestAnnounced: the transport hears of every call, also of one without messages, and whose it is.
func TestAnnounced(t *testing.T) {
	r := new(listener)
	c := newComm(0, 2, r)
	if err := errors.Join(AllReduce[int32](t.Context(), c, nil, Sum), Send(t.Context(), c, []int32{1}, 1), Barrier(t.Context(), c)); err != nil {
		t.Fatal(err)
	}
	type announced struct {
		name      string
		seq       uint64
		peerPlus1 uint32
	}
	var got []announced
	for _, call := range r.calls {
		got = append(got, announced{call.PrimitiveName.String(), call.Seq, call.Peer})
	}
	if want := []announced{{"AllReduce", 1, 0}, {"Send", 1, 2}, {"Barrier", 2, 0}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
