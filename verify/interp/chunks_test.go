package interp

import (
	"fmt"
	"testing"

	"github.com/collgen/collgen/gen"
)

// Chunks are symbolic to the checker. These tests are the rest of the argument: that the chunks of a block, as they are
// cut when elements are moved, cover it exactly, and that two chunks are equally long for every count only if they are
// the same one of their blocks.

// cut is the first element of a chunk of a block of count elements cut into so many chunks; of chunk number chunks it
// is where the block ends.
type cut func(count, chunks, chunk int) int

// interpreted returns how Run cuts.
func interpreted(count, chunks, chunk int) int {
	p := &interpreter[int]{s: &gen.Schedule{Chunks: chunks}, count: count}
	return p.first(chunk)
}

// fault says where f leaves a gap or overlap, or makes a chunk of the wrong length.
func fault(f cut) error {
	for chunks := 1; chunks <= 12; chunks++ {
		for count := range 40 {
			if f(count, chunks, 0) != 0 || f(count, chunks, chunks) != count {
				return fmt.Errorf("%d elements in %d chunks: [%d, %d)", count, chunks, f(count, chunks, 0),
					f(count, chunks, chunks))
			}
			for i := range chunks {
				want := count / chunks
				if i < count%chunks {
					want++
				}
				if got := f(count, chunks, i+1) - f(count, chunks, i); got != want {
					return fmt.Errorf("chunk %d of %d of %d elements has %d, want %d", i, chunks, count, got, want)
				}
			}
		}
	}
	return nil
}

func TestChunksCoverABlock(t *testing.T) {
	if err := fault(interpreted); err != nil {
		t.Error(err)
	}
	for name, wrong := range map[string]cut{
		"the first chunk one too long": func(count, chunks,
			chunk int) int {
			return chunk*(count/chunks) + min(chunk, count%chunks+1)
		},
		"the last chunk is longer": func(count, chunks,
			chunk int) int {
			return chunk*(count/chunks) + max(0, chunk-(chunks-count%chunks))
		},
		"what is left over is lost": func(count, chunks, chunk int) int { return chunk * (count / chunks) },
		"rounded":                   func(count, chunks, chunk int) int { return chunk * count / chunks },
	} {
		if fault(wrong) == nil {
			t.Errorf("%s: not found", name)
		}
	}
}

// TestLikeMeansLength: two chunks of a block differ in length for some count, so that only those with the same Like are
// equally long for all.
func TestLikeMeansLength(t *testing.T) {
	length := func(count, chunks, chunk int) int {
		return interpreted(count, chunks, chunk+1) - interpreted(count, chunks, chunk)
	}
	for chunks := 1; chunks <= 12; chunks++ {
		for i := range chunks {
			for j := range i {
				if count := j + 1; length(count, chunks, i) == length(count, chunks, j) {
					t.Errorf("chunks %d and %d of %d are equally long in a block of %d", j, i, chunks, count)
				}
			}
		}
	}
}
