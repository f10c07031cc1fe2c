//go:build cgo && linux && (amd64 || arm64)

package main

// #cgo CFLAGS: -O2 -Wall -Wextra -Wno-unused-parameter
// #include <stdlib.h>
// #include <string.h>
// #include "call.h"
import "C"

import (
	"bytes"
	"context"
	"encoding/json"
	"unsafe"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/spec"
)

// report returns the kind of err, and keeps err for the thread's collgen_last_error.
func report(f *C.struct_collgen_failure, err error) C.int {
	if err == nil {
		return C.COLLGEN_OK
	}
	C.free(unsafe.Pointer(f.text))
	C.free(unsafe.Pointer(f.field))
	C.free(unsafe.Pointer(f.ranks))
	ranks := ranksOf(err)
	f.kind, f.text, f.field = C.int(kindOf(err)), C.CString(err.Error()), C.CString(fieldOf(err))
	f.ranks, f.nranks = nil, C.size_t(len(ranks))
	if len(ranks) > 0 {
		f.ranks = (*C.int)(C.malloc(C.size_t(len(ranks)) * C.sizeof_int))
		for i, rank := range ranks {
			unsafe.Slice(f.ranks, len(ranks))[i] = C.int(rank)
		}
	}
	return f.kind
}

// made keeps a communicator that was made, if there is one.
func made(into *C.collgen_comm, c *fast.Comm, err error) error {
	if err == nil && c != nil {
		*into = C.collgen_comm(add(c))
	}
	return err
}

//export goClose
func goClose(number C.collgen_comm, f *C.struct_collgen_failure) C.int {
	return report(f, closeComm(int64(number)))
}

//export goAbort
func goAbort(number C.collgen_comm, f *C.struct_collgen_failure) C.int {
	c, err := commOf(int64(number))
	if err == nil {
		c.Abort()
	}
	return report(f, err)
}

//export goRank
func goRank(number C.collgen_comm, rank, size *C.int, f *C.struct_collgen_failure) C.int {
	c, err := commOf(int64(number))
	if err == nil {
		*rank, *size = C.int(c.Rank()), C.int(c.Size())
	}
	return report(f, err)
}

// write writes text to a buffer of n bytes.
func write(text []byte, into *C.char, n C.size_t, length *C.size_t) error {
	if length != nil {
		*length = C.size_t(len(text))
	}
	if uint64(n) < uint64(len(text))+1 {
		return refuse("the buffer has %d bytes, and the text with its end %d", n, len(text)+1)
	}
	buf := unsafe.Slice((*byte)(unsafe.Pointer(into)), len(text)+1)
	buf[copy(buf, text)] = 0
	return nil
}

// writeOf writes what text returns of a communicator.
func writeOf(number C.collgen_comm, into *C.char, n C.size_t, length *C.size_t, f *C.struct_collgen_failure,
	text func(c *comm) ([]byte, error)) C.int {
	c, err := commOf(int64(number))
	var is []byte
	if err == nil {
		is, err = text(c)
	}
	if err == nil {
		err = write(is, into, n, length)
	}
	return report(f, err)
}

//export goTopology
func goTopology(number C.collgen_comm, text *C.char, n C.size_t, length *C.size_t, f *C.struct_collgen_failure) C.int {
	return writeOf(number, text, n, length, f, func(c *comm) ([]byte, error) { return json.Marshal(c.Topology()) })
}

//export goExplain
func goExplain(number C.collgen_comm, collective *C.char, size C.int64_t, op C.int, text *C.char, n C.size_t,
	length *C.size_t, f *C.struct_collgen_failure) C.int {
	return writeOf(number, text, n, length, f, func(c *comm) ([]byte, error) {
		is, err := opOf(op)
		if err != nil {
			return nil, err
		}
		x, err := fast.Explain(c.Comm, fast.Query{Collective: C.GoString(collective), Bytes: int(size), Op: is})
		if err != nil {
			return nil, err
		}
		return []byte(x.String()), nil
	})
}

//export goTrace
func goTrace(number C.collgen_comm, text *C.char, n C.size_t, length *C.size_t, f *C.struct_collgen_failure) C.int {
	return writeOf(number, text, n, length, f, func(c *comm) ([]byte, error) {
		var b bytes.Buffer
		err := c.WriteTrace(&b)
		return b.Bytes(), err
	})
}

//export goInvite
func goInvite(number C.collgen_comm, timeout C.int64_t, text *C.char, n C.size_t, length *C.size_t,
	f *C.struct_collgen_failure) C.int {
	c, err := commOf(int64(number))
	if err == nil {
		ctx, stop := within(int64(timeout))
		defer stop()
		err = c.invite(ctx, func(ticket string) error { return write([]byte(ticket), text, n, length) })
	}
	return report(f, err)
}

// make makes a communicator of another one.
func makeOf(number C.collgen_comm, timeout C.int64_t, into *C.collgen_comm, f *C.struct_collgen_failure,
	do func(ctx context.Context, c *comm) (*fast.Comm, error)) C.int {
	c, err := commOf(int64(number))
	if err != nil {
		return report(f, err)
	}
	ctx, stop := within(int64(timeout))
	defer stop()
	is, err := do(ctx, c)
	return report(f, made(into, is, err))
}

//export goSplit
func goSplit(number C.collgen_comm, color, key C.int, timeout C.int64_t, into *C.collgen_comm,
	f *C.struct_collgen_failure) C.int {
	return makeOf(number, timeout, into, f, func(ctx context.Context, c *comm) (*fast.Comm, error) {
		return c.Split(ctx, int(color), int(key))
	})
}

//export goGroup
func goGroup(number C.collgen_comm, ranks *C.int, n C.size_t, timeout C.int64_t, into *C.collgen_comm,
	f *C.struct_collgen_failure) C.int {
	return makeOf(number, timeout, into, f, func(ctx context.Context, c *comm) (*fast.Comm, error) {
		if uint64(n) > uint64(c.Size()) {
			return nil, refuse("%d ranks of %d", n, c.Size())
		}
		all := make([]int, n)
		for i, rank := range unsafe.Slice(ranks, int(n)) {
			all[i] = int(rank)
		}
		return c.Group(ctx, all)
	})
}

//export goShrink
func goShrink(number C.collgen_comm, timeout C.int64_t, into *C.collgen_comm, f *C.struct_collgen_failure) C.int {
	return makeOf(number, timeout, into, f, func(ctx context.Context, c *comm) (*fast.Comm, error) {
		return c.Shrink(ctx)
	})
}

//export goGrow
func goGrow(number C.collgen_comm, timeout C.int64_t, into *C.collgen_comm, f *C.struct_collgen_failure) C.int {
	return makeOf(number, timeout, into, f, func(ctx context.Context, c *comm) (*fast.Comm, error) {
		return c.Grow(ctx)
	})
}

//export goAlloc
func goAlloc(number C.collgen_comm, size, timeout C.int64_t, memory *unsafe.Pointer,
	f *C.struct_collgen_failure) C.int {
	c, err := commOf(int64(number))
	if err != nil {
		return report(f, err)
	}
	ctx, stop := within(int64(timeout))
	defer stop()
	b, err := fast.Alloc[byte](ctx, c.Comm, int(size))
	var at *byte
	if err == nil {
		at, err = c.keep(b)
		*memory = unsafe.Pointer(at)
	}
	return report(f, err)
}

//export goFree
func goFree(number C.collgen_comm, memory unsafe.Pointer, f *C.struct_collgen_failure) C.int {
	c, err := commOf(int64(number))
	if err == nil {
		err = c.release(uintptr(memory))
	}
	return report(f, err)
}

//export goWait
func goWait(number C.collgen_work, timeout C.int64_t, f *C.struct_collgen_failure) C.int {
	over, err := wait(int64(number), int64(timeout))
	if !over {
		return C.COLLGEN_NOT_OVER
	}
	return report(f, err)
}

//export goPeek
func goPeek(number C.collgen_work, over *C.int, f *C.struct_collgen_failure) C.int {
	w, err := workOf(int64(number))
	if err == nil {
		*over = 0
		if w.Over() {
			*over = 1
		}
	}
	return report(f, err)
}

//export goNotify
func goNotify(number C.collgen_work, call, context unsafe.Pointer, f *C.struct_collgen_failure) C.int {
	w, err := workOf(int64(number))
	if err == nil {
		w.OnOver(func(err error) {
			punctual()
			C.collgen_do_notify(call, context, C.int(kindOf(err)))
		})
	}
	return report(f, err)
}

//export goWaitAny
func goWaitAny(numbers *C.collgen_work, n C.size_t, timeout C.int64_t, index *C.size_t,
	f *C.struct_collgen_failure) C.int {
	if n > maxWorks {
		return report(f, refuse("%d works, which is more than %d", uint64(n), maxWorks))
	}
	at, over, err := waitAny(unsafe.Slice((*int64)(numbers), int(n)), int64(timeout))
	*index = C.size_t(at)
	if !over {
		return C.COLLGEN_NOT_OVER
	}
	return report(f, err)
}

//export goBatch
func goBatch(number C.collgen_comm, begins C.int, f *C.struct_collgen_failure) C.int {
	c, err := commOf(int64(number))
	switch {
	case err != nil:
	case begins != 0:
		err = c.beginBatch()
	default:
		err = c.endBatch()
	}
	return report(f, err)
}

// opOf returns the op of that number.
func opOf(number C.int) (fast.Op, error) {
	if number < 0 || number > 0 && !spec.Op(number&0xff).Valid() || number > 0xff {
		return 0, refuse("no op has the number %d", number)
	}
	return fast.Op(number), nil
}
