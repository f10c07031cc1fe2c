//go:build cgo && linux && (amd64 || arm64)

package main

// #include "call.h"
import "C"

import (
	"unsafe"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/spec"
)

//export goDo
func goDo(number C.collgen_comm, call *C.struct_collgen_call, o *C.collgen_options, f *C.struct_collgen_failure) C.int {
	c, err := commOf(int64(number))
	if err != nil {
		return report(f, err)
	}
	var list [maxOptions]fast.Option
	is, opts, timeout, err := prepare(c, call, o, &list)
	if err == nil {
		ctx, stop := within(timeout)
		err = fast.Do(ctx, c.Comm, is, opts...)
		stop()
	}
	return report(f, err)
}

//export goStart
func goStart(number C.collgen_comm, call *C.struct_collgen_call, o *C.collgen_options, into *C.collgen_work,
	f *C.struct_collgen_failure) C.int {
	c, err := commOf(int64(number))
	if err != nil {
		return report(f, err)
	}
	var list [maxOptions]fast.Option
	is, opts, timeout, err := prepare(c, call, o, &list)
	if err == nil {
		var work int64
		work, err = c.start(timeout, is, opts)
		*into = C.collgen_work(work)
	}
	return report(f, err)
}

// prepare returns what a C program calls, and its options, in list.
func prepare(c *comm, call *C.struct_collgen_call, o *C.collgen_options, list *[maxOptions]fast.Option) (is fast.Call,
	opts []fast.Option, timeout int64, err error) {
	if o != nil {
		if opts, timeout, err = optionsOf(o, list); err != nil {
			return is, nil, 0, err
		}
	}
	is, err = callOf(c, call)
	return is, opts, timeout, err
}

// callOf returns the call of a C program.
func callOf(c *comm, x *C.struct_collgen_call) (is fast.Call, err error) {
	rank, size, root := c.Rank(), c.Size(), int(x.root)
	is = fast.Call{Collective: unsafe.String((*byte)(unsafe.Pointer(x.collective)), x.length), Root: root,
		To: int(x.to), From: int(x.from)}
	if x.dst.blocks == 0 && x.src.blocks == 0 { // as of Barrier
		return is, nil
	}
	if x._type <= 0 || x._type > 0xff || !spec.Type(x._type).Valid() {
		return is, refuse("no type has the number %d", x._type)
	}
	is.Type = spec.Type(x._type)
	if is.Op, err = opOf(x.op); err != nil {
		return is, err
	}
	dst, src := bufferOf("dst", &x.dst, rank, root, size), bufferOf("src", &x.src, rank, root, size)
	if err := countsOf(&dst, &x.dst); err != nil {
		return is, err
	}
	if err := countsOf(&src, &x.src); err != nil {
		return is, err
	}
	count, elem := int(x.count), is.Type.Bytes()
	received := count
	switch {
	case x.same_counts != 0 && dst.counts != nil:
		count = dst.counts[rank]
		received = count
	case x.same_counts != 0:
		count = src.counts[rank]
		received = count
	case is.Collective == "SendRecv":
		received = int(x.received)
		if src.inPlace {
			count = received
		}
	}
	if err := resolve(x.in_place, &dst, &src, rank, root, count, size, elem); err != nil {
		return is, err
	}
	if is.Dst, err = dst.memory(received, size, elem); err != nil {
		return is, err
	}
	is.Src, err = src.memory(count, size, elem)
	is.DstBlocks, is.SrcBlocks = dst.blocksOf(), src.blocksOf()
	return is, err
}

// bufferOf returns a buffer of a call, without its counts.
func bufferOf(name string, b *C.struct_collgen_buffer, rank, root, size int) buffer {
	is := buffer{name: name, data: uintptr(b.data), inPlace: b.in_place != 0, blocks: int(b.blocks),
		passed: b.blocks != 0}
	switch b.on {
	case C.COLLGEN_ON_ROOT:
		is.passed = rank == root
	case C.COLLGEN_ON_OTHERS:
		is.passed = rank > 0
	}
	if is.passed && b.uneven != 0 {
		is.counts = ints(b.counts, size)
		is.displs = ints(b.displs, size)
	}
	return is
}

// ints returns n numbers of C; nil if there are none.
func ints(from *C.int64_t, n int) []int {
	if from == nil {
		return nil
	}
	return unsafe.Slice((*int)(unsafe.Pointer(from)), n)
}

// countsOf returns an error unless b has counts if it has to.
func countsOf(b *buffer, x *C.struct_collgen_buffer) error {
	if b.passed && x.uneven != 0 && b.counts == nil {
		return refuse("%s_counts is NULL", b.name)
	}
	return nil
}

// resolve finds the buffer that lies in the other one, if one does.
func resolve(how C.int, dst, src *buffer, rank, root, count, size, elem int) error {
	part, whole, block := src, dst, -1
	switch how {
	case C.COLLGEN_DST_SAME:
		if dst.inPlace {
			part, whole = dst, src
		}
	case C.COLLGEN_DST_RANK:
		block = rank
	case C.COLLGEN_DST_ROOT:
		block = root
	case C.COLLGEN_SRC_RANK:
		part, whole, block = dst, src, rank
	case C.COLLGEN_SRC_ROOT:
		part, whole, block = dst, src, root
	}
	switch {
	case !dst.inPlace && !src.inPlace:
		return nil
	case how == C.COLLGEN_NEVER || whole.inPlace:
		return refuse("%s cannot be COLLGEN_IN_PLACE", whole.name)
	case !part.passed:
		return nil
	case block >= 0 && !whole.passed:
		return refuse("%s is COLLGEN_IN_PLACE, and this rank has no %s", part.name, whole.name)
	case block >= size:
		return refuse("root is %d, want a rank of %d", block, size)
	}
	return part.lieIn(whole, block, count, size, elem)
}
