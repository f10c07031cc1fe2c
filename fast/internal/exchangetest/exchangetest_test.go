package exchangetest_test

import (
	"testing"

	"github.com/collgen/collgen/fast/internal/exchangetest"
	"github.com/collgen/collgen/fast/internal/inproc"
)

func TestInproc(t *testing.T) {
	exchangetest.Run(t, func(t *testing.T, size int) []exchangetest.Transport {
		var all []exchangetest.Transport
		for _, e := range inproc.New(size) {
			all = append(all, e)
		}
		return all
	})
}
