package release

import (
	"runtime"
	"testing"
)

// TestUint64: who sees a number sees what was written before it.
func TestUint64(t *testing.T) {
	const last = 100_000
	var number Uint64
	var before [last + 1]uint64
	go func() {
		for i := uint64(1); i <= last; i++ {
			before[i] = i
			number.Store(i)
		}
	}()
	for seen := uint64(0); seen < last; runtime.Gosched() {
		if seen = number.Load(); before[seen] != seen {
			t.Fatalf("%d was stored before %d", before[seen], seen)
		}
	}
}

// TestFlag: only one goroutine at a time has set a flag.
func TestFlag(t *testing.T) {
	const each, all = 10_000, 4
	var flag Flag
	count, done := 0, make(chan bool)
	for range all {
		go func() {
			for range each {
				for !flag.Set() {
					runtime.Gosched()
				}
				count++
				flag.Unset()
			}
			done <- true
		}()
	}
	for range all {
		<-done
	}
	if count != each*all || !flag.Set() {
		t.Errorf("%d, want %d, or the flag is still set", count, each*all)
	}
}

func BenchmarkStore(b *testing.B) {
	var x Uint64
	for b.Loop() {
		x.Store(1)
	}
}
