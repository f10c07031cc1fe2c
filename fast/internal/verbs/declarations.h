// What is used of <infiniband/verbs.h>, declared again, so that building needs no header of libibverbs. The fields have
// their names there, with the prefix vb_ instead of ibv_; those that are not used are gaps of the same size. The tests
// compare every size and every offset with the header, where it is installed.
#ifndef COLLGEN_VERBS_DECLARATIONS_H
#define COLLGEN_VERBS_DECLARATIONS_H

#include <stddef.h>
#include <stdint.h>

struct vb_qp;
struct vb_cq;
struct vb_wc;
struct vb_send_wr;
struct vb_recv_wr;

struct vb_context_ops {
	void *gap1[11];
	int (*poll_cq)(struct vb_cq *, int, struct vb_wc *);
	int (*req_notify_cq)(struct vb_cq *, int);
	void *gap2[12];
	int (*post_send)(struct vb_qp *, struct vb_send_wr *, struct vb_send_wr **);
	int (*post_recv)(struct vb_qp *, struct vb_recv_wr *, struct vb_recv_wr **);
	void *gap3[5];
};

struct vb_device {
	void *gap1[2];
	int node_type;
};

struct vb_context {
	struct vb_device *device;
	struct vb_context_ops ops;
	int cmd_fd, async_fd, num_comp_vectors;
};

struct vb_device_attr {
	char fw_ver[64];
	uint64_t gap1[2];
	uint64_t max_mr_size;
	uint64_t gap2;
	uint32_t gap3[3];
	int max_qp, max_qp_wr;
	unsigned device_cap_flags;
	int max_sge, max_sge_rd, max_cq, max_cqe, max_mr;
	uint32_t gap4[21];
	uint16_t max_pkeys;
	uint8_t local_ca_ack_delay, phys_port_cnt;
};

struct vb_port_attr {
	int state, max_mtu, active_mtu, gid_tbl_len;
	uint32_t port_cap_flags, max_msg_sz, gap1[2];
	uint16_t pkey_tbl_len, lid, sm_lid;
	uint8_t gap2[7], phys_state, link_layer, flags;
	uint16_t port_cap_flags2;
};

struct vb_comp_channel {
	struct vb_context *context;
	int fd, refcnt;
};

struct vb_cq {
	struct vb_context *context;
	struct vb_comp_channel *channel;
	void *cq_context;
	uint32_t handle;
	int cqe;
};

struct vb_pd {
	struct vb_context *context;
	uint32_t handle;
};

struct vb_mr {
	struct vb_context *context;
	struct vb_pd *pd;
	void *addr;
	size_t length;
	uint32_t handle, lkey, rkey;
};

struct vb_qp {
	struct vb_context *context;
	void *qp_context;
	struct vb_pd *pd;
	struct vb_cq *send_cq, *recv_cq;
	void *srq;
	uint32_t handle, qp_num;
	int state, qp_type;
};

struct vb_qp_cap {
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data;
};

struct vb_qp_init_attr {
	void *qp_context;
	struct vb_cq *send_cq, *recv_cq;
	void *srq;
	struct vb_qp_cap cap;
	int qp_type, sq_sig_all;
};

struct vb_global_route {
	uint8_t dgid[16] __attribute__((aligned(8)));
	uint32_t flow_label;
	uint8_t sgid_index, hop_limit, traffic_class;
};

struct vb_ah_attr {
	struct vb_global_route grh;
	uint16_t dlid;
	uint8_t sl, src_path_bits, static_rate, is_global, port_num;
};

struct vb_qp_attr {
	int qp_state, cur_qp_state, path_mtu, path_mig_state;
	uint32_t qkey, rq_psn, sq_psn, dest_qp_num;
	unsigned qp_access_flags;
	struct vb_qp_cap cap;
	struct vb_ah_attr ah_attr, alt_ah_attr;
	uint16_t pkey_index, alt_pkey_index;
	uint8_t gap1[2], max_rd_atomic, max_dest_rd_atomic, min_rnr_timer, port_num, timeout, retry_cnt, rnr_retry, gap2[2];
	uint32_t rate_limit;
};

struct vb_sge {
	uint64_t addr;
	uint32_t length, lkey;
};

struct vb_send_wr {
	uint64_t wr_id;
	struct vb_send_wr *next;
	struct vb_sge *sg_list;
	int num_sge, opcode;
	unsigned send_flags;
	uint32_t imm_data; // in network byte order
	uint64_t remote_addr;
	uint32_t rkey;
	uint64_t gap1[2];
	uint32_t gap2;
	struct {
		void *gap1;
		uint32_t gap2;
		struct {
			void *gap1;
			uint64_t gap2[2];
			unsigned gap3;
		} gap3;
	} gap3;
};

struct vb_recv_wr {
	uint64_t wr_id;
	struct vb_recv_wr *next;
	struct vb_sge *sg_list;
	int num_sge;
};

struct vb_wc {
	uint64_t wr_id;
	int status, opcode;
	uint32_t vendor_err, byte_len;
	uint32_t imm_data; // in network byte order
	uint32_t qp_num, src_qp;
	unsigned wc_flags;
	uint16_t pkey_index, slid;
	uint8_t sl, dlid_path_bits;
};

struct vb_async_event {
	union {
		struct vb_cq *cq;
		struct vb_qp *qp;
		int port_num;
	} element;
	int event_type;
};

struct vb_gid_entry {
	uint8_t gid[16] __attribute__((aligned(8)));
	uint32_t gid_index, port_num, gid_type, ndev_ifindex;
};

enum { VB_QPT_RC = 2 };
enum { VB_QPS_INIT = 1, VB_QPS_RTR = 2, VB_QPS_RTS = 3, VB_QPS_ERR = 6 };
enum {
	VB_QP_STATE = 1 << 0,
	VB_QP_ACCESS_FLAGS = 1 << 3,
	VB_QP_PKEY_INDEX = 1 << 4,
	VB_QP_PORT = 1 << 5,
	VB_QP_AV = 1 << 7,
	VB_QP_PATH_MTU = 1 << 8,
	VB_QP_TIMEOUT = 1 << 9,
	VB_QP_RETRY_CNT = 1 << 10,
	VB_QP_RNR_RETRY = 1 << 11,
	VB_QP_RQ_PSN = 1 << 12,
	VB_QP_MAX_QP_RD_ATOMIC = 1 << 13,
	VB_QP_MIN_RNR_TIMER = 1 << 15,
	VB_QP_SQ_PSN = 1 << 16,
	VB_QP_MAX_DEST_RD_ATOMIC = 1 << 17,
	VB_QP_DEST_QPN = 1 << 20,
};
enum { VB_SEND_SIGNALED = 1 << 1, VB_SEND_INLINE = 1 << 3 };
enum { VB_WC_WITH_IMM = 1 << 1 };

#endif
