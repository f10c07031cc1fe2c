/* What programs do that they should not, or at moments that one does not think of. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

/* mappings returns how many areas of memory the process has. */
static int mappings(void) {
	int n = 0, c;
	FILE *f = fopen("/proc/self/maps", "r");
	while (f != NULL && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f != NULL)
		fclose(f);
	return n;
}

static collgen_comm frees;
static void *freed;
static pthread_barrier_t together;

static void *free_once(void *arg) {
	pthread_barrier_wait(&together);
	*(int *)arg = collgen_free(frees, freed);
	return NULL;
}

/* Memory of no bytes is freed like other memory, once, by one of two threads. */
static int free_twice(struct rank *r) {
	int wrong = 0, before = 0;
	enum { TIMES = 200 };
	for (int i = 0; i < TIMES; i++) {
		void *memory = NULL;
		CHECK(collgen_alloc(r->comm, 0, 0, &memory) == COLLGEN_OK && memory != NULL);
		if (i == TIMES / 2)
			before = mappings();
		if (r->rank != 0) {
			CHECK(collgen_free(r->comm, memory) == COLLGEN_OK);
			continue;
		}
		pthread_t threads[2];
		int codes[2] = {-1, -1};
		frees = r->comm;
		freed = memory;
		pthread_barrier_init(&together, NULL, 2);
		for (int k = 0; k < 2; k++)
			pthread_create(&threads[k], NULL, free_once, &codes[k]);
		for (int k = 0; k < 2; k++)
			pthread_join(threads[k], NULL);
		CHECK(codes[0] + codes[1] == COLLGEN_INVALID_ARGUMENT && codes[0] != codes[1]);
		pthread_barrier_destroy(&together);
	}
	CHECK(r->threads || mappings() < before + TIMES / 4);
	return wrong;
}

static volatile int heard[16];
static collgen_work others[16];
static collgen_comm comms[16];

/* call_in_callback makes calls that may wait, which are refused, and one that is started. */
static void call_in_callback(void *context, int kind) {
	struct rank *r = context;
	int wrong = 0, rank = -1;
	static int64_t x[16];
	CHECK(kind == COLLGEN_OK && collgen_rank(comms[r->rank], &rank) == COLLGEN_OK && rank == r->rank);
	CHECK(collgen_barrier(comms[r->rank], NULL, NULL) == COLLGEN_CONCURRENT_USE);
	CHECK(collgen_close(comms[r->rank]) == COLLGEN_CONCURRENT_USE);
	CHECK(collgen_allreduce(comms[r->rank], COLLGEN_IN_PLACE, &x[r->rank], 1, COLLGEN_INT64, COLLGEN_SUM, NULL,
			&others[r->rank]) == COLLGEN_OK);
	int code = collgen_wait(others[r->rank], -1);
	CHECK(code == COLLGEN_CONCURRENT_USE || (code == COLLGEN_OK && (others[r->rank] = 0) == 0));
	heard[r->rank] = 1 + wrong;
}

static int callbacks(struct rank *r) {
	int wrong = 0;
	collgen_work work;
	comms[r->rank] = r->comm;
	CHECK(collgen_barrier(r->comm, NULL, &work) == COLLGEN_OK);
	CHECK(collgen_notify(work, call_in_callback, r) == COLLGEN_OK);
	CHECK(collgen_wait(work, -1) == COLLGEN_OK);
	while (heard[r->rank] == 0)
		sched_yield();
	CHECK(heard[r->rank] == 1);
	if (others[r->rank] != 0)
		CHECK(collgen_wait(others[r->rank], -1) == COLLGEN_OK);
	return wrong;
}

static volatile sig_atomic_t handled;
static collgen_comm interrupted;

static void call_in_handler(int number) {
	int rank;
	(void)number;
	handled = 100 + collgen_rank(interrupted, &rank);
}

/* signaled has a handler call a function while the thread is in another one. */
static int signaled(struct rank *r) {
	int wrong = 0;
	struct sigaction handler = {.sa_handler = call_in_handler, .sa_flags = SA_RESTART | SA_ONSTACK};
	if (r->threads) /* the signal might come to another one */
		return 0;
	interrupted = r->comm;
	sigaction(SIGALRM, &handler, NULL);
	CHECK(collgen_barrier(r->comm, NULL, NULL) == COLLGEN_OK);
	if (r->size > 1 && r->rank == 0) {
		ualarm(100000, 0);
		CHECK(collgen_barrier(r->comm, NULL, NULL) == COLLGEN_OK);
		CHECK(handled == 100 + COLLGEN_CONCURRENT_USE || handled == 100 || handled == 0);
	} else if (r->size > 1) {
		usleep(300000);
		CHECK(collgen_barrier(r->comm, NULL, NULL) == COLLGEN_OK);
	}
	return wrong;
}

/* run_misuse does all of this. */
int run_misuse(struct rank *r) {
	int wrong = free_twice(r) + callbacks(r) + signaled(r);
	size_t n = 0;
	int32_t x[4] = {0};
	collgen_work work;
	collgen_status s = {-5, -5, -5};
	char ticket[4096];

	CHECK(collgen_wait_any(&work, (size_t)-1, 0, &n) == COLLGEN_INVALID_ARGUMENT);
	CHECK(collgen_wait_any(&work, (size_t)1 << 60, 0, &n) == COLLGEN_INVALID_ARGUMENT);
	CHECK(collgen_message_send(r->comm, COLLGEN_IN_PLACE, 1, COLLGEN_INT8, 0, 0, NULL, NULL) == COLLGEN_INVALID_ARGUMENT);
	CHECK(collgen_message_recv(r->comm, COLLGEN_IN_PLACE, 1, COLLGEN_INT8, 0, 0, NULL, NULL, NULL) ==
		COLLGEN_INVALID_ARGUMENT);
	CHECK(collgen_message_send(r->comm, (char *)x + 1, 1, COLLGEN_INT32, 0, 0, NULL, NULL) == COLLGEN_INVALID_ARGUMENT);
	CHECK(collgen_barrier(r->comm, NULL, &work) == COLLGEN_OK && collgen_close(work) == COLLGEN_INVALID_ARGUMENT);
	CHECK(collgen_wait(r->comm, -1) == COLLGEN_INVALID_ARGUMENT && collgen_wait(work, -1) == COLLGEN_OK);

	/* a message that is there, and longer than the buffer of a receive that is started */
	CHECK(collgen_message_send(r->comm, x, 4, COLLGEN_INT32, r->rank, 5, NULL, NULL) == COLLGEN_OK);
	CHECK(collgen_message_recv(r->comm, x, 1, COLLGEN_INT32, COLLGEN_ANY, 5, &s, NULL, &work) == COLLGEN_OK);
	CHECK(collgen_wait(work, -1) == COLLGEN_TRUNCATED && s.source == r->rank && s.tag == 5 && s.count == 4);

	/* a ticket for which there was no room is that of the next call */
	if (r->rank == 0 && !r->threads && collgen_invite(r->comm, 0, NULL, 0, &n) == COLLGEN_INVALID_ARGUMENT && n > 0) {
		CHECK(collgen_invite(r->comm, 0, ticket, sizeof ticket, NULL) == COLLGEN_OK && strlen(ticket) == n);
		char *first = strdup(ticket);
		CHECK(collgen_invite(r->comm, 0, ticket, sizeof ticket, NULL) == COLLGEN_OK && strcmp(ticket, first) != 0);
		free(first);
	}
	CHECK(collgen_barrier(r->comm, NULL, NULL) == COLLGEN_OK);
	return wrong;
}
