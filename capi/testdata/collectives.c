/* Every collective, of every type, in place and not, called and started, against what it promises. */
#include <stdio.h>
#include <stdlib.h>

#include "elements.h"
#include "program.h"

enum { MOST = 4, GUARD = 64 };

/* A call: its buffers, of which the bytes around are watched, and what dst has to be. */
struct trial {
	const struct rank *r;
	const char *name;
	int type, in_place;
	int64_t count;
	char *dst, *src, *want;        /* of dst_bytes or src_bytes each, between guards */
	size_t dst_bytes, src_bytes;
	const char *result;            /* where the call writes: in dst or src */
	int64_t counts[MOST], displs[MOST], theirs[MOST], shifted[MOST];
};

/* value is element e of the input of rank q: a sum of four is exact in every type. */
static int value(int q, int64_t e) { return (q + (int)e) % 3; }

static void *guarded(size_t n) {
	char *p;
	size_t size = (n + 2 * GUARD + 15) / 16 * 16;
	if (posix_memalign((void **)&p, 64, size) != 0)
		abort();
	memset(p, 0x5a, size);
	return p + GUARD;
}

static int intact(const char *p, size_t n) {
	for (int i = 1; i <= GUARD; i++)
		if (p[-i] != 0x5a || p[n + i - 1] != 0x5a)
			return 0;
	return 1;
}

static void release(char *p) { free(p - GUARD); }

/* input fills a buffer with the elements of rank q, from element from on. */
static void input(int type, char *buf, int64_t n, int q, int64_t from) {
	for (int64_t i = 0; i < n; i++)
		put(type, buf, i, value(q, from + i));
}

/* reduced fills a buffer with the reduction over ranks up to end, not including it. */
static void reduced(int type, char *buf, int64_t n, int end, int64_t from) {
	int v[MOST];
	for (int64_t i = 0; i < n; i++) {
		for (int q = 0; q < end; q++)
			v[q] = value(q, from + i);
		put_sum(type, buf, i, v, end);
	}
}

/* uneven is how many elements the block of rank q has for rank r. */
static int64_t uneven(int q, int r) { return (2 * q + r) % 4; }

/* lay says how long blocks are, and where: with gaps, and the last one first, or one after the other. */
static int64_t lay(int64_t *counts, int64_t *displs, int size, int gaps, int64_t (*n)(int q, int rank), int rank) {
	int64_t at = 0;
	for (int q = 0; q < size; q++)
		counts[q] = n(q, rank);
	for (int i = 0; i < size; i++) {
		int q = gaps ? size - 1 - i : i;
		displs[q] = at;
		at += counts[q] + gaps;
	}
	return at;
}

static int64_t common(int q, int rank) { (void)rank; return uneven(q, 1); }
static int64_t received(int q, int rank) { return uneven(q, rank); }
static int64_t sent(int q, int rank) { return uneven(rank, q); }

/* make makes or starts the call of a trial, and prepares its buffers and what is expected. */
static int make(struct trial *t, collgen_work *work) {
	const struct rank *r = t->r;
	int rank = r->rank, size = r->size, type = t->type, elem = bytes_of(type), root = size - 1, gaps = t->in_place == 2,
		here = t->in_place == 1;
	int64_t n = t->count, total;
	const char *is = t->name;
	collgen_options options = {.size = sizeof options, .label = is};
#define BUFFERS(in, out) \
	do { \
		t->src_bytes = (size_t)(in) * elem, t->dst_bytes = (size_t)(out) * elem; \
		t->src = guarded(t->src_bytes), t->dst = guarded(t->dst_bytes), t->want = guarded(t->dst_bytes); \
		memset(t->dst, 0, t->dst_bytes), memset(t->want, 0, t->dst_bytes); \
		t->result = t->dst; \
	} while (0)
/* Of elements of dst, and of the whole of a buffer in place. */
#define AT(buf, e) ((buf) + (size_t)(e) * elem)
#define BOTH (here ? COLLGEN_IN_PLACE : t->src)
#define END r->comm, t->dst

	if (!strcmp(is, "allgather")) {
		BUFFERS(n, n * size);
		input(type, t->src, n, rank, 0);
		for (int q = 0; q < size; q++)
			input(type, AT(t->want, q * n), n, q, 0);
		if (here)
			input(type, AT(t->dst, rank * n), n, rank, 0);
		return collgen_allgather(END, BOTH, n, type, &options, work);
	}
	if (!strcmp(is, "allreduce") || !strcmp(is, "reduce") || !strcmp(is, "scan") || !strcmp(is, "exscan")) {
		int end = is[0] == 's' ? rank + 1 : is[0] == 'e' ? rank : size;
		int gets = !(is[0] == 'r' && rank != root) && !(is[0] == 'e' && rank == 0);
		BUFFERS(n, n);
		input(type, t->src, n, rank, 0);
		if (here)
			input(type, t->dst, n, rank, 0);
		if (gets)
			reduced(type, t->want, n, end, 0);
		else
			memcpy(t->want, t->dst, t->dst_bytes);
		switch (is[0]) {
		case 'a': return collgen_allreduce(END, BOTH, n, type, sum(type), &options, work);
		case 'r': return collgen_reduce(END, BOTH, n, type, sum(type), root, &options, work);
		case 's': return collgen_scan(END, BOTH, n, type, sum(type), &options, work);
		}
		return collgen_exscan(END, BOTH, n, type, sum(type), &options, work);
	}
	if (!strcmp(is, "alltoall")) {
		BUFFERS(n * size, n * size);
		input(type, t->src, n * size, rank, 0);
		if (here)
			input(type, t->dst, n * size, rank, 0);
		for (int q = 0; q < size; q++)
			input(type, AT(t->want, q * n), n, q, rank * n);
		return collgen_alltoall(END, BOTH, n, type, &options, work);
	}
	if (!strcmp(is, "broadcast")) {
		BUFFERS(n, n);
		input(type, t->src, n, rank, 0);
		if (here && rank == root)
			input(type, t->dst, n, rank, 0);
		input(type, t->want, n, root, 0);
		return collgen_broadcast(END, BOTH, n, type, root, &options, work);
	}
	if (!strcmp(is, "gather")) {
		BUFFERS(n, rank == root ? n * size : 0);
		input(type, t->src, n, rank, 0);
		for (int q = 0; q < size && rank == root; q++)
			input(type, AT(t->want, q * n), n, q, 0);
		if (here && rank == root)
			input(type, AT(t->dst, rank * n), n, rank, 0);
		return collgen_gather(r->comm, rank == root ? t->dst : NULL, here && rank == root ? COLLGEN_IN_PLACE : t->src,
			n, type, root, &options, work);
	}
	if (!strcmp(is, "scatter") || !strcmp(is, "reducescatter")) {
		int scatters = is[0] == 's', whole = !scatters || rank == root;
		BUFFERS(whole ? n * size : 0, n);
		input(type, t->src, whole ? n * size : 0, rank, 0);
		if (scatters)
			input(type, t->want, n, root, rank * n);
		else
			reduced(type, t->want, n, size, rank * n);
		if (here && whole)
			t->result = AT(t->src, rank * n);
		void *dst = here && whole ? COLLGEN_IN_PLACE : t->dst;
		if (scatters)
			return collgen_scatter(r->comm, dst, rank == root ? t->src : NULL, n, type, root, &options, work);
		return collgen_reducescatter(r->comm, dst, t->src, n, type, sum(type), &options, work);
	}
	if (!strcmp(is, "allgatherv") || !strcmp(is, "gatherv")) {
		int gets = is[0] == 'a' || rank == root;
		here = here && gets;
		total = lay(t->counts, t->displs, size, gaps, common, rank);
		n = t->counts[rank];
		BUFFERS(n, gets ? total : 0);
		input(type, t->src, n, rank, 0);
		for (int q = 0; q < size && gets; q++)
			input(type, AT(t->want, t->displs[q]), t->counts[q], q, 0);
		if (here)
			input(type, AT(t->dst, t->displs[rank]), n, rank, 0);
		const int64_t *displs = gaps ? t->displs : NULL, *counts = gets ? t->counts : NULL;
		const void *src = here ? COLLGEN_IN_PLACE : t->src;
		if (is[0] == 'a')
			return collgen_allgatherv(END, counts, displs, src, type, &options, work);
		return collgen_gatherv(END, counts, displs, src, n, type, root, &options, work);
	}
	if (!strcmp(is, "scatterv") || !strcmp(is, "reducescatterv")) {
		int scatters = is[0] == 's', whole = !scatters || rank == root;
		here = here && whole;
		total = lay(t->counts, t->displs, size, gaps, common, rank);
		n = t->counts[rank];
		BUFFERS(whole ? total : 0, n);
		for (int q = 0; q < size && whole; q++)
			input(type, AT(t->src, t->displs[q]), t->counts[q], rank, q * 5);
		if (scatters)
			input(type, t->want, n, root, rank * 5);
		else
			reduced(type, t->want, n, size, rank * 5);
		if (here)
			t->result = AT(t->src, t->displs[rank]);
		const int64_t *displs = gaps ? t->displs : NULL;
		void *dst = here ? COLLGEN_IN_PLACE : t->dst;
		if (scatters)
			return collgen_scatterv(r->comm, dst, whole ? t->src : NULL, whole ? t->counts : NULL, displs, n, type, root,
				&options, work);
		return collgen_reducescatterv(r->comm, dst, t->src, t->counts, displs, type, sum(type), &options, work);
	}
	if (!strcmp(is, "alltoallv")) {
		int64_t out = lay(t->counts, t->displs, size, gaps, received, rank);
		total = lay(t->theirs, t->shifted, size, gaps, sent, rank);
		BUFFERS(total, out);
		for (int q = 0; q < size; q++) {
			input(type, AT(t->src, t->shifted[q]), t->theirs[q], rank, q * 5);
			input(type, AT(t->want, t->displs[q]), t->counts[q], q, rank * 5);
		}
		return collgen_alltoallv(END, t->counts, gaps ? t->displs : NULL, t->src, t->theirs, gaps ? t->shifted : NULL, type,
			&options, work);
	}
	if (!strcmp(is, "sendrecv")) {
		int next = (rank + 1) % size, previous = (rank + size - 1) % size;
		BUFFERS(n, n);
		input(type, t->src, n, rank, 0);
		if (here)
			input(type, t->dst, n, rank, 0);
		input(type, t->want, n, previous, 0);
		return collgen_sendrecv(r->comm, BOTH, n, next, t->dst, n, previous, type, &options, work);
	}
	BUFFERS(0, 0);
	return collgen_barrier(r->comm, NULL, work);
}

/* check compares the result of a call that has returned code. */
static int check(struct trial *t, int code) {
	int wrong = code != COLLGEN_OK || memcmp(t->result, t->want, t->dst_bytes) != 0 || !intact(t->dst, t->dst_bytes) ||
		!intact(t->src, t->src_bytes);
	if (wrong)
		fprintf(stderr, "rank %d of %d: %s, type %d, in place %d, count %d: code %d: %s\n", t->r->rank, t->r->size, t->name,
			t->type, t->in_place, (int)t->count, code, code ? collgen_last_error()->text : "wrong result");
	release(t->dst);
	release(t->src);
	release(t->want);
	return wrong;
}

static const char *const names[] = {"allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "barrier", "broadcast",
	"exscan", "gather", "gatherv", "reduce", "reducescatter", "reducescatterv", "scan", "scatter", "scatterv", "sendrecv"};
enum { NAMES = sizeof names / sizeof *names };

/* calls makes all calls of a type and a count, one after the other. */
static int calls(const struct rank *r, int type, int64_t count, int in_place) {
	int wrong = 0;
	for (int i = 0; i < NAMES; i++) {
		struct trial t = {.r = r, .name = names[i], .type = type, .count = count, .in_place = in_place};
		int code = make(&t, NULL);
		if (r->plant && i == 2 && type == COLLGEN_FLOAT32 && t.dst_bytes > 0)
			t.dst[t.dst_bytes - 1] ^= 1; /* a planted wrong result */
		wrong += check(&t, code);
	}
	return wrong;
}

/* starts starts all of them, and waits for them in another order. */
static int starts(const struct rank *r, int type, int64_t count, int in_place) {
	struct trial t[NAMES];
	collgen_work works[NAMES];
	int wrong = 0, left = NAMES;
	for (int i = 0; i < NAMES; i++) {
		t[i] = (struct trial){.r = r, .name = names[i], .type = type, .count = count, .in_place = in_place};
		int code = make(&t[i], &works[i]);
		if (code != COLLGEN_OK || works[i] == 0) {
			fprintf(stderr, "rank %d: %s is not started: %s\n", r->rank, names[i], collgen_last_error()->text);
			return 1;
		}
	}
	for (int i = NAMES - 1; i >= NAMES / 2; i -= 2, left--) { /* the last ones first */
		wrong += check(&t[i], collgen_wait(works[i], -1));
		if (collgen_wait(works[i], -1) != COLLGEN_INVALID_ARGUMENT)
			wrong++, fprintf(stderr, "a work is there after its end\n");
		works[i] = 0;
	}
	for (; left > 0; left--) {
		size_t at;
		int code = collgen_wait_any(works, NAMES, -1, &at);
		if (at >= NAMES) {
			fprintf(stderr, "rank %d: none of %d works is over\n", r->rank, left);
			return 1;
		}
		wrong += check(&t[at], code);
		works[at] = 0;
	}
	return wrong;
}

int run_collectives(struct rank *r) {
	static const int64_t counts[] = {0, 1, 5, 1000};
	int wrong = 0;
	for (int i = 0; i < TYPES; i++)
		for (int c = 0; c < 4; c++)
			for (int in_place = 0; in_place < 3; in_place++) { /* 2: not in place, and blocks with gaps */
				wrong += calls(r, types[i], counts[c], in_place);
				if (c % 2)
					wrong += starts(r, types[i], counts[c], in_place);
				if (wrong)
					return wrong;
			}
	return wrong + calls(r, COLLGEN_FLOAT32, 300000, 0) + starts(r, COLLGEN_FLOAT64, 300000, 1);
}
