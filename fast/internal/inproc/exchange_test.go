package inproc

import (
	"testing"

	"github.com/collgen/collgen/fast/internal/exchangetest"
)

// TestTransport tests what all transports keep, with segments of the usual length and with short ones.
func TestTransport(t *testing.T) {
	for name, segment := range map[string]int{"usual": segment, "short": testSegment} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && segment != testSegment {
				t.Skip("short segments are the harder ones")
			}
			exchangetest.Run(t, func(_ *testing.T, size int) []exchangetest.Transport {
				var all []exchangetest.Transport
				for _, e := range newNetwork(size, segment).endpoints {
					all = append(all, e)
				}
				return all
			})
		})
	}
}
