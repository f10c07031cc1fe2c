//go:build linux && cgo && !netgo

#define _GNU_SOURCE
#include "library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

struct vb_library vb;
ssize_t (*vb_query_gid_table)(struct vb_context *, struct vb_gid_entry *, size_t, uint32_t, size_t);

#ifdef __GLIBC__

// find is the function of the newest interface that the structures here are those of. IBVERBS_1.0, which every function
// of that interface has too, has other structures: only what came without a change of them is found under it.
static void *find(void *lib, const char *name) {
	void *f = dlvsym(lib, name, "IBVERBS_1.1");
	return f ? f : dlvsym(lib, name, "IBVERBS_1.0");
}

const char *vb_load(void) {
	static char missing[80];
	void *lib = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		return dlerror();
#define X(result, name, parameters)                                                      \
	if (!(vb.name = (result(*) parameters)find(lib, "ibv_" #name))) {                \
		snprintf(missing, sizeof missing, "libibverbs.so.1 has no ibv_" #name);  \
		return missing;                                                          \
	}
	VB_FUNCTIONS(X)
#undef X
	*(void **)&vb_query_gid_table = dlvsym(lib, "_ibv_query_gid_table", "IBVERBS_1.11");
	return NULL;
}

#else // other C libraries do not find a function by its version

const char *vb_load(void) { return "this program was not built with glibc"; }

#endif

int vb_post_sends(struct vb_qp *qp, struct vb_sends *s, int n) {
	struct vb_send_wr *bad = NULL;
	for (int i = 0; i < n; i++) {
		s->wr[i].sg_list = &s->sge[i];
		s->wr[i].next = i + 1 < n ? &s->wr[i + 1] : NULL;
	}
	int err = qp->context->ops.post_send(qp, s->wr, &bad);
	s->posted = err ? (bad ? bad - s->wr : 0) : n;
	return err;
}

int vb_post_receives(struct vb_qp *qp, struct vb_receives *r, int n) {
	struct vb_recv_wr *bad = NULL;
	for (int i = 0; i < n; i++) {
		r->wr[i].sg_list = &r->sge[i];
		r->wr[i].next = i + 1 < n ? &r->wr[i + 1] : NULL;
	}
	int err = qp->context->ops.post_recv(qp, r->wr, &bad);
	r->posted = err ? (bad ? bad - r->wr : 0) : n;
	return err;
}

int vb_poll(struct vb_cq *cq, struct vb_polled *into, int max, int spins) {
	for (;;) {
		int n = cq->context->ops.poll_cq(cq, max, into->wc);
		if (n || spins-- <= 0)
			return n;
#if defined(__x86_64__) || defined(__i386__)
		__builtin_ia32_pause();
#elif defined(__aarch64__)
		__asm__ volatile("yield");
#endif
	}
}

int vb_arm(struct vb_cq *cq) { return cq->context->ops.req_notify_cq(cq, 0); }

int vb_drain(struct vb_comp_channel *channel) {
	struct vb_cq *cq;
	void *context;
	int n = 0;
	for (; vb.get_cq_event(channel, &cq, &context) == 0; n++)
		vb.ack_cq_events(cq, 1);
	return n;
}

int vb_next_event(struct vb_context *context, int *type, int *port, uint32_t *qp, uint32_t *owner) {
	struct vb_async_event e;
	if (vb.get_async_event(context, &e) != 0)
		return errno ? errno : EIO;
	*type = e.event_type;
	switch (e.event_type) {
	case 0: // of a completion queue, which is not destroyed before this is acknowledged
		*owner = (uintptr_t)e.element.cq->cq_context;
		break;
	case 1: case 2: case 3: case 4: case 5: case 6: case 7: case 16: // of a queue pair
		*qp = e.element.qp->qp_num;
		break;
	case 9: case 10: case 11: case 12: case 13: case 17: case 18: // of a port
		*port = e.element.port_num;
	}
	vb.ack_async_event(&e);
	return 0;
}
