//go:build cgo && linux && (amd64 || arm64)

// The functions of collgen.h that are not generated. Go's runtime has one thread in a process that was forked off, and
// may hang there, so nothing of Go is called in it.

#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

// Go's runtime has a thread that looks after the others every 20 µs while any of them is in a call, and so takes
// processor time from a program that computes. Nothing waits for that thread, so the system may wake it later. It has
// its timer slack from the thread that loads the library: a constructor of Go's starts it between the two here.
static int slack; // in nanoseconds, of the thread that loads the library

__attribute__((constructor(101))) static void slacken(void) {
	slack = prctl(PR_GET_TIMERSLACK);
	if (slack > 0)
		prctl(PR_SET_TIMERSLACK, 250000ul);
}

static void restore_slack(void) {
	if (slack > 0)
		prctl(PR_SET_TIMERSLACK, (unsigned long)slack);
}

__attribute__((constructor)) static void prepare(void) {
	static int fallback;
	restore_slack();
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

static _Thread_local int in_function, in_callback; // this thread is

static int leave(int kind) {
	in_function = 0;
	return kind;
}

// ENTER returns from a function in a child, and in the handler of a signal that came in another function. There, memory
// of malloc is not to be had.
#define ENTER                                                                                                            \
	if (in_function)                                                                                                     \
		return COLLGEN_CONCURRENT_USE;                                                                                   \
	if (*mark == 0)                                                                                                      \
	return fail(COLLGEN_FORKED, "a process that was forked off from a rank's is no rank")

// WAITS returns from a function in a callback, which may be what it would wait for.
#define WAITS                                                                                                            \
	if (in_callback)                                                                                                     \
	return fail(COLLGEN_CONCURRENT_USE, "a callback calls a function that may wait")

// CALL returns what a function of Go does.
#define CALL(call)                                                                                                       \
	do {                                                                                                                 \
		in_function = 1;                                                                                                 \
		return leave(call);                                                                                              \
	} while (0)

// CALLBACK has a function of the program called.
#define CALLBACK(call)                                                                                                   \
	do {                                                                                                                 \
		int was = in_function;                                                                                           \
		in_function = 0;                                                                                                 \
		in_callback++;                                                                                                   \
		call;                                                                                                            \
		in_callback--;                                                                                                   \
		in_function = was;                                                                                               \
	} while (0)

// NEED refuses a pointer that is NULL.
#define NEED(pointer)                                                                                                    \
	if ((pointer) == NULL)                                                                                               \
	return fail(COLLGEN_INVALID_ARGUMENT, "invalid argument: " #pointer " is NULL")

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
	ENTER;
	resolve(&call->dst);
	resolve(&call->src);
	if (work != NULL)
		CALL(goStart(comm, call, (collgen_options *)options, work, failure()));
	WAITS;
	CALL(goDo(comm, call, (collgen_options *)options, failure()));
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
	ENTER;
	if (work == NULL)
		WAITS;
	CALL(goMessage(comm, message, (collgen_options *)options, work, failure()));
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
	ENTER;
	NEED(canceled);
	CALL(goCancel(work, canceled, failure()));
}

int collgen_init(const collgen_settings *settings, int64_t timeout, collgen_comm *comm) {
	ENTER;
	WAITS;
	NEED(comm);
	*comm = 0;
	CALL(goInit((collgen_settings *)settings, (char **)environ, NULL, timeout, comm, failure()));
}

int collgen_join(const collgen_settings *settings, const char *ticket, int64_t timeout, collgen_comm *comm) {
	ENTER;
	WAITS;
	NEED(ticket);
	NEED(comm);
	*comm = 0;
	CALL(goInit((collgen_settings *)settings, (char **)environ, (char *)ticket, timeout, comm, failure()));
}

int collgen_close(collgen_comm comm) {
	ENTER;
	WAITS;
	CALL(goClose(comm, failure()));
}

int collgen_abort(collgen_comm comm) {
	ENTER;
	CALL(goAbort(comm, failure()));
}

int collgen_rank(collgen_comm comm, int *rank) {
	int size;
	ENTER;
	NEED(rank);
	CALL(goRank(comm, rank, &size, failure()));
}

int collgen_size(collgen_comm comm, int *size) {
	int rank;
	ENTER;
	NEED(size);
	CALL(goRank(comm, &rank, size, failure()));
}

// HAS_ROOM refuses a buffer for text that is NULL and not of 0 bytes.
#define HAS_ROOM                                                                                                         \
	if (n > 0)                                                                                                           \
	NEED(text)

int collgen_topology(collgen_comm comm, char *text, size_t n, size_t *length) {
	ENTER;
	HAS_ROOM;
	CALL(goTopology(comm, text, n, length, failure()));
}

int collgen_explain(collgen_comm comm, const char *collective, int64_t bytes, collgen_op op, char *text, size_t n,
	size_t *length) {
	ENTER;
	NEED(collective);
	HAS_ROOM;
	CALL(goExplain(comm, (char *)collective, bytes, op, text, n, length, failure()));
}

int collgen_trace(collgen_comm comm, char *text, size_t n, size_t *length) {
	ENTER;
	HAS_ROOM;
	CALL(goTrace(comm, text, n, length, failure()));
}

int collgen_invite(collgen_comm comm, int64_t timeout, char *text, size_t n, size_t *length) {
	ENTER;
	WAITS;
	HAS_ROOM;
	CALL(goInvite(comm, timeout, text, n, length, failure()));
}

int collgen_split(collgen_comm comm, int color, int key, int64_t timeout, collgen_comm *made) {
	ENTER;
	WAITS;
	NEED(made);
	*made = 0;
	CALL(goSplit(comm, color, key, timeout, made, failure()));
}

int collgen_group(collgen_comm comm, const int *ranks, size_t n, int64_t timeout, collgen_comm *made) {
	ENTER;
	WAITS;
	NEED(ranks);
	NEED(made);
	*made = 0;
	CALL(goGroup(comm, (int *)ranks, n, timeout, made, failure()));
}

int collgen_shrink(collgen_comm comm, int64_t timeout, collgen_comm *made) {
	ENTER;
	WAITS;
	NEED(made);
	*made = 0;
	CALL(goShrink(comm, timeout, made, failure()));
}

int collgen_grow(collgen_comm comm, int64_t timeout, collgen_comm *made) {
	ENTER;
	WAITS;
	NEED(made);
	*made = 0;
	CALL(goGrow(comm, timeout, made, failure()));
}

int collgen_revoke(collgen_comm comm) {
	ENTER;
	CALL(goRevoke(comm, failure()));
}

int collgen_agree(collgen_comm comm, uint64_t flags, int64_t timeout, uint64_t *agreed) {
	ENTER;
	WAITS;
	NEED(agreed);
	*agreed = 0;
	CALL(goAgree(comm, flags, timeout, agreed, failure()));
}

int collgen_monitored_barrier(collgen_comm comm, int64_t timeout) {
	ENTER;
	WAITS;
	CALL(goMonitoredBarrier(comm, timeout, failure()));
}

int collgen_health(collgen_comm comm, int64_t timeout, char *text, size_t n, size_t *length) {
	ENTER;
	WAITS;
	HAS_ROOM;
	CALL(goHealth(comm, timeout, text, n, length, failure()));
}

int collgen_alloc(collgen_comm comm, int64_t bytes, int64_t timeout, void **memory) {
	ENTER;
	WAITS;
	NEED(memory);
	*memory = NULL;
	CALL(goAlloc(comm, bytes, timeout, memory, failure()));
}

int collgen_free(collgen_comm comm, void *memory) {
	ENTER;
	WAITS;
	NEED(memory);
	CALL(goFree(comm, memory, failure()));
}

int collgen_wait(collgen_work work, int64_t timeout) {
	ENTER;
	if (in_callback) { // where it must not wait for what is not over
		in_function = 1;
		int kind = leave(goWait(work, 0, failure()));
		if (kind == COLLGEN_NOT_OVER && timeout != 0)
			WAITS;
		return kind;
	}
	CALL(goWait(work, timeout, failure()));
}

int collgen_test(collgen_work work) {
	ENTER;
	CALL(goWait(work, 0, failure()));
}

int collgen_peek(collgen_work work, int *over) {
	ENTER;
	NEED(over);
	CALL(goPeek(work, over, failure()));
}

int collgen_notify(collgen_work work, void (*f)(void *context, int kind), void *context) {
	ENTER;
	NEED(f);
	CALL(goNotify(work, (void *)f, context, failure()));
}

void collgen_do_notify(void *f, void *context, int kind) {
	CALLBACK(((void (*)(void *context, int kind))f)(context, kind));
}

int collgen_wait_any(const collgen_work *works, size_t n, int64_t timeout, size_t *index) {
	ENTER;
	WAITS;
	NEED(index);
	*index = n;
	if (n > 0)
		NEED(works);
	CALL(goWaitAny((collgen_work *)works, n, timeout, index, failure()));
}

int collgen_batch_begin(collgen_comm comm) {
	ENTER;
	WAITS;
	CALL(goBatch(comm, 1, failure()));
}

int collgen_batch_end(collgen_comm comm) {
	ENTER;
	WAITS;
	CALL(goBatch(comm, 0, failure()));
}

void collgen_do_log(const collgen_settings *settings, int level, const char *text) {
	CALLBACK(settings->log(settings->log_context, level, text));
}

int collgen_do_set(const collgen_store *store, const char *key, const void *value, size_t n) {
	int kind = 0;
	CALLBACK(kind = store->set(store->context, key, value, n));
	return kind;
}

int collgen_do_get(const collgen_store *store, const char *key, void *value, size_t *n, int64_t timeout) {
	int kind = 0;
	CALLBACK(kind = store->get(store->context, key, value, n, timeout));
	return kind;
}

int collgen_do_remove(const collgen_store *store, const char *key) {
	int kind = 0;
	CALLBACK(kind = store->remove(store->context, key));
	return kind;
}
