// A libibverbs whose devices are the folders in that of COLLGEN_FAKE_VERBS: see the package beside.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#undef ibv_reg_mr
#undef ibv_query_port

// said is what a file of a device says, in one buffer of the thread's; nothing if there is none.
static const char *said(struct ibv_device *d, const char *name) {
	static __thread char text[64];
	char path[1024];
	snprintf(path, sizeof path, "%s/%s/%s", getenv("COLLGEN_FAKE_VERBS"), d->name, name);
	int f = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = f < 0 ? 0 : read(f, text, sizeof text - 1);
	if (f >= 0)
		close(f);
	text[n > 0 ? n : 0] = 0;
	return text;
}

// held holds the first call of a function that is to be held, until its file is gone, and no other call.
static void held(struct ibv_device *d, const char *name) {
	char from[1024], to[1030];
	snprintf(from, sizeof from, "%s/%s/%s.hold", getenv("COLLGEN_FAKE_VERBS"), d->name, name);
	snprintf(to, sizeof to, "%s.held", from);
	if (!rename(from, to))
		while (!access(to, F_OK))
			usleep(1000);
}

// trouble is what a function of this name has: it hangs, and then or at once fails with an error, or not.
static int trouble(struct ibv_device *d, const char *name) {
	const char *text;
	held(d, name);
	while (text = said(d, name), !strncmp(text, "hang", 4))
		usleep(1000);
	return errno = atoi(text);
}

// lock protects queues and pairs, which write to each other.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct queue {
	struct ibv_cq q;
	struct ibv_wc done[1024];
	unsigned first, last;
} *queue(struct ibv_cq *q) { return (struct queue *)q; }

static struct pair {
	struct ibv_qp q;
	uint32_t peer; // 0: it is not connected
	struct ibv_qp_attr is;
	uint64_t receives[1024];
	unsigned first, last;
	struct pair *next;
} *pairs; // all that there are

static struct pair *pair(struct ibv_qp *q) { return (struct pair *)q; }

static struct ibv_cq *made[256]; // all queues since the beginning, as far as they are counted: the last ones

static int poll_cq(struct ibv_cq *q, int n, struct ibv_wc *into) {
	struct queue *k = queue(q);
	int i = 0;
	pthread_mutex_lock(&lock);
	for (; i < n && k->first != k->last; i++)
		into[i] = k->done[k->first++ % 1024];
	pthread_mutex_unlock(&lock);
	return i;
}

static int req_notify_cq(struct ibv_cq *q, int solicited) { return 0; }

static void complete(struct ibv_cq *q, struct ibv_wc c) { queue(q)->done[queue(q)->last++ % 1024] = c; }

// carry_out is what a connected pair does with a write. A peer that is no more does not answer.
static void carry_out(struct pair *p, struct ibv_send_wr *wr) {
	const char *text = said(p->q.context->device, "status");
	uint32_t bytes = wr->num_sge ? wr->sg_list->length : 0;
	struct pair *to = pairs;
	while (to && to->q.qp_num != p->peer)
		to = to->next;
	if (!strncmp(text, "lost", 4))
		return;
	if (*text || !to) {
		complete(p->q.send_cq, (struct ibv_wc){ .wr_id = wr->wr_id, .status = *text ? atoi(text) : IBV_WC_RETRY_EXC_ERR, .qp_num = p->q.qp_num });
		return;
	}
	if (bytes)
		memcpy((void *)wr->wr.rdma.remote_addr, (void *)wr->sg_list->addr, bytes);
	if (wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		complete(to->q.recv_cq, (struct ibv_wc){ .wr_id = to->receives[to->first++ % 1024], .opcode = IBV_WC_RECV_RDMA_WITH_IMM,
			.byte_len = bytes, .imm_data = wr->imm_data, .wc_flags = IBV_WC_WITH_IMM, .qp_num = to->q.qp_num });
	if (wr->send_flags & IBV_SEND_SIGNALED)
		complete(p->q.send_cq, (struct ibv_wc){ .wr_id = wr->wr_id, .opcode = IBV_WC_RDMA_WRITE, .qp_num = p->q.qp_num });
}

// reflect is what one does that is not connected, for tests of what posting costs and of full queues.
static int reflect(struct pair *p, struct ibv_send_wr *wr) {
	struct queue *k = queue(p->q.send_cq);
	if (k->last - k->first == 1000)
		return ENOMEM;
	complete(p->q.send_cq, (struct ibv_wc){ .wr_id = wr->wr_id, .opcode = IBV_WC_RECV_RDMA_WITH_IMM,
		.byte_len = wr->num_sge ? wr->sg_list->length : 0, .imm_data = wr->imm_data, .wc_flags = IBV_WC_WITH_IMM, .qp_num = p->q.qp_num });
	return 0;
}

static int post_send(struct ibv_qp *q, struct ibv_send_wr *wr, struct ibv_send_wr **bad) {
	int err = 0;
	pthread_mutex_lock(&lock);
	for (; wr && !err; wr = wr->next) {
		*bad = wr;
		if (pair(q)->peer)
			carry_out(pair(q), wr);
		else
			err = reflect(pair(q), wr);
	}
	pthread_mutex_unlock(&lock);
	return err;
}

static int post_recv(struct ibv_qp *q, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
	pthread_mutex_lock(&lock);
	for (; wr; wr = wr->next)
		pair(q)->receives[pair(q)->last++ % 1024] = wr->wr_id;
	pthread_mutex_unlock(&lock);
	return 0;
}

struct ibv_device **ibv_get_device_list(int *n) {
	struct dirent **names;
	int found = scandir(getenv("COLLGEN_FAKE_VERBS"), &names, NULL, alphasort);
#ifdef UNSAID
	errno = 0;
	return NULL;
#endif
	struct ibv_device **list = calloc(found + 1, sizeof *list);
	*n = 0;
	for (int i = 0; i < found; i++) {
		if (names[i]->d_name[0] != '.') {
			struct ibv_device *d = list[(*n)++] = calloc(1, sizeof *d); // for ever: contexts have it
			snprintf(d->name, sizeof d->name, "%s", names[i]->d_name);
			d->node_type = atoi(said(d, "node_type"));
		}
		free(names[i]);
	}
	free(names);
	return list;
}
void ibv_free_device_list(struct ibv_device **list) { free(list); }
const char *ibv_get_device_name(struct ibv_device *d) { return d->name; }

struct ibv_context *ibv_open_device(struct ibv_device *d) {
	if (trouble(d, "open"))
		return NULL;
	char path[1024];
	struct ibv_context *c = calloc(1, sizeof *c);
	c->device = d;
	c->ops.poll_cq = poll_cq;
	c->ops.req_notify_cq = req_notify_cq;
	c->ops.post_send = post_send;
	c->ops.post_recv = post_recv;
	snprintf(path, sizeof path, "%s/%s/events", getenv("COLLGEN_FAKE_VERBS"), d->name);
	c->async_fd = open(path, O_RDWR | O_CLOEXEC);
	c->cmd_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return c;
}
int ibv_close_device(struct ibv_context *c) { close(c->async_fd), close(c->cmd_fd), free(c); return 0; }

int ibv_query_device(struct ibv_context *c, struct ibv_device_attr *a) {
	memset(a, 0, sizeof *a);
	a->phys_port_cnt = *said(c->device, "ports/2/state") ? 2 : 1;
	a->max_cqe = *said(c->device, "max_cqe") ? atoi(said(c->device, "max_cqe")) : 1 << 20;
	return 0;
}
int ibv_query_port(struct ibv_context *c, uint8_t port, struct _compat_ibv_port_attr *compat) {
	struct ibv_port_attr *a = (struct ibv_port_attr *)compat;
	char name[32];
	snprintf(name, sizeof name, "ports/%d/state", port);
	if (!*said(c->device, name))
		return EINVAL;
	*a = (struct ibv_port_attr){ .state = atoi(said(c->device, name)), .active_mtu = IBV_MTU_4096, .max_msg_sz = 1 << 30,
		.link_layer = IBV_LINK_LAYER_ETHERNET, .gid_tbl_len = 1 };
	return trouble(c->device, "query_port");
}

int ibv_get_async_event(struct ibv_context *c, struct ibv_async_event *e) {
	unsigned char said[2];
	if (read(c->async_fd, said, 2) != 2)
		return -1;
	*e = (struct ibv_async_event){ .event_type = said[0], .element.port_num = said[1] };
	if (said[0] == IBV_EVENT_CQ_ERR)
		e->element.cq = made[said[1]];
	return 0;
}
void ibv_ack_async_event(struct ibv_async_event *e) {}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *c) { struct ibv_pd *p = calloc(1, sizeof *p); p->context = c; return p; }
int ibv_dealloc_pd(struct ibv_pd *p) { free(p); return 0; }
struct ibv_mr *ibv_reg_mr(struct ibv_pd *p, void *at, size_t n, int access) {
	if (trouble(p->context->device, "reg_mr"))
		return NULL;
	struct ibv_mr *m = calloc(1, sizeof *m);
	m->context = p->context;
	return m;
}
int ibv_dereg_mr(struct ibv_mr *m) { trouble(m->context->device, "dereg_mr"), free(m); return 0; }

// A channel has a pipe, of which nobody writes the other end.
struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *c) {
	int p[2];
	struct ibv_comp_channel *ch = calloc(1, sizeof *ch);
	if (pipe2(p, O_CLOEXEC))
		return NULL;
	ch->fd = p[0], ch->refcnt = p[1];
	return ch;
}
int ibv_destroy_comp_channel(struct ibv_comp_channel *c) { close(c->fd), close(c->refcnt), free(c); return 0; }
int ibv_get_cq_event(struct ibv_comp_channel *c, struct ibv_cq **q, void **p) { return -1; }
void ibv_ack_cq_events(struct ibv_cq *q, unsigned n) {}

struct ibv_cq *ibv_create_cq(struct ibv_context *c, int n, void *p, struct ibv_comp_channel *ch, int v) {
	if (trouble(c->device, "create_cq"))
		return NULL;
	static unsigned char number;
	struct queue *k = calloc(1, sizeof *k);
	k->q.context = c, k->q.cqe = n, k->q.cq_context = p;
	pthread_mutex_lock(&lock);
	made[number++] = &k->q;
	pthread_mutex_unlock(&lock);
	return &k->q;
}
int ibv_destroy_cq(struct ibv_cq *q) { free(queue(q)); return 0; }

struct ibv_qp *ibv_create_qp(struct ibv_pd *p, struct ibv_qp_init_attr *a) {
	if (trouble(p->context->device, "create_qp"))
		return NULL;
	static uint32_t last = 16;
	struct pair *q = calloc(1, sizeof *q);
	q->q.context = p->context, q->q.send_cq = a->send_cq, q->q.recv_cq = a->recv_cq;
	pthread_mutex_lock(&lock);
	q->q.qp_num = ++last, q->next = pairs, pairs = q;
	pthread_mutex_unlock(&lock);
	return &q->q;
}

// tell_connected writes what a pair was given to a file of the device, when it has all of it.
static void tell_connected(struct pair *p, struct ibv_qp_attr *a, int mask) {
	struct ibv_ah_attr *h = &p->is.ah_attr;
	char path[1024];
	if (mask & IBV_QP_PKEY_INDEX)
		p->is.pkey_index = a->pkey_index;
	if (mask & IBV_QP_AV)
		p->is.ah_attr = a->ah_attr, p->is.path_mtu = a->path_mtu;
	if (!(mask & IBV_QP_TIMEOUT))
		return;
	snprintf(path, sizeof path, "%s/%s/connected", getenv("COLLGEN_FAKE_VERBS"), p->q.context->device->name);
	int f = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC); // it is not made again if the device is being removed
	if (f < 0)
		return;
	dprintf(f, "mtu %d, gid %d, tc %d, sl %d, pkey %d, retry %d, timeout %d\n", p->is.path_mtu, h->grh.sgid_index, h->grh.traffic_class,
		h->sl, p->is.pkey_index, mask & IBV_QP_RETRY_CNT ? a->retry_cnt : -1, a->timeout);
	close(f);
}

int ibv_modify_qp(struct ibv_qp *q, struct ibv_qp_attr *a, int mask) {
	int err = trouble(q->context->device, "modify_qp");
	if (!err && mask & IBV_QP_DEST_QPN) {
		held(q->context->device, "connect");
		pthread_mutex_lock(&lock);
		pair(q)->peer = a->dest_qp_num;
		pthread_mutex_unlock(&lock);
	}
	tell_connected(pair(q), a, mask);
	return err;
}
#ifndef INCOMPLETE
int ibv_destroy_qp(struct ibv_qp *q) {
	trouble(q->context->device, "destroy_qp");
	pthread_mutex_lock(&lock);
	struct pair **at = &pairs;
	while (*at != pair(q))
		at = &(*at)->next;
	*at = (*at)->next;
	pthread_mutex_unlock(&lock);
	free(pair(q));
	return 0;
}
#endif
