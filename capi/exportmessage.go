//go:build cgo && linux && (amd64 || arm64)

package main

// #include "call.h"
import "C"

import (
	"context"
	"errors"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/message"
	"github.com/collgen/collgen/spec"
)

//export goMessage
func goMessage(number C.collgen_comm, x *C.struct_collgen_message, o *C.collgen_options, into *C.collgen_work,
	f *C.struct_collgen_failure) C.int {
	c, err := commOf(int64(number))
	if err != nil {
		return report(f, err)
	}
	var list [maxOptions]fast.Option
	var opts []fast.Option
	var timeout int64
	if o != nil {
		opts, timeout, err = optionsOf(o, &list)
	}
	var l letter
	if err == nil {
		l, err = letterOf(c, x)
	}
	if err != nil {
		return report(f, err)
	}
	ctx, stop := within(timeout)
	h := posts[spec.Type(x._type)](ctx, c.Comm, &l, opts)
	if into == nil {
		_ = h.Wait(context.Background()) // it ends when ctx does
		stop()
		tell(x.status, h)
		_, err = h.Test()
		return report(f, err)
	}
	if over, err := h.Test(); over && err != nil && !hasMatched(err) { // perhaps refused
		stop()
		return report(f, err)
	}
	w := &work{started: posted{h}, of: c, stop: stop}
	if status := x.status; status != nil {
		w.tell = func() { tell(status, h) }
	}
	*into = C.collgen_work(works.add(w))
	return C.COLLGEN_OK
}

// hasMatched reports whether err says that a receive has got a message which does not fit.
func hasMatched(err error) bool {
	return errors.Is(err, message.ErrTruncated) || errors.As(err, new(*fast.MismatchError))
}

// letterOf returns the message of a C program.
func letterOf(c *comm, x *C.struct_collgen_message) (l letter, err error) {
	if x._type <= 0 || x._type > 0xff || !spec.Type(x._type).Valid() {
		return l, refuse("no type has the number %d", x._type)
	}
	b := buffer{name: "buf", data: uintptr(x.buf), blocks: 1, passed: true}
	l = letter{peer: int(x.peer), tag: int(x.tag), receives: x.receives != 0}
	elem := spec.Type(x._type)
	align := elem.Bytes()
	if elem.Class() == spec.Complex {
		align /= 2
	}
	if uintptr(x.buf)%uintptr(align) != 0 {
		return l, refuse("a buffer of %v is not aligned to %d bytes", elem, align)
	}
	l.buf, err = b.memory(int(x.count), c.Size(), elem.Bytes())
	return l, err
}

// tell writes which message a call has got, if a C program wants to know it.
func tell(into *C.collgen_status, h *message.Handle) {
	if into != nil {
		is := h.Status()
		into.source, into.tag, into.count = C.int(is.Source), C.int(is.Tag), C.int64_t(is.Count)
	}
}

//export goCancel
func goCancel(number C.collgen_work, canceled *C.int, f *C.struct_collgen_failure) C.int {
	w, err := workOf(int64(number))
	if err == nil {
		*canceled = 0
		if p, ok := w.started.(posted); ok && p.Cancel() {
			*canceled = 1
		}
	}
	return report(f, err)
}
