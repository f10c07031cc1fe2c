package relatomic

import (
	"runtime"
	"sync/atomic"
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

// TestAwait: what is stored soon enough is found, and by nobody who has looked often enough for something else.
func TestAwait(t *testing.T) {
	var word atomic.Uint32
	if Await(&word, 1, 100) || !Await(&word, 0, 1) || !Await(&word, 0, 0) {
		t.Error("0 is taken for 1, or not for 0")
	}
	go Store32(&word, 1<<32-1)
	for !Await(&word, 1<<32-1, 10) {
		runtime.Gosched()
	}
}

// TestMutex: only one goroutine at a time holds it.
func TestMutex(t *testing.T) {
	var mu Mutex
	oneAtATime(t, mu.Lock, mu.Unlock)
}

// TestFlag: only one goroutine at a time has set a flag.
func TestFlag(t *testing.T) {
	var flag Flag
	oneAtATime(t, func() {
		for !flag.Set() {
			runtime.Gosched()
		}
	}, flag.Unset)
	if !flag.Set() {
		t.Error("the flag is still set")
	}
}

// oneAtATime counts in several goroutines, between begin and end.
func oneAtATime(t *testing.T, begin, end func()) {
	const each, all = 10_000, 4
	count, done := 0, make(chan bool)
	for range all {
		go func() {
			for range each {
				begin()
				count++
				end()
			}
			done <- true
		}()
	}
	for range all {
		<-done
	}
	if count != each*all {
		t.Errorf("%d, want %d", count, each*all)
	}
}

func BenchmarkStore(b *testing.B) {
	var x Uint64
	for b.Loop() {
		x.Store(1)
	}
}
