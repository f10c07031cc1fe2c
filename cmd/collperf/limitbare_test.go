package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"
)

// bareTest returns a bare program of one round, with memory of its own.
func bareTest(way *bareWay, ranks, bytes int) *bare {
	return newBare(way, make([]byte, bareRanks*(bytes+bareRoom)+sharedBytes), ranks, bytes)
}

// wrongBare returns what is wrong of what a work leaves behind: of the result of each rank, the first element that is
// not the one that is promised.
func wrongBare(b *bare, name string, round int) error {
	results := b.memory
	if name == "all-to-all, two buffers" {
		results = b.memory[b.ranks:]
	}
	count := b.bytes / 4
	block := count / b.ranks
	of := func(rank, i int) float32 { return b.values.inputs[(round+apart*rank+i%period)%period] }
	for r := range b.ranks {
		for i, got := range floats(results[r]) {
			var want float32
			switch name {
			case "broadcast":
				want = of(0, i)
			case "all-gather":
				want = of(i/block, i)
			case "all-to-all", "all-to-all, two buffers":
				want = of(i/block, r*block+i%block)
			case "reduce-scatter":
				if i/block != r {
					continue
				}
				fallthrough
			default:
				for q := range b.ranks {
					want += of(q, i)
				}
			}
			if got != want {
				return fmt.Errorf("%s, %d bytes: element %d of rank %d is %v, want %v", name, b.bytes, i, r, got, want)
			}
		}
	}
	return nil
}

// TestBare has every way do its work, and sees that none is done where a thread does nothing but meet the other one.
func TestBare(t *testing.T) {
	if runtime.NumCPU() < bareCores {
		t.Skip("there is one core")
	}
	for _, w := range bareWorks {
		for i, way := range w.ways {
			if way.access == byReading && !readsMemory() {
				t.Logf("%s, way %d: the system does not read other processes' memory", w.name, i)
				continue
			}
			way.piece = min(way.piece, 64<<10) // so that there are several
			for _, bytes := range []int{64, 1 << 10, 4*way.piece - 64, 4*way.piece + 192} {
				b := bareTest(&way, w.ranks, bytes)
				if err := b.rounds(t.Context(), 3); err != nil {
					t.Fatal(err)
				}
				if err := wrongBare(b, w.name, 2); err != nil {
					t.Errorf("way %d: %v", i, err)
				}
			}
		}
	}
}

// TestBareMisses: what a thread leaves out is missed.
func TestBareMisses(t *testing.T) {
	if runtime.NumCPU() < bareCores {
		t.Skip("there is one core")
	}
	for _, w := range bareWorks {
		for lazy := range bareCores {
			way := bareWay{run: func(t *thread) {
				if t.core != lazy {
					w.ways[0].run(t)
				}
				t.meeting.end()
			}, piece: w.ways[0].piece}
			b := bareTest(&way, w.ranks, 1<<10)
			if err := b.rounds(t.Context(), 1); !errors.Is(err, errEnded) {
				t.Fatal(err)
			}
			if wrongBare(b, w.name, 0) == nil {
				t.Errorf("%s: nobody misses what thread %d does", w.name, lazy)
			}
		}
	}
}

// rounds returns some rounds, one after the other.
func (b *bare) rounds(ctx context.Context, n int) error {
	return b.threads(ctx, func(t *thread) {
		for i := range n {
			t.rewrite(i)
			b.way.run(t)
		}
	})
}

// TestBareEnds: threads do not wait for each other for ever when the context ends.
func TestBareEnds(t *testing.T) {
	if runtime.NumCPU() < bareCores {
		t.Skip("there is one core")
	}
	ctx, cancel := context.WithCancel(t.Context())
	way := bareWay{run: func(t *thread) {
		if t.core == 0 {
			cancel()
			t.meet()
		}
		for ; t.core == 1 && !t.meeting.ended.Load(); time.Sleep(time.Millisecond) {
		}
	}}
	b := bareTest(&way, 2, 1<<10)
	if _, err := b.measure(ctx); !errors.Is(err, errEnded) {
		t.Errorf("got %v, want %v", err, errEnded)
	}
}
