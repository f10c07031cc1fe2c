package exec

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Blocks says how long the blocks of a buffer are, and where they lie.
type Blocks struct {
	Counts []int // elements of each block
	Displs []int // where each block begins, in elements; nil: each where the one before it ends, the first at 0
}

// BlockOf returns one of the blocks of buf, for a call in place.
func BlockOf[T any](primitive string, buf []T, blocks Blocks, block int) ([]T, error) {
	if block >= len(blocks.Counts) || blocks.Displs != nil && block >= len(blocks.Displs) {
		return nil, wire.Refuse(primitive, "blocks has %d Counts and %d Displs, too few for the block of rank %d",
			len(blocks.Counts),
			len(blocks.Displs), block)
	}
	from, n := 0, blocks.Counts[block]
	if blocks.Displs != nil {
		from = blocks.Displs[block]
	} else {
		for i, n := range blocks.Counts[:block] {
			if n < 0 || n > len(buf)-from {
				return nil, refuseBlock(primitive, "buf", i, n, from, len(buf))
			}
			from += n
		}
	}
	if from < 0 || n < 0 || from > len(buf) || n > len(buf)-from {
		return nil, refuseBlock(primitive, "buf", block, n, from, len(buf))
	}
	return buf[from : from+n], nil
}

// refuseBlock returns the error of a block that does not lie in its buffer.
func refuseBlock(primitive, buffer string, block, n, from, length int) error {
	return wire.Refuse(primitive, "block %d of %s has %d elements from %d on, and len(%s) is %d", block, buffer, n, from,
		buffer, length)
}

// extent is where a block lies in its buffer, in bytes.
type extent struct{ from, to int }

// blocks is where the uneven blocks of a call lie. An executor reuses its memory.
type blocks struct {
	dst, src []extent
	common   []extent // that of dst and src whose lengths every rank knows; nil: neither
	longest  int      // bytes of the longest block
	sorted   []extent // memory of sort
	placedBy placement
}

// BlocksOf are the uneven blocks of a call's buffers. A buffer without Counts is a single block.
type BlocksOf struct{ Dst, Src Blocks }

// placement is what blocks were worked out from, besides the collective and the type: args, the bytes of the buffers,
// and a copy of the lengths and places that the caller passed.
type placement struct {
	args       Args
	dsts, srcs int
	of         BlocksOf
	memory     BlocksOf // of what of has had
}

// isFor reports whether p is what a call passes.
func (p *placement) isFor(args *Args, dst, src []byte, of *BlocksOf) bool {
	return p.dsts == len(dst) && p.srcs == len(src) && p.args.same(args) &&
		p.of.Dst.are(&of.Dst) && p.of.Src.are(&of.Src)
}

// keep makes p what a call passes.
func (p *placement) keep(args *Args, dst, src []byte, of *BlocksOf) {
	p.args, p.dsts, p.srcs = *args, len(dst), len(src)
	p.of.Dst.copy(&of.Dst, &p.memory.Dst)
	p.of.Src.copy(&of.Src, &p.memory.Src)
}

// are reports whether b and other say the same, in the same way.
func (b *Blocks) are(other *Blocks) bool {
	return sameInts(b.Counts, other.Counts) && sameInts(b.Displs, other.Displs)
}

func sameInts(x, y []int) bool { return (x == nil) == (y == nil) && slices.Equal(x, y) }

// copy makes b a copy of other, in that memory.
func (b *Blocks) copy(other, memory *Blocks) {
	b.Counts, b.Displs = copyInts(other.Counts, &memory.Counts), copyInts(other.Displs, &memory.Displs)
}

func copyInts(from []int, memory *[]int) []int {
	if from == nil {
		return nil
	}
	*memory = append((*memory)[:0], from...)
	return *memory
}

// placed returns args for a call of k with these blocks, and the lengths that every rank passes, if there are any. It
// works out where the blocks lie.
func (b *blocks) placed(k *Collective, elem int, args *Args, dst, src []byte, of *BlocksOf) (is Args, counts []int,
	err error) {
	if b.dst, err = b.extents(b.dst, k.Name, "dst", elem, len(dst), of.Dst, false); err != nil {
		return is, nil, err
	}
	if b.src, err = b.extents(b.src, k.Name, "src", elem, len(src), of.Src, args.NoAlias); err != nil {
		return is, nil, err
	}
	b.longest = 0
	for _, list := range [][]extent{b.dst, b.src} {
		for _, x := range list {
			b.longest = max(b.longest, x.to-x.from)
		}
	}
	switch b.common = nil; {
	case k.SameCounts && of.Dst.Counts != nil:
		counts, b.common = of.Dst.Counts, b.dst
	case k.SameCounts:
		counts, b.common = of.Src.Counts, b.src
	}
	is = *args
	is.AliasIn, is.AliasOut = beginning(b.src, args.AliasIn)/elem, beginning(b.dst, args.AliasOut)/elem
	is.Count = 0
	for _, n := range counts {
		is.Count += n
	}
	return is, counts, nil
}

// CheckBlocks returns why the blocks of a buffer of so many elements do not lie in it, or nil. They may overlap if they
// are shared.
func CheckBlocks(is Blocks, primitive, buffer string, length int, shared bool) error {
	_, err := new(blocks).extents(nil, primitive, buffer, 1, length, is, shared)
	return err
}

// extents returns where the blocks of a buffer of so many bytes lie, in the memory of list, or why they do not lie in
// it. They may overlap if they are shared.
func (b *blocks) extents(list []extent, primitive, buffer string, elem, bytes int, is Blocks, shared bool) ([]extent,
	error) {
	if list = list[:0]; is.Counts == nil {
		return append(list, extent{0, bytes}), nil
	}
	if is.Displs != nil && len(is.Displs) != len(is.Counts) {
		return list, wire.Refuse(primitive, "%s has %d Displs and %d Counts", buffer, len(is.Displs), len(is.Counts))
	}
	end, ascending := 0, true
	for i, n := range is.Counts {
		from := end
		if is.Displs != nil {
			from = is.Displs[i]
		}
		if length := bytes / elem; n < 0 || from < 0 || from > length || n > length-from {
			return list, refuseBlock(primitive, buffer, i, n, from, length)
		}
		list = append(list, extent{from * elem, (from + n) * elem})
		if n > 0 {
			ascending = ascending && from >= end
			end = from + n
		}
	}
	if is.Displs == nil && end*elem != bytes {
		return list, wire.Refuse(primitive, "the blocks of %s have %d elements, and len(%s) is %d", buffer, end, buffer,
			bytes/elem)
	}
	if ascending || shared {
		return list, nil
	}
	if at := b.overlap(list); at >= 0 {
		return list, wire.Refuse(primitive, "two blocks of %s have element %d", buffer, at/elem)
	}
	return list, nil
}

// overlap returns the offset of the first byte that two blocks have in common, or -1.
func (b *blocks) overlap(list []extent) int {
	end := 0
	for _, x := range b.sort(list) {
		if x.from < end {
			return x.from
		}
		end = max(end, x.to)
	}
	return -1
}

// sort returns the blocks that are not empty in the order of memory. The result is valid until the next one.
func (b *blocks) sort(list []extent) []extent {
	b.sorted = b.sorted[:0]
	for _, x := range list {
		if x.from < x.to {
			b.sorted = append(b.sorted, x)
		}
	}
	slices.SortFunc(b.sorted, func(x, y extent) int {
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to))
	})
	return b.sorted
}

// share reports whether a block of dst and one of src have memory in common. Those of dst do not overlap.
func (b *blocks) share(dst, src []byte) bool {
	by := int(Address(src) - Address(dst)) // may be less than 0
	sorted := b.sort(b.dst)
	for _, x := range b.src {
		x.from, x.to = x.from+by, x.to+by
		at, _ := slices.BinarySearchFunc(sorted, x.from+1, func(y extent, first int) int { return cmp.Compare(y.to, first) })
		if x.from < x.to && at < len(sorted) && sorted[at].from < x.to {
			return true
		}
	}
	return false
}

// beginning returns where a block begins, in bytes; 0 if there is no such block.
func beginning(list []extent, block int) int {
	if block >= len(list) {
		return 0
	}
	return list[block].from
}

// kept returns b with memory of its own.
func (b *blocks) kept() *blocks {
	is := &blocks{dst: slices.Clone(b.dst), src: slices.Clone(b.src), longest: b.longest}
	switch unsafe.SliceData(b.common) {
	case nil:
	case unsafe.SliceData(b.dst):
		is.common = is.dst
	default:
		is.common = is.src
	}
	return is
}
