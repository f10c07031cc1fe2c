// The functions of libibverbs, once vb_load has found them, and loops around those that have to be fast.
#ifndef COLLGEN_VERBS_LIBRARY_H
#define COLLGEN_VERBS_LIBRARY_H

#include "declarations.h"

#include <sys/types.h>

// The functions of the library that are called through it; X(result, name, parameters).
#define VB_FUNCTIONS(X)                                                             \
	X(struct vb_device **, get_device_list, (int *))                            \
	X(void, free_device_list, (struct vb_device **))                            \
	X(const char *, get_device_name, (struct vb_device *))                      \
	X(struct vb_context *, open_device, (struct vb_device *))                   \
	X(int, close_device, (struct vb_context *))                                 \
	X(int, query_device, (struct vb_context *, struct vb_device_attr *))        \
	X(int, query_port, (struct vb_context *, uint8_t, struct vb_port_attr *))   \
	X(int, get_async_event, (struct vb_context *, struct vb_async_event *))     \
	X(void, ack_async_event, (struct vb_async_event *))                         \
	X(struct vb_pd *, alloc_pd, (struct vb_context *))                          \
	X(int, dealloc_pd, (struct vb_pd *))                                        \
	X(struct vb_mr *, reg_mr, (struct vb_pd *, void *, size_t, int))            \
	X(int, dereg_mr, (struct vb_mr *))                                          \
	X(struct vb_comp_channel *, create_comp_channel, (struct vb_context *))     \
	X(int, destroy_comp_channel, (struct vb_comp_channel *))                    \
	X(int, get_cq_event, (struct vb_comp_channel *, struct vb_cq **, void **))  \
	X(void, ack_cq_events, (struct vb_cq *, unsigned))                          \
	X(struct vb_cq *, create_cq, (struct vb_context *, int, void *, struct vb_comp_channel *, int)) \
	X(int, destroy_cq, (struct vb_cq *))                                        \
	X(struct vb_qp *, create_qp, (struct vb_pd *, struct vb_qp_init_attr *))    \
	X(int, modify_qp, (struct vb_qp *, struct vb_qp_attr *, int))               \
	X(int, destroy_qp, (struct vb_qp *))

// vb_query_gid_table has the entries of all ports of a device in the order of their index; less than 0 is an error. Libraries
// before the year 2020 do not have it: then it is NULL.
extern ssize_t (*vb_query_gid_table)(struct vb_context *, struct vb_gid_entry *, size_t n, uint32_t flags, size_t size);

struct vb_library {
#define X(result, name, parameters) result(*name) parameters;
	VB_FUNCTIONS(X)
#undef X
};

extern struct vb_library vb;

// vb_load loads the library, and says why it cannot; NULL if it could.
const char *vb_load(void);

// A batch is what one call posts or polls at most.
enum { VB_BATCH = 32 };

struct vb_sends {
	struct vb_send_wr wr[VB_BATCH];
	struct vb_sge sge[VB_BATCH];
	int posted; // how many of the last batch
};

struct vb_receives {
	struct vb_recv_wr wr[VB_BATCH];
	struct vb_sge sge[VB_BATCH];
	int posted;
};

struct vb_polled {
	struct vb_wc wc[VB_BATCH];
};

// What posts answers with errno or 0.
int vb_post_sends(struct vb_qp *, struct vb_sends *, int n);
int vb_post_receives(struct vb_qp *, struct vb_receives *, int n);

// vb_poll looks up to 1+spins times, until there is something, and answers how many there are, or less than 0.
int vb_poll(struct vb_cq *, struct vb_polled *, int max, int spins);

int vb_arm(struct vb_cq *);

// vb_drain takes all events of a channel that does not block, acknowledges them, and answers how many there were.
int vb_drain(struct vb_comp_channel *);

// vb_next_event takes an event of a context that does not block, and acknowledges it. If it is about a completion queue, owner is
// the number that it was made with. It answers errno or 0.
int vb_next_event(struct vb_context *, int *type, int *port, uint32_t *qp, uint32_t *owner);

#endif
