package main

import (
	"context"
	"errors"
	"unsafe"

	"github.com/collgen/collgen/fast"
)

// home is where buffers come from.
type home int

const (
	hugePages  home = iota // memory outside of the Go heap
	goHeap                 // make
	registered             // fast.Alloc
)

// buffer returns n elements that nobody else uses. All ranks call it alike.
func (b *buffers[T]) buffer(ctx context.Context, n int) ([]T, error) {
	if n == 0 {
		return nil, nil
	}
	switch b.home {
	case goHeap:
		return make([]T, n), nil
	case registered:
		all, err := fast.Alloc[T](ctx, b.c, n)
		if err == nil {
			b.frees = append(b.frees, func() error { return fast.Free(b.c, all) })
		}
		return all, err
	}
	m, err := newMemory(n * b.element.bytes)
	if err != nil {
		return nil, err
	}
	b.frees = append(b.frees, m.free)
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(m.data))), n), nil
}

func (b *buffers[T]) free() (err error) {
	for _, free := range b.frees {
		err = errors.Join(err, free())
	}
	b.frees, b.in, b.out = nil, nil, nil
	return err
}
