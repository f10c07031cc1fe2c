//go:build linux && cgo && !netgo

package verbs

// #include "library.h"
//
// #cgo noescape vb_post_sends
// #cgo nocallback vb_post_sends
// #cgo noescape vb_post_receives
// #cgo nocallback vb_post_receives
import "C"

import (
	"errors"
	"unsafe"
)

var errBounds = errors.New("it does not lie in its registered memory")

// Post has the sends carried out in this order. It answers how many of them are: fewer if one was refused, with why.
func (q *QP) Post(sends []Send) (posted int, err error) { return inBatches(sends, q.postSends) }

// PostReceives has room for what the peer sends, consumed in this order. It answers as Post does.
func (q *QP) PostReceives(receives []Receive) (posted int, err error) {
	return inBatches(receives, q.postReceives)
}

// inBatches posts all, as many at a time as one call into C takes.
func inBatches[T any](all []T, post func(batch []T) (int, error)) (posted int, err error) {
	for posted < len(all) && err == nil {
		var n int
		n, err = post(all[posted:min(len(all), posted+C.VB_BATCH)])
		posted += n
	}
	return posted, err
}

// postSends posts a batch at most.
func (q *QP) postSends(part []Send) (int, error) {
	const op = "post a send"
	if q.closed {
		return 0, ErrClosed
	}
	for i := range part {
		s := &part[i]
		if !s.MR.holds(s.Offset, s.Length) {
			return 0, q.context.failed(op, errBounds)
		}
		encode(&q.sends.wr[i], s)
		q.sends.wr[i].num_sge = place(&q.sends.sge[i], s.MR, s.Offset, s.Length)
	}
	if errno := C.vb_post_sends(q.handle, q.sends, C.int(len(part))); errno != 0 {
		return int(q.sends.posted), q.context.result(op, errno)
	}
	return len(part), nil
}

func encode(wr *C.struct_vb_send_wr, s *Send) {
	wr.wr_id = C.uint64_t(s.ID)
	wr.opcode = C.int(s.Opcode)
	wr.send_flags = 0
	if s.Signaled {
		wr.send_flags |= C.VB_SEND_SIGNALED
	}
	if s.Inline {
		wr.send_flags |= C.VB_SEND_INLINE
	}
	wr.imm_data = C.uint32_t(swapped(s.Imm))
	wr.remote_addr = C.uint64_t(s.Remote)
	wr.rkey = C.uint32_t(s.RKey)
}

// place says where the bytes of a post are, and how many places that is.
func place(sge *C.struct_vb_sge, m *MR, offset, length int) C.int {
	if length == 0 {
		return 0
	}
	sge.addr = C.uint64_t(uintptr(unsafe.Pointer(&m.Memory[offset])))
	sge.length = C.uint32_t(length)
	sge.lkey = C.uint32_t(m.LKey)
	return 1
}

func (q *QP) postReceives(part []Receive) (int, error) {
	const op = "post a receive"
	if q.closed {
		return 0, ErrClosed
	}
	for i := range part {
		r := &part[i]
		if !r.MR.holds(r.Offset, r.Length) {
			return 0, q.context.failed(op, errBounds)
		}
		q.receives.wr[i].wr_id = C.uint64_t(r.ID)
		q.receives.wr[i].num_sge = place(&q.receives.sge[i], r.MR, r.Offset, r.Length)
	}
	if errno := C.vb_post_receives(q.handle, q.receives, C.int(len(part))); errno != 0 {
		return int(q.receives.posted), q.context.result(op, errno)
	}
	return len(part), nil
}
