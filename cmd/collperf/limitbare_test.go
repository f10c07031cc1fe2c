package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"
)

// bareTest is a bare program of one round, with operands of so many bytes that nobody else has.
func bareTest(way bareWay, ranks, bytes int) *bare {
	b := &bare{ranks: ranks, bytes: bytes, way: way, values: newValues(func(v float64) float32 { return float32(v) }, 1<<24, nil, ranks)}
	for range bareRanks {
		b.memory = append(b.memory, make([]byte, bytes))
	}
	return b
}

// wrongBare is what is wrong of what a work leaves behind: of the result of each rank, the first element that is not the one that
// is promised.
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

// TestBare has every way do its work, and sees that none is done where a thread does nothing.
func TestBare(t *testing.T) {
	if runtime.NumCPU() < bareCores {
		t.Skip("there is one core")
	}
	for _, w := range bareWorks {
		for _, ranks := range w.ranks {
			for i, way := range w.ways {
				for _, bytes := range []int{64, 1 << 10, 4*barePiece - 64, 4*barePiece + 192} {
					b := bareTest(way, ranks, bytes)
					if err := b.once(t.Context()); err != nil {
						t.Fatal(err)
					}
					if err := wrongBare(b, w.name, 0); err != nil {
						t.Errorf("way %d: %v", i, err)
					}
					for lazy := range bareCores {
						b := bareTest(func(t *thread) {
							if t.core != lazy {
								way(t)
							} else if i == 1 && w.name == "all-reduce" {
								t.meet() // as the other one does
							}
						}, ranks, bytes)
						if err := b.once(t.Context()); err != nil {
							t.Fatal(err)
						}
						idle := i == 1 && w.name == "broadcast" && lazy == 0 && ranks == 2 // the root has nothing to do
						if wrongBare(b, w.name, 0) == nil != idle {
							t.Errorf("%s, way %d, %d bytes: nobody misses what thread %d does", w.name, i, bytes, lazy)
						}
					}
				}
			}
		}
	}
}

// once is one round.
func (b *bare) once(ctx context.Context) error {
	return b.threads(ctx, func(t *thread) {
		t.rewrite(0)
		t.meet()
		t.round()
	})
}

// TestBareEnds: threads do not wait for each other for ever when the context ends.
func TestBareEnds(t *testing.T) {
	if runtime.NumCPU() < bareCores {
		t.Skip("there is one core")
	}
	ctx, cancel := context.WithCancel(t.Context())
	b := bareTest(func(t *thread) {
		if t.core == 0 {
			cancel()
			t.meet()
		}
		for ; t.core == 1 && !t.meeting.ended.Load(); time.Sleep(time.Millisecond) {
		}
	}, 2, 1<<10)
	if _, err := b.measure(ctx); !errors.Is(err, errEnded) {
		t.Errorf("got %v, want %v", err, errEnded)
	}
}
