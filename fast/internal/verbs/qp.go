//go:build linux && cgo && !netgo

package verbs

// #include <stdlib.h>
// #include "library.h"
//
// #cgo noescape vb_post_sends
// #cgo nocallback vb_post_sends
// #cgo noescape vb_post_receives
// #cgo nocallback vb_post_receives
//
// static struct vb_qp *create_qp(struct vb_pd *p, struct vb_qp_init_attr *a) { return vb.create_qp(p, a); }
// static int modify_qp(struct vb_qp *q, struct vb_qp_attr *a, int mask) { return vb.modify_qp(q, a, mask); }
// static int destroy_qp(struct vb_qp *q) { return vb.destroy_qp(q); }
import "C"

import (
	"errors"
	"unsafe"
)

// QP is a queue pair of a reliable connection.
type QP struct {
	Number   uint32
	Depths   Depths // as granted: at least what was asked for, except that Inline may be 0
	context  *Context
	handle   *C.struct_vb_qp
	sends    *C.struct_vb_sends
	receives *C.struct_vb_receives
	port     int
	lifetime
}

// CreateQP makes a queue pair whose sends and receives complete in two queues, which may be the same. If the device
// does not support that many inline bytes, the queue pair has none.
func (p *PD) CreateQP(sends, receives *CQ, depths Depths) (*QP, error) {
	q := &QP{context: p.context}
	return q, q.begin(func() (err error) {
		q.handle, err = p.createQP(sends, receives, &depths)
		if q.handle == nil && depths.Inline > 0 {
			depths.Inline = 0
			q.handle, err = p.createQP(sends, receives, &depths)
		}
		if q.handle == nil {
			return p.context.failed("create a queue pair", err)
		}
		q.Number, q.Depths = uint32(q.handle.qp_num), depths
		q.sends = (*C.struct_vb_sends)(C.calloc(1, C.sizeof_struct_vb_sends))
		q.receives = (*C.struct_vb_receives)(C.calloc(1, C.sizeof_struct_vb_receives))
		return nil
	}, q.close, &p.lifetime, &sends.lifetime, &receives.lifetime)
}

// createQP makes a queue pair, and sets depths to what is granted.
func (p *PD) createQP(sends, receives *CQ, depths *Depths) (*C.struct_vb_qp, error) {
	attr := (*C.struct_vb_qp_init_attr)(C.calloc(1, C.sizeof_struct_vb_qp_init_attr))
	defer C.free(unsafe.Pointer(attr))
	attr.send_cq, attr.recv_cq, attr.qp_type = sends.handle, receives.handle, C.VB_QPT_RC
	attr.cap = C.struct_vb_qp_cap{
		max_send_wr:     C.uint32_t(depths.Sends),
		max_recv_wr:     C.uint32_t(depths.Receives),
		max_send_sge:    1,
		max_recv_sge:    1,
		max_inline_data: C.uint32_t(depths.Inline),
	}
	handle, err := C.create_qp(p.handle, attr)
	if handle != nil {
		granted := attr.cap
		*depths = Depths{int(granted.max_send_wr), int(granted.max_recv_wr), int(granted.max_inline_data)}
	}
	return handle, err
}

func (q *QP) close() error {
	C.free(unsafe.Pointer(q.sends))
	C.free(unsafe.Pointer(q.receives))
	return q.context.result("destroy a queue pair", C.destroy_qp(q.handle))
}

// modify changes those attributes of the queue pair that mask selects.
func (q *QP) modify(op string, attr C.struct_vb_qp_attr, mask C.int) error {
	return using(func() error {
		return q.context.result(op, C.modify_qp(q.handle, &attr, mask))
	}, &q.lifetime)
}

// ToInit gives the queue pair a port, from 1 on, and a partition, by the index of its key in the port's table. access
// is what the peer may do. Receives can be posted after that.
func (q *QP) ToInit(port int, partition uint16, access Access) error {
	q.port = port
	return q.modify("give a queue pair a port", C.struct_vb_qp_attr{
		qp_state:        C.VB_QPS_INIT,
		port_num:        C.uint8_t(port),
		pkey_index:      C.uint16_t(partition),
		qp_access_flags: C.uint(access),
	}, C.VB_QP_STATE|C.VB_QP_PKEY_INDEX|C.VB_QP_PORT|C.VB_QP_ACCESS_FLAGS)
}

// ToReceive connects the queue pair to the peer's, and lets it receive. It may take a second to resolve an address.
func (q *QP) ToReceive(to Path) error {
	return q.modify("connect a queue pair", C.struct_vb_qp_attr{
		qp_state:           C.VB_QPS_RTR,
		path_mtu:           C.int(to.MTU),
		dest_qp_num:        C.uint32_t(to.QP),
		rq_psn:             C.uint32_t(to.PSN & 0xffffff),
		max_dest_rd_atomic: 1,
		min_rnr_timer:      C.uint8_t(to.MinRNRTimer),
		ah_attr:            q.route(&to),
	}, C.VB_QP_STATE|C.VB_QP_AV|C.VB_QP_PATH_MTU|C.VB_QP_DEST_QPN|C.VB_QP_RQ_PSN|
		C.VB_QP_MAX_DEST_RD_ATOMIC|C.VB_QP_MIN_RNR_TIMER)
}

// route returns the route of packets to the peer.
func (q *QP) route(to *Path) C.struct_vb_ah_attr {
	a := C.struct_vb_ah_attr{dlid: C.uint16_t(to.LID), sl: C.uint8_t(to.ServiceLevel), port_num: C.uint8_t(q.port)}
	if to.GID == [16]byte{} {
		return a
	}
	a.is_global = 1
	a.grh.sgid_index = C.uint8_t(to.GIDIndex)
	a.grh.traffic_class = C.uint8_t(to.TrafficClass)
	if a.grh.hop_limit = C.uint8_t(to.HopLimit); to.HopLimit == 0 {
		a.grh.hop_limit = 64
	}
	for i, b := range to.GID {
		a.grh.dgid[i] = C.uint8_t(b)
	}
	return a
}

// ToSend lets the queue pair send. psn is the number of its first packet, which the peer knows.
func (q *QP) ToSend(psn uint32, r Retry) error {
	const op = "have a queue pair send"
	if r.Count > 6 {
		return q.context.failed(op, errors.New("more than 6 retries: some devices take 7 for endless"))
	}
	return q.modify(op, C.struct_vb_qp_attr{
		qp_state:      C.VB_QPS_RTS,
		sq_psn:        C.uint32_t(psn & 0xffffff),
		timeout:       C.uint8_t(r.Timeout),
		retry_cnt:     C.uint8_t(r.Count),
		rnr_retry:     C.uint8_t(r.RNR),
		max_rd_atomic: 1,
	}, C.VB_QP_STATE|C.VB_QP_TIMEOUT|C.VB_QP_RETRY_CNT|C.VB_QP_RNR_RETRY|C.VB_QP_SQ_PSN|C.VB_QP_MAX_QP_RD_ATOMIC)
}

// ToError makes everything that was posted complete, with Flushed unless it had ended before. What is posted after that
// may never complete.
func (q *QP) ToError() error {
	return q.modify("stop a queue pair", C.struct_vb_qp_attr{qp_state: C.VB_QPS_ERR}, C.VB_QP_STATE)
}

var errBounds = errors.New("it does not lie in its registered memory")

// Post posts the sends, which are carried out in this order. It returns how many were posted: fewer if one was refused,
// and why.
func (q *QP) Post(sends []Send) (posted int, err error) { return inBatches(sends, q.postSends) }

// PostReceives makes room for what the peer sends, consumed in this order. It returns the same as Post.
func (q *QP) PostReceives(receives []Receive) (posted int, err error) {
	return inBatches(receives, q.postReceives)
}

// inBatches posts all, in batches that one call into C takes.
func inBatches[T any](all []T, post func(batch []T) (int, error)) (posted int, err error) {
	for posted < len(all) && err == nil {
		var n int
		n, err = post(all[posted:min(len(all), posted+C.VB_BATCH)])
		posted += n
	}
	return posted, err
}

// postSends posts at most one batch.
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
		q.sends.wr[i].num_sge = fillSGE(&q.sends.sge[i], s.MR, s.Offset, s.Length)
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

// fillSGE sets the address of a post's bytes, and returns how many addresses there are, 0 or 1.
func fillSGE(sge *C.struct_vb_sge, m *MR, offset, length int) C.int {
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
		q.receives.wr[i].num_sge = fillSGE(&q.receives.sge[i], r.MR, r.Offset, r.Length)
	}
	if errno := C.vb_post_receives(q.handle, q.receives, C.int(len(part))); errno != 0 {
		return int(q.receives.posted), q.context.result(op, errno)
	}
	return len(part), nil
}
