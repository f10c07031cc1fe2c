// Every structure of declarations.h has the size and the offsets of that in the header of libibverbs. Those that are
// declared to their beginning alone, as the library makes them, may be shorter. With PLANTED, one is wrong.
#include <stddef.h>
#include <infiniband/verbs.h>
#include "../declarations.h"

#ifdef PLANTED
#define vb_wc vb_planted
struct vb_planted { uint64_t wr_id; int opcode, status; };
#endif

#define AT_AS(s, field, theirs)                                                                                        \
	_Static_assert(offsetof(struct vb_##s, field) == offsetof(struct ibv_##s, theirs), #s "." #field " is elsewhere"); \
	_Static_assert(sizeof(((struct vb_##s *)0)->field) == sizeof(((struct ibv_##s *)0)->theirs), #s "." #field " has another size");
#define AT(s, field) AT_AS(s, field, field)
#define SAME(s) _Static_assert(sizeof(struct vb_##s) == sizeof(struct ibv_##s), #s " has another size");
#define BEGINNING(s) _Static_assert(sizeof(struct vb_##s) <= sizeof(struct ibv_##s), #s " is longer");

AT(wc, wr_id) AT(wc, status) AT(wc, opcode)
#ifndef PLANTED
SAME(wc) AT(wc, vendor_err) AT(wc, byte_len) AT(wc, imm_data) AT(wc, qp_num) AT(wc, src_qp) AT(wc, wc_flags)
AT(wc, pkey_index) AT(wc, slid) AT(wc, sl) AT(wc, dlid_path_bits)
#endif

SAME(context_ops) AT(context_ops, poll_cq) AT(context_ops, req_notify_cq) AT(context_ops, post_send) AT(context_ops, post_recv)
BEGINNING(device) AT(device, node_type)
BEGINNING(context) AT(context, device) AT(context, ops) AT(context, cmd_fd) AT(context, async_fd) AT(context, num_comp_vectors)
SAME(device_attr) AT(device_attr, fw_ver) AT(device_attr, max_mr_size) AT(device_attr, max_qp) AT(device_attr, max_qp_wr)
AT(device_attr, device_cap_flags) AT(device_attr, max_sge) AT(device_attr, max_sge_rd) AT(device_attr, max_cq)
AT(device_attr, max_cqe) AT(device_attr, max_mr) AT(device_attr, max_pkeys) AT(device_attr, local_ca_ack_delay)
AT(device_attr, phys_port_cnt)
SAME(port_attr) AT(port_attr, state) AT(port_attr, max_mtu) AT(port_attr, active_mtu) AT(port_attr, gid_tbl_len)
AT(port_attr, port_cap_flags) AT(port_attr, max_msg_sz) AT(port_attr, pkey_tbl_len) AT(port_attr, lid)
AT(port_attr, sm_lid) AT(port_attr, phys_state) AT(port_attr, link_layer) AT(port_attr, flags) AT(port_attr, port_cap_flags2)
SAME(comp_channel) AT(comp_channel, context) AT(comp_channel, fd) AT(comp_channel, refcnt)
BEGINNING(cq) AT(cq, context) AT(cq, channel) AT(cq, cq_context) AT(cq, handle) AT(cq, cqe)
SAME(pd) AT(pd, context) AT(pd, handle)
SAME(mr) AT(mr, context) AT(mr, pd) AT(mr, addr) AT(mr, length) AT(mr, handle) AT(mr, lkey) AT(mr, rkey)
BEGINNING(qp) AT(qp, context) AT(qp, qp_context) AT(qp, pd) AT(qp, send_cq) AT(qp, recv_cq) AT(qp, srq) AT(qp, handle)
AT(qp, qp_num) AT(qp, state) AT(qp, qp_type)
SAME(qp_cap) AT(qp_cap, max_send_wr) AT(qp_cap, max_recv_wr) AT(qp_cap, max_send_sge) AT(qp_cap, max_recv_sge)
AT(qp_cap, max_inline_data)
SAME(qp_init_attr) AT(qp_init_attr, qp_context) AT(qp_init_attr, send_cq) AT(qp_init_attr, recv_cq) AT(qp_init_attr, srq)
AT(qp_init_attr, cap) AT(qp_init_attr, qp_type) AT(qp_init_attr, sq_sig_all)
SAME(global_route) AT(global_route, dgid) AT(global_route, flow_label) AT(global_route, sgid_index)
AT(global_route, hop_limit) AT(global_route, traffic_class)
SAME(ah_attr) AT(ah_attr, grh) AT(ah_attr, dlid) AT(ah_attr, sl) AT(ah_attr, src_path_bits) AT(ah_attr, static_rate)
AT(ah_attr, is_global) AT(ah_attr, port_num)
SAME(qp_attr) AT(qp_attr, qp_state) AT(qp_attr, cur_qp_state) AT(qp_attr, path_mtu) AT(qp_attr, path_mig_state)
AT(qp_attr, qkey) AT(qp_attr, rq_psn) AT(qp_attr, sq_psn) AT(qp_attr, dest_qp_num) AT(qp_attr, qp_access_flags)
AT(qp_attr, cap) AT(qp_attr, ah_attr) AT(qp_attr, alt_ah_attr) AT(qp_attr, pkey_index) AT(qp_attr, alt_pkey_index)
AT(qp_attr, max_rd_atomic) AT(qp_attr, max_dest_rd_atomic) AT(qp_attr, min_rnr_timer) AT(qp_attr, port_num)
AT(qp_attr, timeout) AT(qp_attr, retry_cnt) AT(qp_attr, rnr_retry) AT(qp_attr, rate_limit)
SAME(sge) AT(sge, addr) AT(sge, length) AT(sge, lkey)
SAME(send_wr) AT(send_wr, wr_id) AT(send_wr, next) AT(send_wr, sg_list) AT(send_wr, num_sge) AT(send_wr, opcode)
AT(send_wr, send_flags) AT(send_wr, imm_data) AT_AS(send_wr, remote_addr, wr.rdma.remote_addr) AT_AS(send_wr, rkey, wr.rdma.rkey)
SAME(recv_wr) AT(recv_wr, wr_id) AT(recv_wr, next) AT(recv_wr, sg_list) AT(recv_wr, num_sge)
SAME(async_event) AT(async_event, element) AT(async_event, event_type)

SAME(gid_entry) AT(gid_entry, gid) AT(gid_entry, gid_index) AT(gid_entry, port_num) AT(gid_entry, gid_type)
AT(gid_entry, ndev_ifindex)

#define VALUE(name) _Static_assert((int)VB_##name == (int)IBV_##name, #name " has another value");
VALUE(QPT_RC) VALUE(QPS_INIT) VALUE(QPS_RTR) VALUE(QPS_RTS) VALUE(QPS_ERR)
VALUE(QP_STATE) VALUE(QP_ACCESS_FLAGS) VALUE(QP_PKEY_INDEX) VALUE(QP_PORT) VALUE(QP_AV) VALUE(QP_PATH_MTU)
VALUE(QP_TIMEOUT) VALUE(QP_RETRY_CNT) VALUE(QP_RNR_RETRY) VALUE(QP_RQ_PSN) VALUE(QP_MAX_QP_RD_ATOMIC)
VALUE(QP_MIN_RNR_TIMER) VALUE(QP_SQ_PSN) VALUE(QP_MAX_DEST_RD_ATOMIC) VALUE(QP_DEST_QPN)
VALUE(SEND_SIGNALED) VALUE(SEND_INLINE) VALUE(WC_WITH_IMM)
