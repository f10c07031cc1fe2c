//go:build linux

package shm

import (
	"testing"

	"github.com/collgen/collgen/fast/internal/exchangetest"
	"github.com/collgen/collgen/fast/internal/wire"
)

// TestTransport tests what all transports keep.
func TestTransport(t *testing.T) {
	exchangetest.Run(t, func(t *testing.T, size int) []exchangetest.Transport {
		if size < 2 {
			t.Skip("memory is shared by two or more")
		}
		var all []exchangetest.Transport
		for _, e := range group(t, size) {
			all = append(all, e)
		}
		return all
	})
}

// TestAfterSendOfAnotherLength is refused.
func TestAfterSendOfAnotherLength(t *testing.T) {
	all := group(t, 2)
	defer closeGroup(all)
	recvs := []wire.Recv{{Peer: 1, Into: []byte{1, 2}, AfterSend: true}}
	if all[0].Exchange(t.Context(), []wire.Send{{Peer: 1, Data: []byte{1}}}, recvs) == nil {
		t.Error("it is accepted")
	}
}
