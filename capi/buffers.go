package main

import (
	"math"
	"unsafe"

	"github.com/collgen/collgen/fast"
)

// buffer is a buffer of a call as a C program passes it: see call.h.
type buffer struct {
	name           string
	data           uintptr
	inPlace        bool // it lies in the other buffer
	blocks         int
	passed         bool // this rank passes it
	counts, displs []int
}

// eachRank is the blocks of a buffer with one for each rank.
const eachRank = -1

// lowest is the first address that may be one of a buffer.
const lowest = 4096

// blocksOf returns the blocks of b, if they are uneven.
func (b *buffer) blocksOf() fast.Blocks { return fast.Blocks{Counts: b.counts, Displs: b.displs} }

// memory returns the memory of b, of so many elements of elem bytes in a block.
func (b *buffer) memory(count, size, elem int) ([]byte, error) {
	if !b.passed {
		return nil, nil
	}
	n, err := b.elements(count, size, elem)
	switch {
	case err != nil:
		return nil, err
	case n == 0:
		return nil, nil
	case b.data < lowest:
		return nil, refuse("%s is %#x, and has %d elements", b.name, b.data, n)
	case uintptr(n*elem) >= -b.data: // the last address is COLLGEN_IN_PLACE
		return nil, refuse("%s is %#x, and %d elements do not fit", b.name, b.data, n)
	}
	return unsafe.Slice((*byte)(pointer(b.data)), n*elem), nil
}

// pointer returns the address of C memory as a pointer.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// elements returns how many elements of elem bytes b has, if a block has count.
func (b *buffer) elements(count, size, elem int) (int, error) {
	if b.counts != nil {
		return b.uneven(elem)
	}
	blocks := b.blocks
	if blocks == eachRank {
		blocks = size
	}
	if count < 0 || count > math.MaxInt/elem/max(blocks, 1) {
		return 0, refuse("%d elements in a block of %s", count, b.name)
	}
	return blocks * count, nil
}

// uneven returns how many elements of elem bytes b has, whose blocks are uneven.
func (b *buffer) uneven(elem int) (n int, err error) {
	for i, count := range b.counts {
		from := n
		if b.displs != nil {
			from = b.displs[i]
		}
		if count < 0 || from < 0 || count > math.MaxInt/elem-from {
			return 0, refuse("block %d of %s has %d elements from %d on", i, b.name, count, from)
		}
		n = max(n, from+count)
	}
	return n, nil
}

// at returns where block i of b begins, in elements.
func (b *buffer) at(i, count int) int {
	switch {
	case b.displs != nil:
		return b.displs[i]
	case b.counts == nil:
		return i * count
	}
	from := 0
	for _, n := range b.counts[:i] {
		from += n
	}
	return from
}

// lieIn has b lie in whole: in all of it if block is less than 0, and else where that has block.
func (b *buffer) lieIn(whole *buffer, block, count, size, elem int) error {
	if _, err := whole.elements(count, size, elem); err != nil {
		return err
	}
	b.data = whole.data
	if block >= 0 && whole.data != 0 {
		b.data += uintptr(whole.at(block, count) * elem)
	}
	return nil
}
