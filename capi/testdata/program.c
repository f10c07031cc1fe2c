/*
 * The test of the C library: "program PART" is one rank, a process that the environment says which, and
 * "program PART N" has N ranks that are threads and meet by a store in this process.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

static const struct {
	const char *name;
	int (*run)(struct rank *r);
	int leaves; /* closes its communicator by itself */
} parts[] = {
	{"collectives", run_collectives, 0}, {"started", run_started, 0}, {"refused", run_refused, 0},
	{"misuse", run_misuse, 0},
	{"messages", run_messages, 0}, {"groups", run_groups, 0}, {"timeout", run_timeout, 1},
	{"mismatch", run_mismatch, 1}, {"killed", run_killed, 1}, {"fork", run_fork, 0}, {"bench", run_bench, 0},
};
enum { PARTS = sizeof parts / sizeof *parts };

static int part;

/* A store for the threads of a process. */
static struct entry {
	char key[256], *value;
	size_t n;
} entries[1024];
static int nentries;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static struct entry *find(const char *key) {
	for (int i = 0; i < nentries; i++)
		if (!strcmp(entries[i].key, key))
			return &entries[i];
	return NULL;
}

static int set(void *context, const char *key, const void *value, size_t n) {
	(void)context;
	pthread_mutex_lock(&lock);
	struct entry *e = find(key);
	if (e == NULL && nentries == 1024) {
		pthread_mutex_unlock(&lock);
		return 1;
	}
	if (e == NULL)
		e = &entries[nentries++];
	strncpy(e->key, key, sizeof e->key - 1);
	free(e->value);
	e->value = malloc(n + 1);
	memcpy(e->value, value, n);
	e->n = n;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return 0;
}

static int get(void *context, const char *key, void *value, size_t *n, int64_t timeout) {
	struct timespec end;
	int late = 0, code = -1;
	(void)context;
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += timeout % 1000000000;
	end.tv_sec += timeout / 1000000000 + end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	pthread_mutex_lock(&lock);
	struct entry *e;
	while ((e = find(key)) == NULL && !late)
		late = pthread_cond_timedwait(&changed, &lock, &end) != 0;
	if (e != NULL && e->n <= *n) {
		memcpy(value, e->value, e->n);
		*n = e->n;
		code = 0;
	}
	pthread_mutex_unlock(&lock);
	return code;
}

static int drop(void *context, const char *key) {
	(void)context;
	pthread_mutex_lock(&lock);
	struct entry *e = find(key);
	if (e != NULL)
		e->key[0] = 0;
	pthread_mutex_unlock(&lock);
	return 0;
}

static void print(void *context, int level, const char *text) {
	(void)context;
	fprintf(stderr, "log %d: %s\n", level, text);
}

/* run is a rank. */
static int run(struct rank *r, const collgen_settings *settings) {
	int wrong = 0;
	if (collgen_init(settings, 0, &r->comm) != COLLGEN_OK) {
		fprintf(stderr, "init: %s\n", collgen_last_error()->text);
		return 1;
	}
	CHECK(collgen_rank(r->comm, &r->rank) == COLLGEN_OK && collgen_size(r->comm, &r->size) == COLLGEN_OK);
	r->plant = getenv("PLANT") != NULL;
	wrong += parts[part].run(r);
	if (parts[part].leaves)
		return wrong;
	CHECK(collgen_close(r->comm) == COLLGEN_OK);
	CHECK(collgen_close(r->comm) == COLLGEN_INVALID_ARGUMENT);
	return wrong;
}

static const char *threads;

static void *thread(void *at) {
	char rank[32], size[32];
	const char *variables[] = {rank, size, "COLL_JOB=threads", getenv("VARIABLE"), NULL};
	collgen_store store = {.set = set, .get = get, .remove = drop};
	collgen_settings settings = {.size = sizeof settings, .variables = variables, .store = &store,
		.secret = "0123456789abcdef0123456789abcdef", .log = print};
	struct rank r = {.threads = 1};
	snprintf(rank, sizeof rank, "COLL_RANK=%d", (int)(intptr_t)at);
	snprintf(size, sizeof size, "COLL_SIZE=%s", threads);
	return (void *)(intptr_t)run(&r, &settings);
}

int main(int argc, char **argv) {
	pthread_t all[16];
	int wrong = 0, n = 0;
	if (argc < 2)
		return 2;
	while (part < PARTS && strcmp(parts[part].name, argv[1]))
		part++;
	if (part == PARTS)
		return 2;
	if (argc == 2) {
		struct rank r = {0};
		collgen_settings settings = {.size = sizeof settings, .log = print};
		wrong = run(&r, &settings);
	} else {
		threads = argv[2];
		n = atoi(threads);
	}
	for (int i = 0; i < n; i++)
		pthread_create(&all[i], NULL, thread, (void *)(intptr_t)i);
	for (int i = 0; i < n; i++) {
		void *result;
		pthread_join(all[i], &result);
		wrong += (int)(intptr_t)result;
	}
	if (wrong == 0)
		printf("ok\n");
	return wrong != 0;
}
