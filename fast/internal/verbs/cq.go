//go:build linux && cgo && !netgo

package verbs

// #include <stdlib.h>
// #include "library.h"
//
// #cgo noescape vb_poll
// #cgo nocallback vb_poll
// #cgo noescape vb_arm
// #cgo nocallback vb_arm
//
// static struct vb_cq *create_cq(struct vb_context *c, int n, uint32_t owner, struct vb_comp_channel *ch) {
//	return vb.create_cq(c, n, (void *)(uintptr_t)owner, ch, 0);
// }
// static int destroy_cq(struct vb_cq *q) { return vb.destroy_cq(q); }
import "C"

import (
	"encoding/binary"
	"unsafe"
)

// CQ is a completion queue.
type CQ struct {
	Depth   int // how many completions it can hold: at least as many as were asked for
	context *Context
	handle  *C.struct_vb_cq
	polled  *C.struct_vb_polled
	lifetime
}

// CreateCQ makes a completion queue that can hold at least depth completions, and notifies channel, unless that is nil.
// A queue that overruns fails with all its queue pairs, and the context is notified by EventCQError.
func (c *Context) CreateCQ(depth int, channel *Channel) (*CQ, error) {
	q := &CQ{context: c}
	needs := []*lifetime{&c.lifetime}
	var ch *C.struct_vb_comp_channel
	if channel != nil {
		needs = append(needs, &channel.lifetime)
		ch = channel.handle
	}
	err := q.begin(func() (err error) {
		if q.handle, err = C.create_cq(c.handle, C.int(depth), C.uint32_t(c.number), ch); q.handle == nil {
			return c.failed("create a completion queue", err)
		}
		q.Depth = int(q.handle.cqe)
		q.polled = (*C.struct_vb_polled)(C.calloc(1, C.sizeof_struct_vb_polled))
		return nil
	}, q.close, needs...)
	return q, err
}

func (q *CQ) close() error {
	C.free(unsafe.Pointer(q.polled))
	return q.context.result("destroy a completion queue", C.destroy_cq(q.handle))
}

// Poll takes at most 32 completions out of the queue, and returns their number.
func (q *CQ) Poll(into []Completion) (int, error) { return q.Spin(into, 0) }

// Spin is Poll, repeated up to that many times until there is a completion.
func (q *CQ) Spin(into []Completion, times int) (int, error) {
	if q.closed {
		return 0, ErrClosed
	}
	n := C.vb_poll(q.handle, q.polled, C.int(min(len(into), C.VB_BATCH)), C.int(times))
	if n < 0 {
		return 0, q.context.result("poll a completion queue", n)
	}
	for i := range into[:n] {
		decode(&into[i], &q.polled.wc[i])
	}
	return int(n), nil
}

func decode(c *Completion, wc *C.struct_vb_wc) {
	*c = Completion{
		ID:     uint64(wc.wr_id),
		Status: Status(wc.status),
		Kind:   Kind(wc.opcode),
		Bytes:  uint32(wc.byte_len),
		Imm:    swapped(uint32(wc.imm_data)),
		HasImm: wc.wc_flags&C.VB_WC_WITH_IMM != 0,
		QP:     uint32(wc.qp_num),
		Vendor: uint32(wc.vendor_err),
	}
}

// swapped converts an immediate to or from network byte order.
func swapped(imm uint32) uint32 {
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], imm)
	return binary.BigEndian.Uint32(b[:])
}

// Arm makes the channel report the next completion, once. An earlier one may go unreported: poll after Arm.
func (q *CQ) Arm() error {
	if q.closed {
		return ErrClosed
	}
	if errno := C.vb_arm(q.handle); errno != 0 {
		return q.context.result("arm a completion queue", errno)
	}
	return nil
}
