// A libibverbs without devices of the kernel's: one device, whose queues complete at once what is posted. It is for what needs no
// network: that the library is found by its versioned symbols, and what the binding costs.
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#undef ibv_reg_mr
#undef ibv_query_port

static struct ibv_device device = { .name = "fake0" };
static struct ibv_wc done[1024];
static unsigned first, last;

static int poll_cq(struct ibv_cq *q, int n, struct ibv_wc *into) {
	int i = 0;
	for (; i < n && first != last; i++)
		into[i] = done[first++ % 1024];
	return i;
}

static int req_notify_cq(struct ibv_cq *q, int solicited) { return 0; }

static int post_send(struct ibv_qp *q, struct ibv_send_wr *wr, struct ibv_send_wr **bad) {
	for (; wr; wr = wr->next) {
		*bad = wr;
		if (last - first == 1000)
			return ENOMEM;
		done[last++ % 1024] = (struct ibv_wc){ .wr_id = wr->wr_id, .opcode = IBV_WC_RECV_RDMA_WITH_IMM, .byte_len = wr->num_sge ? wr->sg_list->length : 0,
			.imm_data = wr->imm_data, .wc_flags = IBV_WC_WITH_IMM, .qp_num = q->qp_num };
	}
	return 0;
}

static int post_recv(struct ibv_qp *q, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) { return 0; }

struct ibv_device **ibv_get_device_list(int *n) {
	static struct ibv_device *list[2] = { &device, NULL };
	*n = 1;
#ifdef UNSAID
	errno = 0;
	return NULL;
#endif
	return list;
}
void ibv_free_device_list(struct ibv_device **list) {}
const char *ibv_get_device_name(struct ibv_device *d) { return d->name; }
struct ibv_context *ibv_open_device(struct ibv_device *d) {
	int p[2];
	struct ibv_context *c = calloc(1, sizeof *c);
	c->device = d;
	c->ops.poll_cq = poll_cq;
	c->ops.req_notify_cq = req_notify_cq;
	c->ops.post_send = post_send;
	c->ops.post_recv = post_recv;
	if (pipe2(p, O_CLOEXEC))
		return NULL;
	c->async_fd = p[0];
	c->cmd_fd = p[1];
	return c;
}
int ibv_close_device(struct ibv_context *c) { close(c->async_fd), close(c->cmd_fd), free(c); return 0; }
int ibv_query_device(struct ibv_context *c, struct ibv_device_attr *a) { memset(a, 0, sizeof *a), a->phys_port_cnt = 1; return 0; }
int ibv_query_port(struct ibv_context *c, uint8_t port, struct _compat_ibv_port_attr *a) { return port == 1 ? 0 : EINVAL; }
int ibv_get_async_event(struct ibv_context *c, struct ibv_async_event *e) { errno = EAGAIN; return -1; }
void ibv_ack_async_event(struct ibv_async_event *e) {}
struct ibv_pd *ibv_alloc_pd(struct ibv_context *c) { struct ibv_pd *p = calloc(1, sizeof *p); p->context = c; return p; }
int ibv_dealloc_pd(struct ibv_pd *p) { free(p); return 0; }
struct ibv_mr *ibv_reg_mr(struct ibv_pd *p, void *at, size_t n, int access) { return calloc(1, sizeof(struct ibv_mr)); }
int ibv_dereg_mr(struct ibv_mr *m) { free(m); return 0; }
struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *c) { errno = ENOSYS; return NULL; }
int ibv_destroy_comp_channel(struct ibv_comp_channel *c) { return 0; }
int ibv_get_cq_event(struct ibv_comp_channel *c, struct ibv_cq **q, void **p) { return -1; }
void ibv_ack_cq_events(struct ibv_cq *q, unsigned n) {}
struct ibv_cq *ibv_create_cq(struct ibv_context *c, int n, void *p, struct ibv_comp_channel *ch, int v) {
	struct ibv_cq *q = calloc(1, sizeof *q);
	q->context = c, q->cqe = n;
	return q;
}
int ibv_destroy_cq(struct ibv_cq *q) { free(q); return 0; }
struct ibv_qp *ibv_create_qp(struct ibv_pd *p, struct ibv_qp_init_attr *a) {
	struct ibv_qp *q = calloc(1, sizeof *q);
	q->context = p->context, q->qp_num = 17;
	return q;
}
int ibv_modify_qp(struct ibv_qp *q, struct ibv_qp_attr *a, int mask) { return 0; }
#ifndef INCOMPLETE
int ibv_destroy_qp(struct ibv_qp *q) { free(q); return 0; }
#endif
