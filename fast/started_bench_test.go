//go:build linux

package fast

import (
	"testing"
)

// BenchmarkStarted is a call that is waited for as soon as it was started, beside one that is not started.
func BenchmarkStarted(b *testing.B) {
	ctx, c := b.Context(), comms(b, 1)[0]
	defer leaveAll([]*Comm{c})
	x := make([]float32, 2)
	b.Run("called", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := AllReduce(ctx, c, x, Sum); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("started", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := StartAllReduce(ctx, c, x, Sum).Wait(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
}
