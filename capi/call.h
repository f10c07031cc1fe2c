/* What the C files and the Go files have in common. */
#ifndef CALL_H
#define CALL_H

#include "collgen.h"

/* A buffer of a call. */
struct collgen_buffer {
	uintptr_t data;
	int in_place; /* it lies in the other buffer */
	int blocks; /* a number, or COLLGEN_EACH */
	int on;     /* which ranks pass it */
	int uneven; /* counts says how long its blocks are */
	const int64_t *counts, *displs;
};

enum { COLLGEN_EACH = -1 };

enum { COLLGEN_ON_ALL, COLLGEN_ON_ROOT, COLLGEN_ON_OTHERS };

/* Where the two buffers are the same memory in place: all of both, or the block of a rank in the one that is named. */
enum {
	COLLGEN_NEVER, COLLGEN_DST_SAME, COLLGEN_DST_RANK, COLLGEN_DST_ROOT, COLLGEN_SRC_RANK, COLLGEN_SRC_ROOT
};

/* A call. */
struct collgen_call {
	const char *collective;
	int length; /* of its name */
	struct collgen_buffer dst, src;
	int64_t count;
	int same_counts; /* a buffer that is not uneven has the block of this rank */
	int type, op, root, to, from, in_place;
	int64_t received; /* elements that SendRecv receives */
};

/* A message. */
struct collgen_message {
	uintptr_t buf;
	int64_t count;
	int type, peer, tag, receives;
	collgen_status *status;
};

/* The error of a thread. Text, field and ranks are of malloc. */
struct collgen_failure {
	int kind;
	char *text, *field;
	int *ranks;
	size_t nranks;
};

/* collgen_make makes a call, or starts it. */
int collgen_make(collgen_comm comm, struct collgen_call *call, const collgen_options *options, collgen_work *work);

/* What Go calls. */
void collgen_do_notify(void *f, void *context, int kind);
void collgen_do_log(const collgen_settings *settings, int level, const char *text);
int collgen_do_set(const collgen_store *store, const char *key, const void *value, size_t n);
int collgen_do_get(const collgen_store *store, const char *key, void *value, size_t *n, int64_t timeout);
int collgen_do_remove(const collgen_store *store, const char *key);

#endif
