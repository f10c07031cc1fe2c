/* The parts of the test besides the collectives. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "program.h"

enum { SECOND = 1000000000 };

static int allreduce(collgen_comm comm, int32_t *x, int64_t n) {
	return collgen_allreduce(comm, COLLGEN_IN_PLACE, x, n, COLLGEN_INT32, COLLGEN_SUM, NULL, NULL);
}

static void notified(void *context, int kind) { *(volatile int *)context = 100 + kind; }

/* run_started has sends and receives that are started, in an order that would hang if they were not. */
int run_started(struct rank *r) {
	int wrong = 0, over = -1, size = r->size, other = (r->rank + 1) % size, previous = (r->rank + size - 1) % size;
	int32_t out[2] = {r->rank, 7}, in[2] = {0, 0}, x = 1;
	collgen_work works[4] = {0, 0, 0, 0};
	size_t at;
	static volatile int heard[16];

	CHECK(collgen_wait_any(works, 4, -1, &at) == COLLGEN_OK && at == 4);
	CHECK(collgen_wait_any(NULL, 0, -1, &at) == COLLGEN_OK && at == 0);
	if (size > 1) {
		CHECK(collgen_recv(r->comm, in, 2, COLLGEN_INT32, previous, NULL, &works[1]) == COLLGEN_OK);
		CHECK(collgen_send(r->comm, out, 2, COLLGEN_INT32, other, NULL, &works[2]) == COLLGEN_OK);
		for (over = 0; !over;) /* they need no wait */
			CHECK(collgen_peek(works[1], &over) == COLLGEN_OK);
		CHECK(collgen_wait(works[1], -1) == COLLGEN_OK && in[0] == previous && in[1] == 7);
		works[1] = 0;
		CHECK(collgen_wait_any(works, 4, -1, &at) == COLLGEN_OK && at == 2);
		/* in a batch, they begin together, at its end */
		CHECK(collgen_batch_begin(r->comm) == COLLGEN_OK);
		CHECK(collgen_send(r->comm, out, 1, COLLGEN_INT32, other, NULL, &works[0]) == COLLGEN_OK);
		CHECK(collgen_recv(r->comm, in, 1, COLLGEN_INT32, previous, NULL, &works[1]) == COLLGEN_OK);
		CHECK(collgen_notify(works[1], notified, (void *)&heard[r->rank]) == COLLGEN_OK);
		CHECK(collgen_batch_end(r->comm) == COLLGEN_OK);
		for (over = 0; !over;)
			CHECK(collgen_peek(works[1], &over) == COLLGEN_OK);
		while (heard[r->rank] == 0)
			sched_yield();
		CHECK(heard[r->rank] == 100);
		CHECK(collgen_test(works[1]) == COLLGEN_OK);
		CHECK(collgen_wait(works[0], SECOND) == COLLGEN_OK);
	}
	CHECK(collgen_batch_end(r->comm) == COLLGEN_INVALID_ARGUMENT);
	if (size > 1) { /* a wait that ends first, in which the call goes on */
		CHECK(collgen_allreduce(r->comm, COLLGEN_IN_PLACE, &x, 1, COLLGEN_INT32, COLLGEN_SUM, NULL, &works[0]) ==
			COLLGEN_OK);
		if (r->rank == 0) {
			collgen_work late;
			CHECK(collgen_recv(r->comm, in, 1, COLLGEN_INT32, 1, NULL, &late) == COLLGEN_OK);
			CHECK(collgen_wait(late, SECOND / 50) == COLLGEN_NOT_OVER);
			CHECK(collgen_test(late) == COLLGEN_NOT_OVER);
			CHECK(collgen_wait_any(&late, 1, 0, &at) == COLLGEN_NOT_OVER);
			CHECK(collgen_wait_any(&late, 1, SECOND / 50, &at) == COLLGEN_NOT_OVER);
			CHECK(collgen_peek(late, &over) == COLLGEN_OK && over == 0);
			CHECK(collgen_wait(late, -1) == COLLGEN_OK);
		}
		if (r->rank == 1) {
			CHECK(collgen_wait(works[0], -1) == COLLGEN_OK);
			works[0] = 0;
			struct timespec t = {0, SECOND / 5};
			nanosleep(&t, NULL);
			CHECK(collgen_send(r->comm, out, 1, COLLGEN_INT32, 0, NULL, NULL) == COLLGEN_OK);
		}
		if (works[0] != 0)
			CHECK(collgen_wait(works[0], -1) == COLLGEN_OK);
		CHECK(x == size);
	}
	return wrong;
}

/* REFUSED has a call be refused for a bad argument. */
#define REFUSED(call) CHECK((call) == COLLGEN_INVALID_ARGUMENT && collgen_last_error()->kind == COLLGEN_INVALID_ARGUMENT && \
	collgen_last_error()->text[0] != 0)

int run_refused(struct rank *r) {
	int wrong = 0, size = r->size, one;
	int32_t x[64] = {0};
	int64_t counts[16] = {0}, displs[16] = {0};
	char text[4096];
	size_t n;
	void *memory;
	collgen_comm made = 7, c = r->comm;
	collgen_work work = 7;
	collgen_options options = {.size = sizeof options};
	int none[1] = {0};

	REFUSED(collgen_init(NULL, 0, NULL));
	collgen_settings settings = {.size = 3};
	REFUSED(collgen_init(&settings, 0, &made));
	CHECK(made == 0);
	REFUSED(collgen_join(NULL, NULL, 0, &made));
	settings = (collgen_settings){.size = sizeof settings};
	CHECK(collgen_join(&settings, "no ticket", 0, &made) == COLLGEN_TICKET);
	REFUSED(collgen_rank(c, NULL));
	REFUSED(collgen_rank(0, &one));
	REFUSED(collgen_rank(c + ((int64_t)1 << 40), &one));
	REFUSED(collgen_rank(-c, &one));
	REFUSED(collgen_rank((int64_t)1 << 62, &one));
	REFUSED(collgen_size(12345, &one));
	REFUSED(collgen_close(0));
	REFUSED(collgen_abort(99));
	REFUSED(collgen_topology(c, NULL, 1, &n));
	REFUSED(collgen_topology(c, text, 3, &n));
	CHECK(n > 10 && collgen_topology(c, text, sizeof text, NULL) == COLLGEN_OK && strlen(text) == n);
	CHECK(collgen_explain(c, "AllReduce", 1024, COLLGEN_SUM, text, sizeof text, NULL) == COLLGEN_OK);
	REFUSED(collgen_explain(c, NULL, 1024, 0, text, sizeof text, NULL));
	REFUSED(collgen_explain(c, "All", 1024, 0, text, sizeof text, NULL));
	REFUSED(collgen_explain(c, "AllReduce", -1, 0, text, sizeof text, NULL));
	REFUSED(collgen_explain(c, "AllReduce", 1, 300, text, sizeof text, NULL));
	REFUSED(collgen_trace(c, text, 1, &n));
	char *trace = malloc(n + 100000);
	CHECK(collgen_trace(c, trace, n + 100000, NULL) == COLLGEN_OK && trace[0] == '{');
	free(trace);
	REFUSED(collgen_split(c, 0, 0, 0, NULL));
	REFUSED(collgen_group(c, NULL, 1, 0, &made));
	REFUSED(collgen_group(c, none, (size_t)1 << 40, 0, &made));
	none[0] = size;
	REFUSED(collgen_group(c, none, 1, 0, &made));
	REFUSED(collgen_revoke(99));
	REFUSED(collgen_agree(c, 1, 0, NULL));
	REFUSED(collgen_agree(99, 1, 0, (uint64_t *)counts));
	REFUSED(collgen_monitored_barrier(99, 0));
	REFUSED(collgen_health(c, 0, NULL, 1, &n));
	REFUSED(collgen_health(99, 0, text, sizeof text, &n));
	REFUSED(collgen_alloc(c, 8, 0, NULL));
	REFUSED(collgen_alloc(c, -8, 0, &memory));
	REFUSED(collgen_free(c, NULL));
	REFUSED(collgen_free(c, x));
	REFUSED(collgen_wait(0, -1));
	REFUSED(collgen_test(77));
	REFUSED(collgen_peek(77, &one));
	REFUSED(collgen_notify(77, notified, NULL));
	REFUSED(collgen_notify(77, NULL, NULL));
	work = 77;
	REFUSED(collgen_wait_any(&work, 1, -1, &n));
	REFUSED(collgen_wait_any(NULL, 1, -1, &n));
	REFUSED(collgen_wait_any(&work, 1, -1, NULL));
	REFUSED(collgen_batch_begin(0));
	/* Calls. */
#define ALLREDUCE(dst, src, count, type, op, o, w) REFUSED(collgen_allreduce(c, dst, src, count, type, op, o, w))
	ALLREDUCE(NULL, x, 1, COLLGEN_INT32, COLLGEN_SUM, NULL, NULL);
	ALLREDUCE(x, NULL, 1, COLLGEN_INT32, COLLGEN_SUM, NULL, NULL);
	ALLREDUCE((void *)8, x, 1, COLLGEN_INT32, COLLGEN_SUM, NULL, NULL);
	ALLREDUCE((void *)((uintptr_t)x + 1), x, 1, COLLGEN_INT32, COLLGEN_SUM, NULL, NULL);
	ALLREDUCE((void *)(intptr_t)-8, x, 4, COLLGEN_INT32, COLLGEN_SUM, NULL, NULL);
	ALLREDUCE(COLLGEN_IN_PLACE, COLLGEN_IN_PLACE, 1, COLLGEN_INT32, COLLGEN_SUM, NULL, NULL);
	ALLREDUCE(COLLGEN_IN_PLACE, NULL, 1, COLLGEN_INT32, COLLGEN_SUM, NULL, NULL);
	ALLREDUCE(COLLGEN_IN_PLACE, x, -1, COLLGEN_INT32, COLLGEN_SUM, NULL, NULL);
	ALLREDUCE(COLLGEN_IN_PLACE, x, INT64_MAX, COLLGEN_INT32, COLLGEN_SUM, NULL, NULL);
	ALLREDUCE(COLLGEN_IN_PLACE, x, 1, 0, COLLGEN_SUM, NULL, NULL);
	ALLREDUCE(COLLGEN_IN_PLACE, x, 1, 99, COLLGEN_SUM, NULL, NULL);
	ALLREDUCE(COLLGEN_IN_PLACE, x, 1, -3, COLLGEN_SUM, NULL, NULL);
	ALLREDUCE(COLLGEN_IN_PLACE, x, 1, 256 + COLLGEN_INT32, COLLGEN_SUM, NULL, NULL);
	ALLREDUCE(COLLGEN_IN_PLACE, x, 1, COLLGEN_INT32, 0, NULL, NULL);
	ALLREDUCE(COLLGEN_IN_PLACE, x, 1, COLLGEN_INT32, 77, NULL, NULL);
	ALLREDUCE(COLLGEN_IN_PLACE, x, 1, COLLGEN_INT32, 256 + COLLGEN_SUM, NULL, NULL);
	ALLREDUCE(COLLGEN_IN_PLACE, x, 1, COLLGEN_FLOAT32, COLLGEN_BAND, NULL, NULL);
	ALLREDUCE(x, x + 1, 2, COLLGEN_INT32, COLLGEN_SUM, NULL, NULL);
	options.size = 4;
	ALLREDUCE(COLLGEN_IN_PLACE, x, 1, COLLGEN_INT32, COLLGEN_SUM, &options, NULL);
	options = (collgen_options){.size = sizeof options, .algorithm = "none"};
	ALLREDUCE(COLLGEN_IN_PLACE, x, 1, COLLGEN_INT32, COLLGEN_SUM, &options, NULL);
	options = (collgen_options){.size = sizeof options, .label = ""};
	ALLREDUCE(COLLGEN_IN_PLACE, x, 1, COLLGEN_INT32, COLLGEN_SUM, &options, NULL);
	options = (collgen_options){.size = sizeof options, .depth = -1};
	ALLREDUCE(COLLGEN_IN_PLACE, x, 1, COLLGEN_INT32, COLLGEN_SUM, &options, NULL);
	work = 7;
	ALLREDUCE(COLLGEN_IN_PLACE, NULL, 1, COLLGEN_INT32, COLLGEN_SUM, NULL, &work);
	CHECK(work == 0);
	work = 7;
	ALLREDUCE(COLLGEN_IN_PLACE, x, 1, COLLGEN_INT32, 0, NULL, &work);
	CHECK(work == 0);
	REFUSED(collgen_allreduce(5, COLLGEN_IN_PLACE, x, 1, COLLGEN_INT32, COLLGEN_SUM, NULL, NULL));
	REFUSED(collgen_barrier(5, NULL, NULL));
	REFUSED(collgen_broadcast(c, x, x, 1, COLLGEN_INT32, size, NULL, NULL));
	REFUSED(collgen_broadcast(c, x, x, 1, COLLGEN_INT32, -1, NULL, NULL));
	REFUSED(collgen_gather(c, x, COLLGEN_IN_PLACE, 1, COLLGEN_INT32, size, NULL, NULL));
	REFUSED(collgen_gather(c, COLLGEN_IN_PLACE, x, 1, COLLGEN_INT32, r->rank, NULL, NULL));
	REFUSED(collgen_allgather(c, x, COLLGEN_IN_PLACE, INT64_MAX / 4, COLLGEN_INT64, NULL, NULL));
	REFUSED(collgen_allgatherv(c, x, NULL, NULL, x, COLLGEN_INT32, NULL, NULL));
	counts[size - 1] = -1;
	REFUSED(collgen_allgatherv(c, x, counts, NULL, x, COLLGEN_INT32, NULL, NULL));
	counts[size - 1] = INT64_MAX;
	REFUSED(collgen_allgatherv(c, x, counts, NULL, x, COLLGEN_INT32, NULL, NULL));
	counts[size - 1] = 1;
	displs[size - 1] = INT64_MAX;
	REFUSED(collgen_allgatherv(c, x, counts, displs, x, COLLGEN_INT32, NULL, NULL));
	displs[size - 1] = -1;
	REFUSED(collgen_reducescatterv(c, x, x, counts, displs, COLLGEN_INT32, COLLGEN_SUM, NULL, NULL));
	REFUSED(collgen_alltoallv(c, COLLGEN_IN_PLACE, counts, NULL, x, counts, NULL, COLLGEN_INT32, NULL, NULL));
	REFUSED(collgen_send(c, x, 1, COLLGEN_INT32, size, NULL, NULL));
	REFUSED(collgen_send(c, x, 1, COLLGEN_INT32, r->rank, NULL, NULL));
	REFUSED(collgen_recv(c, NULL, 1, COLLGEN_INT32, (r->rank + 1) % size, NULL, NULL));
	REFUSED(collgen_sendrecv(c, x, 1, 0, x + 8, 1, -5, COLLGEN_INT32, NULL, NULL));
	REFUSED(collgen_sendrecv(c, x, -1, 0, x + 8, 1, 0, COLLGEN_INT32, NULL, NULL));
	x[0] = 1; /* nothing of all this has done any harm */
	CHECK(allreduce(c, x, 1) == COLLGEN_OK && x[0] == size);
	CHECK(collgen_allreduce(c, NULL, NULL, 0, COLLGEN_INT32, COLLGEN_SUM, NULL, NULL) == COLLGEN_OK);
	return wrong;
}

/* run_groups has communicators of some ranks, memory, and options. */
int run_groups(struct rank *r) {
	int wrong = 0, rank = -1, size = -1, all[16];
	int32_t x = 1, *memory = NULL;
	collgen_comm half, group;

	CHECK(collgen_split(r->comm, r->rank % 2, -r->rank, 0, &half) == COLLGEN_OK);
	CHECK(collgen_size(half, &size) == COLLGEN_OK && size == (r->size + 1 - r->rank % 2) / 2);
	CHECK(collgen_rank(half, &rank) == COLLGEN_OK && rank == size - 1 - r->rank / 2);
	CHECK(allreduce(half, &x, 1) == COLLGEN_OK && x == size);
	CHECK(collgen_close(half) == COLLGEN_OK);
	CHECK(allreduce(half, &x, 1) == COLLGEN_INVALID_ARGUMENT);
	CHECK(collgen_split(r->comm, -1, 0, 0, &half) == COLLGEN_OK && half == 0);
	for (int q = 0; q < r->size; q++)
		all[q] = r->size - 1 - q;
	CHECK(collgen_group(r->comm, all, r->size, 0, &group) == COLLGEN_OK);
	CHECK(collgen_rank(group, &rank) == COLLGEN_OK && rank == r->size - 1 - r->rank);
	uint64_t agreed;
	char text[4096];
	CHECK(collgen_agree(group, 6 | 1 << r->rank, 0, &agreed) == COLLGEN_OK && agreed == (r->size == 1 ? 7 : 6));
	CHECK(collgen_monitored_barrier(group, 0) == COLLGEN_OK);
	CHECK(collgen_health(group, 0, text, sizeof text, NULL) == COLLGEN_OK && strstr(text, "waits for") != NULL);
	if (rank == r->size - 1)
		CHECK(collgen_revoke(group) == COLLGEN_OK);
	while (allreduce(group, &x, 1) == COLLGEN_OK)
		;
	CHECK(collgen_agree(group, 1, 0, &agreed) == COLLGEN_OK && agreed == 1);
	CHECK(collgen_abort(group) == COLLGEN_OK);
	CHECK(allreduce(group, &x, 1) == COLLGEN_ABORTED || r->size == 1);
	CHECK(collgen_close(group) == COLLGEN_OK);

	CHECK(collgen_alloc(r->comm, 4 << 20, 0, (void **)&memory) == COLLGEN_OK && memory != NULL && memory[0] == 0);
	for (int i = 0; i < 1 << 20; i++)
		memory[i] = i;
	CHECK(allreduce(r->comm, memory, 1 << 20) == COLLGEN_OK && memory[1 << 19] == r->size << 19);
	CHECK(collgen_free(r->comm, memory) == COLLGEN_OK);
	CHECK(collgen_free(r->comm, memory) == COLLGEN_INVALID_ARGUMENT);

	float y = 1;
	double factor = r->rank + 1;
	collgen_options options = {.size = sizeof options, .algorithm = "one-shot", .label = "weights", .factor = &factor,
		.reproducible = 1, .timeout = 60LL * SECOND};
	CHECK(collgen_allreduce(r->comm, COLLGEN_IN_PLACE, &y, 1, COLLGEN_FLOAT32, COLLGEN_SUM, &options, NULL) == COLLGEN_OK);
	CHECK(y == r->size * (r->size + 1) / 2);
	return wrong;
}

/* run_timeout has the last rank not come. */
int run_timeout(struct rank *r) {
	int wrong = 0;
	int32_t x = 1;
	collgen_options options = {.size = sizeof options, .timeout = SECOND / 5};
	CHECK(allreduce(r->comm, &x, 1) == COLLGEN_OK);
	if (r->rank < r->size - 1) {
		collgen_work work;
		CHECK(collgen_monitored_barrier(r->comm, SECOND / 10) == COLLGEN_TIMEOUT);
		CHECK(collgen_last_error()->nranks == 1 && collgen_last_error()->ranks[0] == r->size - 1);
		int code = collgen_recv(r->comm, &x, 1, COLLGEN_INT32, r->size - 1, &options, r->rank % 2 ? &work : NULL);
		if (r->rank % 2) {
			CHECK(code == COLLGEN_OK);
			code = collgen_wait(work, -1);
		}
		const collgen_error *e = collgen_last_error();
		/* Another rank may have been the first, and says so. */
		CHECK(code == COLLGEN_TIMEOUT && e->kind == code);
		CHECK(e->nranks > 0 && e->ranks[0] >= 0);
	} else {
		/* A rank sends nothing to itself: it is refused for that until the communicator is given up. */
		while (collgen_send(r->comm, &x, 1, COLLGEN_INT32, r->rank, NULL, NULL) == COLLGEN_INVALID_ARGUMENT)
			usleep(1000);
	}
	CHECK(allreduce(r->comm, &x, 1) == COLLGEN_ABORTED);
	collgen_close(r->comm);
	return wrong;
}

/* run_mismatch has the first rank pass another count. A rank that comes late finds the communicator given up. */
int run_mismatch(struct rank *r) {
	int wrong = 0;
	int32_t x[2] = {1, 1};
	int code = allreduce(r->comm, x, r->rank == 0 ? 2 : 1);
	const collgen_error *e = collgen_last_error();
	CHECK((r->rank > 1 && code == COLLGEN_ABORTED) ||
		(code == COLLGEN_MISMATCH && !strcmp(e->field, "count") && e->nranks > 0));
	collgen_close(r->comm);
	return wrong;
}

/* run_killed has the last rank end after a call, which others may not have ended, and they go on without it. */
int run_killed(struct rank *r) {
	int wrong = 0, size, code;
	int32_t x = 1;
	collgen_comm left;
	uint64_t agreed = 0;
	while ((code = allreduce(r->comm, &x, 1)) == COLLGEN_OK) /* the others may know before a call begins */
		if (r->rank == r->size - 1)
			raise(SIGKILL);
	const collgen_error *e = collgen_last_error();
	CHECK((code == COLLGEN_DIED || code == COLLGEN_ABORTED) && e->nranks == 1 && e->ranks[0] == r->size - 1);
	CHECK(allreduce(r->comm, &x, 1) == COLLGEN_ABORTED);
	CHECK(collgen_agree(r->comm, 3, 0, &agreed) == COLLGEN_DIED && agreed == 3);
	CHECK(collgen_shrink(r->comm, 0, &left) == COLLGEN_OK);
	CHECK(collgen_size(left, &size) == COLLGEN_OK && size == r->size - 1);
	x = 1;
	CHECK(allreduce(left, &x, 1) == COLLGEN_OK && x == size);
	CHECK(collgen_close(left) == COLLGEN_OK);
	collgen_close(r->comm);
	return wrong;
}

/* in_child calls all functions, each of which has to be refused. */
static int in_child(struct rank *r, collgen_work work) {
	int wrong = 0, one;
	int32_t x[64] = {1};
	int64_t counts[16] = {0};
	char text[64];
	size_t n;
	uint64_t agreed;
	void *memory;
	collgen_comm made, c = r->comm;
	collgen_work w = 0;
#define FORKED(call) CHECK((call) == COLLGEN_FORKED && collgen_last_error()->kind == COLLGEN_FORKED && x[0] == 1)
	FORKED(collgen_init(NULL, 0, &made));
	FORKED(collgen_join(NULL, "ticket", 0, &made));
	FORKED(collgen_rank(c, &one));
	FORKED(collgen_size(c, &one));
	FORKED(collgen_topology(c, text, sizeof text, &n));
	FORKED(collgen_explain(c, "AllReduce", 8, COLLGEN_SUM, text, sizeof text, &n));
	FORKED(collgen_trace(c, text, sizeof text, &n));
	FORKED(collgen_invite(c, 0, text, sizeof text, &n));
	FORKED(collgen_split(c, 0, 0, 0, &made));
	FORKED(collgen_group(c, &one, 1, 0, &made));
	FORKED(collgen_shrink(c, 0, &made));
	FORKED(collgen_grow(c, 0, &made));
	FORKED(collgen_revoke(c));
	FORKED(collgen_agree(c, 1, 0, &agreed));
	FORKED(collgen_monitored_barrier(c, 0));
	FORKED(collgen_health(c, 0, text, sizeof text, &n));
	FORKED(collgen_alloc(c, 8, 0, &memory));
	FORKED(collgen_free(c, x));
	FORKED(collgen_wait(work, -1));
	FORKED(collgen_test(work));
	FORKED(collgen_peek(work, &one));
	FORKED(collgen_notify(work, notified, NULL));
	FORKED(collgen_wait_any(&work, 1, -1, &n));
	FORKED(collgen_batch_begin(c));
	FORKED(collgen_batch_end(c));
	FORKED(collgen_send(c, x, 1, COLLGEN_INT32, 0, NULL, NULL));
	FORKED(collgen_recv(c, x, 1, COLLGEN_INT32, 0, NULL, &w));
	FORKED(collgen_sendrecv(c, x, 1, 0, x + 8, 1, 0, COLLGEN_INT32, NULL, NULL));
	for (int i = 0; i < 2; i++) { /* called, and started */
		collgen_work *into = i ? &w : NULL;
		FORKED(collgen_allgather(c, x, COLLGEN_IN_PLACE, 1, COLLGEN_INT32, NULL, into));
		FORKED(collgen_allgatherv(c, x, counts, NULL, COLLGEN_IN_PLACE, COLLGEN_INT32, NULL, into));
		FORKED(collgen_allreduce(c, x, x, 1, COLLGEN_INT32, COLLGEN_SUM, NULL, into));
		FORKED(collgen_alltoall(c, x, x, 1, COLLGEN_INT32, NULL, into));
		FORKED(collgen_alltoallv(c, x, counts, NULL, x + 32, counts, NULL, COLLGEN_INT32, NULL, into));
		FORKED(collgen_barrier(c, NULL, into));
		FORKED(collgen_broadcast(c, x, x, 1, COLLGEN_INT32, 0, NULL, into));
		FORKED(collgen_exscan(c, x, x, 1, COLLGEN_INT32, COLLGEN_SUM, NULL, into));
		FORKED(collgen_gather(c, x, COLLGEN_IN_PLACE, 1, COLLGEN_INT32, 0, NULL, into));
		FORKED(collgen_gatherv(c, x, counts, NULL, COLLGEN_IN_PLACE, 1, COLLGEN_INT32, 0, NULL, into));
		FORKED(collgen_reduce(c, x, x, 1, COLLGEN_INT32, COLLGEN_SUM, 0, NULL, into));
		FORKED(collgen_reducescatter(c, COLLGEN_IN_PLACE, x, 1, COLLGEN_INT32, COLLGEN_SUM, NULL, into));
		FORKED(collgen_reducescatterv(c, COLLGEN_IN_PLACE, x, counts, NULL, COLLGEN_INT32, COLLGEN_SUM, NULL, into));
		FORKED(collgen_scan(c, x, x, 1, COLLGEN_INT32, COLLGEN_SUM, NULL, into));
		FORKED(collgen_scatter(c, COLLGEN_IN_PLACE, x, 1, COLLGEN_INT32, 0, NULL, into));
		FORKED(collgen_scatterv(c, COLLGEN_IN_PLACE, x, counts, NULL, 1, COLLGEN_INT32, 0, NULL, into));
	}
	FORKED(collgen_abort(c));
	FORKED(collgen_close(c));
	CHECK(collgen_version()[0] != 0);
	return wrong;
}

/* run_fork forks, by the C library and by the system's call alone, while a receive is started. */
int run_fork(struct rank *r) {
	int wrong = 0, other = (r->rank + 1) % r->size, previous = (r->rank + r->size - 1) % r->size;
	int32_t x[1000], in = 0, total;
	collgen_work work, sent;
	for (int way = 0; way < 2; way++) {
		for (int i = 0; i < 1000; i++)
			x[i] = i;
		CHECK(allreduce(r->comm, x, 1000) == COLLGEN_OK);
		CHECK(collgen_recv(r->comm, &in, 1, COLLGEN_INT32, previous, NULL, &work) == COLLGEN_OK);
		int status, pid = way == 0 ? fork() : (int)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
		if (pid == 0) {
			alarm(20); /* a call that hangs ends the child */
			_exit(in_child(r, work) != 0);
		}
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
		CHECK(collgen_send(r->comm, &x[1], 1, COLLGEN_INT32, other, NULL, &sent) == COLLGEN_OK);
		CHECK(collgen_wait(work, -1) == COLLGEN_OK && in == r->size);
		CHECK(collgen_wait(sent, -1) == COLLGEN_OK);
		for (int i = 0; i < 1000; i++)
			x[i] = i;
		CHECK(allreduce(r->comm, x, 1000) == COLLGEN_OK);
		total = 0;
		for (int i = 0; i < 1000; i++)
			total += x[i] != i * r->size;
		CHECK(total == 0);
	}
	return wrong;
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

/* run_bench prints what an all-reduce of 8 bytes takes in µs, in the best of some rounds. */
int run_bench(struct rank *r) {
	static const char *const ways[] = {"called", "with a timeout", "started", "waited for in slices of 0.2 s"};
	enum { ROUNDS = 20, CALLS = 2000, WAYS = 4 };
	double best[WAYS] = {1e9, 1e9, 1e9, 1e9};
	int wrong = 0;
	int64_t x = 0;
	collgen_options options = {.size = sizeof options, .timeout = 60LL * SECOND};
	for (int round = 0; round < ROUNDS; round++)
		for (int way = 0; way < WAYS; way++) {
			double begun = now();
			for (int i = 0; i < CALLS; i++) {
				collgen_work work;
				int code = collgen_allreduce(r->comm, COLLGEN_IN_PLACE, &x, 1, COLLGEN_INT64, COLLGEN_SUM,
					way == 1 ? &options : NULL, way < 2 ? NULL : &work);
				CHECK(code == COLLGEN_OK);
				if (way < 2)
					continue;
				while ((code = collgen_wait(work, way == 2 ? -1 : SECOND / 5)) == COLLGEN_NOT_OVER)
					;
				CHECK(code == COLLGEN_OK);
			}
			double took = (now() - begun) / CALLS;
			best[way] = took < best[way] ? took : best[way];
		}
	for (int way = 0; way < WAYS && r->rank == 0; way++)
		printf("%s %.2f, ", ways[way], best[way]);
	return wrong;
}
