//go:build cgo && linux && (amd64 || arm64)

// The functions of collgen.h that are not generated. Go's runtime has one thread in a process that was forked off, and
// may hang there, so nothing of Go is called in it.

#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "_cgo_export.h"
#include "call.h"

static volatile int *mark; // 1, and 0 in a child: the system wipes its page there
static pthread_key_t failures;

static void forget(struct collgen_failure *f) {
	free(f->text);
	free(f->field);
	free(f->ranks);
	memset(f, 0, sizeof *f);
}

static void drop(void *f) {
	forget(f);
	free(f);
}

static void in_child(void) { *mark = 0; }

__attribute__((constructor)) static void prepare(void) {
	static int fallback;
	size_t page = sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mark = &fallback;
	if (memory != MAP_FAILED) {
		mark = memory;
		madvise(memory, page, MADV_WIPEONFORK);
	}
	*mark = 1;
	pthread_atfork(NULL, NULL, in_child); // for systems that cannot wipe
	pthread_key_create(&failures, drop);
}

// failure returns where this thread's error is. Without memory, all threads have one.
static struct collgen_failure *failure(void) {
	static struct collgen_failure common;
	struct collgen_failure *f = pthread_getspecific(failures);
	if (f == NULL) {
		f = calloc(1, sizeof *f);
		if (f == NULL || pthread_setspecific(failures, f) != 0) {
			free(f);
			f = &common;
		}
	}
	return f;
}

static int fail(int kind, const char *text) {
	struct collgen_failure *f = failure();
	forget(f);
	f->kind = kind;
	f->text = strdup(text);
	return kind;
}

// FORKED returns from a function in a child.
#define FORKED                                                                                                           \
	if (*mark == 0)                                                                                                      \
	return fail(COLLGEN_FORKED, "a process that was forked off from a rank's is no rank")

// NEED refuses a pointer that is NULL.
#define NEED(pointer)                                                                                                    \
	if ((pointer) == NULL)                                                                                               \
	return fail(COLLGEN_INVALID_ARGUMENT, #pointer " is NULL")

const collgen_error *collgen_last_error(void) {
	static _Thread_local collgen_error is;
	struct collgen_failure *f = failure();
	is = (collgen_error){f->kind, f->text ? f->text : "", f->field ? f->field : "", f->ranks, f->nranks};
	return &is;
}

const char *collgen_version(void) { return "collgen (unreleased)"; }

// resolve notes that a buffer is COLLGEN_IN_PLACE, which is no address.
static void resolve(struct collgen_buffer *b) {
	if (b->data == (uintptr_t)COLLGEN_IN_PLACE) {
		b->data = 0;
		b->in_place = 1;
	}
}

int collgen_make(collgen_comm comm, struct collgen_call *call, const collgen_options *options, collgen_work *work) {
	if (work != NULL)
		*work = 0;
	FORKED;
	resolve(&call->dst);
	resolve(&call->src);
	if (work != NULL)
		return goStart(comm, call, (collgen_options *)options, work, failure());
	return goDo(comm, call, (collgen_options *)options, failure());
}

int collgen_send(collgen_comm comm, const void *buf, int64_t count, collgen_type type, int to,
	const collgen_options *options, collgen_work *work) {
	struct collgen_call call = {.collective = "Send", .length = 4, .src = {.data = (uintptr_t)buf, .blocks = 1},
		.count = count, .type = type, .to = to};
	return collgen_make(comm, &call, options, work);
}

int collgen_recv(collgen_comm comm, void *buf, int64_t count, collgen_type type, int from,
	const collgen_options *options, collgen_work *work) {
	struct collgen_call call = {.collective = "Recv", .length = 4, .dst = {.data = (uintptr_t)buf, .blocks = 1}, .count = count,
		.type = type, .from = from};
	return collgen_make(comm, &call, options, work);
}

int collgen_sendrecv(collgen_comm comm, const void *out, int64_t out_count, int to, void *in, int64_t in_count, int from,
	collgen_type type, const collgen_options *options, collgen_work *work) {
	struct collgen_call call = {.collective = "SendRecv", .length = 8, .dst = {.data = (uintptr_t)in, .blocks = 1},
		.src = {.data = (uintptr_t)out, .blocks = 1}, .count = out_count, .received = in_count, .type = type, .to = to,
		.from = from, .in_place = COLLGEN_DST_SAME};
	return collgen_make(comm, &call, options, work);
}

// post sends or receives a message.
static int post(collgen_comm comm, struct collgen_message *message, const collgen_options *options, collgen_work *work) {
	if (work != NULL)
		*work = 0;
	FORKED;
	return goMessage(comm, message, (collgen_options *)options, work, failure());
}

int collgen_message_send(collgen_comm comm, const void *buf, int64_t count, collgen_type type, int to, int tag,
	const collgen_options *options, collgen_work *work) {
	struct collgen_message message = {.buf = (uintptr_t)buf, .count = count, .type = type, .peer = to, .tag = tag};
	return post(comm, &message, options, work);
}

int collgen_message_recv(collgen_comm comm, void *buf, int64_t count, collgen_type type, int from, int tag,
	collgen_status *status, const collgen_options *options, collgen_work *work) {
	struct collgen_message message = {.buf = (uintptr_t)buf, .count = count, .type = type, .peer = from, .tag = tag,
		.receives = 1, .status = status};
	return post(comm, &message, options, work);
}

int collgen_cancel(collgen_work work, int *canceled) {
	FORKED;
	NEED(canceled);
	return goCancel(work, canceled, failure());
}

int collgen_init(const collgen_settings *settings, int64_t timeout, collgen_comm *comm) {
	FORKED;
	NEED(comm);
	*comm = 0;
	return goInit((collgen_settings *)settings, (char **)environ, NULL, timeout, comm, failure());
}

int collgen_join(const collgen_settings *settings, const char *ticket, int64_t timeout, collgen_comm *comm) {
	FORKED;
	NEED(ticket);
	NEED(comm);
	*comm = 0;
	return goInit((collgen_settings *)settings, (char **)environ, (char *)ticket, timeout, comm, failure());
}

int collgen_close(collgen_comm comm) {
	FORKED;
	return goClose(comm, failure());
}

int collgen_abort(collgen_comm comm) {
	FORKED;
	return goAbort(comm, failure());
}

int collgen_rank(collgen_comm comm, int *rank) {
	int size;
	FORKED;
	NEED(rank);
	return goRank(comm, rank, &size, failure());
}

int collgen_size(collgen_comm comm, int *size) {
	int rank;
	FORKED;
	NEED(size);
	return goRank(comm, &rank, size, failure());
}

// HAS_ROOM refuses a buffer for text that is NULL and not of 0 bytes.
#define HAS_ROOM                                                                                                         \
	if (n > 0)                                                                                                           \
	NEED(text)

int collgen_topology(collgen_comm comm, char *text, size_t n, size_t *length) {
	FORKED;
	HAS_ROOM;
	return goTopology(comm, text, n, length, failure());
}

int collgen_explain(collgen_comm comm, const char *collective, int64_t bytes, collgen_op op, char *text, size_t n,
	size_t *length) {
	FORKED;
	NEED(collective);
	HAS_ROOM;
	return goExplain(comm, (char *)collective, bytes, op, text, n, length, failure());
}

int collgen_trace(collgen_comm comm, char *text, size_t n, size_t *length) {
	FORKED;
	HAS_ROOM;
	return goTrace(comm, text, n, length, failure());
}

int collgen_invite(collgen_comm comm, int64_t timeout, char *text, size_t n, size_t *length) {
	FORKED;
	HAS_ROOM;
	return goInvite(comm, timeout, text, n, length, failure());
}

int collgen_split(collgen_comm comm, int color, int key, int64_t timeout, collgen_comm *made) {
	FORKED;
	NEED(made);
	*made = 0;
	return goSplit(comm, color, key, timeout, made, failure());
}

int collgen_group(collgen_comm comm, const int *ranks, size_t n, int64_t timeout, collgen_comm *made) {
	FORKED;
	NEED(ranks);
	NEED(made);
	*made = 0;
	return goGroup(comm, (int *)ranks, n, timeout, made, failure());
}

int collgen_shrink(collgen_comm comm, int64_t timeout, collgen_comm *made) {
	FORKED;
	NEED(made);
	*made = 0;
	return goShrink(comm, timeout, made, failure());
}

int collgen_grow(collgen_comm comm, int64_t timeout, collgen_comm *made) {
	FORKED;
	NEED(made);
	*made = 0;
	return goGrow(comm, timeout, made, failure());
}

int collgen_revoke(collgen_comm comm) {
	FORKED;
	return goRevoke(comm, failure());
}

int collgen_agree(collgen_comm comm, uint64_t flags, int64_t timeout, uint64_t *agreed) {
	FORKED;
	NEED(agreed);
	*agreed = 0;
	return goAgree(comm, flags, timeout, agreed, failure());
}

int collgen_monitored_barrier(collgen_comm comm, int64_t timeout) {
	FORKED;
	return goMonitoredBarrier(comm, timeout, failure());
}

int collgen_health(collgen_comm comm, int64_t timeout, char *text, size_t n, size_t *length) {
	FORKED;
	HAS_ROOM;
	return goHealth(comm, timeout, text, n, length, failure());
}

int collgen_alloc(collgen_comm comm, int64_t bytes, int64_t timeout, void **memory) {
	FORKED;
	NEED(memory);
	*memory = NULL;
	return goAlloc(comm, bytes, timeout, memory, failure());
}

int collgen_free(collgen_comm comm, void *memory) {
	FORKED;
	NEED(memory);
	return goFree(comm, memory, failure());
}

int collgen_wait(collgen_work work, int64_t timeout) {
	FORKED;
	return goWait(work, timeout, failure());
}

int collgen_test(collgen_work work) {
	FORKED;
	return goWait(work, 0, failure());
}

int collgen_peek(collgen_work work, int *over) {
	FORKED;
	NEED(over);
	return goPeek(work, over, failure());
}

int collgen_notify(collgen_work work, void (*f)(void *context, int kind), void *context) {
	FORKED;
	NEED(f);
	return goNotify(work, (void *)f, context, failure());
}

void collgen_do_notify(void *f, void *context, int kind) {
	((void (*)(void *context, int kind))f)(context, kind);
}

int collgen_wait_any(const collgen_work *works, size_t n, int64_t timeout, size_t *index) {
	FORKED;
	NEED(index);
	*index = n;
	if (n > 0)
		NEED(works);
	return goWaitAny((collgen_work *)works, n, timeout, index, failure());
}

int collgen_batch_begin(collgen_comm comm) {
	FORKED;
	return goBatch(comm, 1, failure());
}

int collgen_batch_end(collgen_comm comm) {
	FORKED;
	return goBatch(comm, 0, failure());
}

void collgen_do_log(const collgen_settings *settings, int level, const char *text) {
	settings->log(settings->log_context, level, text);
}

int collgen_do_set(const collgen_store *store, const char *key, const void *value, size_t n) {
	return store->set(store->context, key, value, n);
}

int collgen_do_get(const collgen_store *store, const char *key, void *value, size_t *n, int64_t timeout) {
	return store->get(store->context, key, value, n, timeout);
}

int collgen_do_remove(const collgen_store *store, const char *key) { return store->remove(store->context, key); }
