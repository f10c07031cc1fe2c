//go:build linux

package shm

import (
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
)

// TestMeanwhile: once in each Exchange with messages, when these are on their way and none has been received.
func TestMeanwhile(t *testing.T) {
	all := group(t, 2)
	defer closeGroup(all)
	calls, into := 0, []byte{0}
	all[0].Meanwhile(func() {
		calls++
		if sent := all[0].links[1].out.next; int(sent) != calls || into[0] != byte(calls-1) {
			t.Errorf("call %d comes after %d messages were sent, and %d was received", calls, sent, into[0])
		}
	})
	for i := 1; i <= 3; i++ {
		if err := all[1].Exchange(t.Context(), []wire.Send{{Peer: 0, Data: []byte{byte(i)}}}, nil); err != nil {
			t.Fatal(err)
		}
		if err := all[0].Exchange(t.Context(), []wire.Send{{Peer: 1, Data: []byte{1}}}, []wire.Recv{{Peer: 1, Into: into}}); err != nil {
			t.Fatal(err)
		}
		if err := all[1].Exchange(t.Context(), nil, []wire.Recv{{Peer: 0, Into: make([]byte, 1)}}); err != nil {
			t.Fatal(err)
		}
		if err := all[0].Exchange(t.Context(), nil, nil); err != nil || calls != i {
			t.Fatalf("%d calls after %d Exchanges: %v", calls, i, err)
		}
	}
}
