package fast

import (
	"context"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/spec"
)

// AllToAllVAppend is AllToAllV for ranks that do not know how much they receive. The ranks exchange their counts first.
// It appends the blocks of all ranks to dst, by rank, and returns that, and the Blocks of what was appended. After an
// error it returns dst as it was.
//
// It allocates what dst has no room for. If the others send more than 16 GiB, the communicator is given up. Src may not
// lie in the memory of dst, not even in what dst has room for.
func AllToAllVAppend[T Elem](ctx context.Context, c *Comm, dst, src []T, srcBlocks Blocks) ([]T, Blocks, error) {
	if err := c.enter(ctx, "AllToAllVAppend"); err != nil {
		return dst, Blocks{}, err
	}
	c.exit()
	if len(srcBlocks.Counts) != c.Size() {
		return dst, Blocks{}, refuse("AllToAllVAppend", "srcBlocks has %d Counts, want %d", len(srcBlocks.Counts), c.Size())
	}
	if err := exec.CheckBlocks(srcBlocks, "AllToAllVAppend", "src", len(src), true); err != nil {
		return dst, Blocks{}, err
	}
	if exec.Overlap(exec.Bytes(dst[:cap(dst)]), exec.Bytes(src)) {
		return dst, Blocks{}, refuse("AllToAllVAppend", "dst and src overlap")
	}
	blocks := Blocks{Counts: make([]int, c.Size())}
	if err := AllToAllInto(ctx, c, blocks.Counts, srcBlocks.Counts); err != nil {
		return dst, Blocks{}, err
	}
	n, most := 0, exec.MaxScratch/spec.TypeOf[T]().Bytes()
	for r, count := range blocks.Counts {
		if count < 0 || count > most-n {
			c.Abort()
			return dst, Blocks{}, fmt.Errorf("AllToAllVAppend: rank %d sends %d elements, after %d of others, more than 16 "+
				"GiB in all: %w",
				r, count, n, errAborted)
		}
		n += count
	}
	all := slices.Grow(dst, n)[:len(dst)+n]
	if err := AllToAllV(ctx, c, all[len(dst):], blocks, src, srcBlocks); err != nil {
		return dst, Blocks{}, err
	}
	return all, blocks, nil
}
