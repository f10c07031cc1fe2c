//go:build linux

package shm

import (
	"testing"

	"github.com/collgen/collgen/fast/internal/exchangetest"
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
