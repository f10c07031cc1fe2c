package message

import (
	"runtime"
	"testing"

	"github.com/collgen/collgen/fast"
)

// TestMemoryIsUsedAgain: long messages on their way take memory that is used again, to other ranks and to this one.
func TestMemoryIsUsedAgain(t *testing.T) {
	each(t, 2, func(t *testing.T, all []*fast.Comm) {
		const rounds, n = 8, 8 << 20
		for from := range 2 {
			out, in := make([]byte, n), make([]byte, n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range rounds {
				s := StartSend(t.Context(), all[from], out, 0, 0)
				if _, err := Recv(t.Context(), all[0], in, from, 0); err != nil {
					t.Error(err)
				}
				if err := s.Wait(t.Context()); err != nil {
					t.Error(err)
				}
			}
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > rounds*n*9/10 {
				t.Errorf("from rank %d: messages of %d MiB have allocated %d MiB", from, rounds*n>>20, took>>20)
			}
		}
	})
}
