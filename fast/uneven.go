package fast

import (
	"context"
	"slices"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/spec"
)

// AllToAllVAppend is AllToAllV for ranks that do not know how much they receive. The ranks exchange their counts first.
// It appends the blocks of all ranks to dst, by rank, and returns that, and the Blocks of what was appended. After an
// error it returns dst as it was.
//
// It allocates what dst has no room for. If that is more than 16 GiB, the communicator is given up. It cannot be
// started: srcBlocks belongs to the call until it returns.
func AllToAllVAppend[T Elem](ctx context.Context, c *Comm, dst, src []T, srcBlocks Blocks, opts ...Option) ([]T, Blocks, error) {
	if handleOf(opts) != nil {
		return dst, Blocks{}, refuse("AllToAllVAppend", "it cannot be started")
	}
	if len(srcBlocks.Counts) != c.Size() {
		return dst, Blocks{}, refuse("AllToAllVAppend", "srcBlocks has %d Counts, want %d", len(srcBlocks.Counts), c.Size())
	}
	if err := exec.CheckBlocks(srcBlocks, "AllToAllVAppend", "src", len(src)); err != nil {
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
			return dst, Blocks{}, refuse("AllToAllVAppend", "rank %d sends %d elements, after %d of others", r, count, n)
		}
		n += count
	}
	all := slices.Grow(dst, n)[:len(dst)+n]
	if err := AllToAllV(ctx, c, all[len(dst):], blocks, src, srcBlocks, opts...); err != nil {
		return dst, Blocks{}, err
	}
	return all, blocks, nil
}
