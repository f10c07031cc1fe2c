// What mpi.c and gloo.cc share: arguments, the measuring loop, the check of results, and the printed form, all as collperf has
// them, so that figures can be laid side by side. A program fills in a struct world and calls measure_all.
#ifndef PEERS_MEASURE_H
#define PEERS_MEASURE_H

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define MAX_RANKS 64
#define HUGE_PAGE ((size_t)2 << 20)

// Calls up to this size are too short for a clock around each: they are timed in batches, together with the rewriting of the
// operand, whose own time is taken off.
#define BATCHED_BYTES ((size_t)32 << 10)
#define BATCH_SECONDS 1e-3
#define LEAST_BATCHES 11
#define MOST_SINGLES 10000

enum collective { ALL_REDUCE, BROADCAST, REDUCE_SCATTER, ALL_GATHER, ALL_TO_ALL, BARRIER, PING_PONG, COLLECTIVES };

static const char *const names[COLLECTIVES] = {"all-reduce", "broadcast", "reduce-scatter", "all-gather", "all-to-all", "barrier", "ping-pong"};

// is_divided tells whether an operand has a block for each rank.
static inline int is_divided(enum collective c) { return c == REDUCE_SCATTER || c == ALL_GATHER || c == ALL_TO_ALL; }

struct call {
	enum collective collective;
	int in_place;
	size_t count;   // float32 elements of the whole operand, a multiple of the number of ranks; 0 for a barrier
	float *in, *out; // out is in if the call is in place
};

// A world is what a program brings: its ranks, and how they do things together.
struct world {
	int rank, size;
	const char *transport, *algorithm; // printed; the algorithm names the tuning
	void (*prepare)(const struct call *); // makes what the calls that follow need
	void (*invoke)(const struct call *);
	void (*barrier)(void);
	void (*sum)(double *values, int n); // over all ranks, the same result on all of them
};

struct arguments {
	enum collective collective;
	size_t begin, end, factor; // bytes
	int iterations, warmup, two_buffers, spoil;
};

static inline double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void fail(const char *what) {
	fprintf(stderr, "%s\n", what);
	exit(2);
}

// Arguments

static inline size_t parse_bytes(const char *text) {
	char *rest;
	size_t n = strtoull(text, &rest, 10);
	switch (toupper(*rest)) {
	case 'G': n <<= 10; // fall through
	case 'M': n <<= 10; // fall through
	case 'K': n <<= 10;
	}
	return n;
}

static inline enum collective parse_collective(const char *name) {
	for (int i = 0; i < COLLECTIVES; i++)
		if (!strcmp(name, names[i])) return (enum collective)i;
	fail("unknown collective");
	return COLLECTIVES;
}

// other takes the options that only one of the programs has; it returns 0 for one that it does not know.
static inline struct arguments parse(int argc, char **argv, int (*other)(const char *option, const char *value)) {
	if (argc < 2) fail("usage: program COLLECTIVE [-b bytes] [-e bytes] [-f factor] [-n iterations] [-w warm-up calls] "
		"[-two-buffers yes] [-spoil yes: change a result, for the check to find] ...");
	struct arguments a = {parse_collective(argv[1]), 8, 0, 2, 20, 5, 0, 0};
	for (int i = 2; i + 1 < argc; i += 2) {
		const char *option = argv[i], *value = argv[i + 1];
		if (!strcmp(option, "-b")) a.begin = parse_bytes(value);
		else if (!strcmp(option, "-e")) a.end = parse_bytes(value);
		else if (!strcmp(option, "-f")) a.factor = parse_bytes(value);
		else if (!strcmp(option, "-n")) a.iterations = atoi(value);
		else if (!strcmp(option, "-w")) a.warmup = atoi(value);
		else if (!strcmp(option, "-two-buffers")) a.two_buffers = 1;
		else if (!strcmp(option, "-spoil")) a.spoil = 1;
		else if (!other(option, value)) fail("unknown option");
	}
	if (argc % 2) fail("an option without a value");
	if (a.end < a.begin) a.end = a.begin;
	if (a.factor < 2 || a.iterations < 1) fail("-f: want at least 2; -n: want at least 1");
	return a;
}

// Operands and results

static inline float *allocate(size_t count) {
	void *p = NULL;
	size_t bytes = (count * sizeof(float) / HUGE_PAGE + 1) * HUGE_PAGE;
	if (posix_memalign(&p, HUGE_PAGE, bytes)) fail("no memory");
	madvise(p, bytes, MADV_HUGEPAGE);
	memset(p, 0, bytes);
	return (float *)p;
}

// rewrite gives the operand new contents, so that no call finds its data where the call before left it. The barrier keeps the
// compiler from leaving out a rewriting that is overwritten by the next.
static __attribute__((noinline)) void rewrite(const struct call *c, int round) {
	float value = (float)(round & 15);
	for (size_t i = 0; i < c->count; i++) c->in[i] = value;
	__asm__ volatile("" ::: "memory");
}

// Small integers: sums of them are exact in any order.
static inline float pattern(int rank, size_t i) { return (float)((i * 7 + (size_t)rank * 13) % 31 + 1); }

static inline float pattern_sum(int size, size_t i) {
	float sum = 0;
	for (int r = 0; r < size; r++) sum += pattern(r, i);
	return sum;
}

// expected is element i of the result on a rank, where the collective promises one.
static inline float expected(const struct world *w, const struct call *c, size_t i) {
	size_t block = c->count / (size_t)w->size, of = block ? i / block : 0;
	switch (c->collective) {
	case ALL_REDUCE: return pattern_sum(w->size, i);
	case REDUCE_SCATTER: return pattern_sum(w->size, i + (size_t)w->rank * block);
	case ALL_GATHER: return pattern((int)of, i);
	case ALL_TO_ALL: return pattern((int)of, i % block + (size_t)w->rank * block);
	default: return pattern(0, i); // rank 0's data, broadcast or sent to and fro
	}
}

// check makes one call and returns how many elements of all ranks are wrong after it.
static inline double check(const struct world *w, const struct call *c, int spoil) {
	for (size_t i = 0; i < c->count; i++) c->in[i] = pattern(w->rank, i);
	w->invoke(c);
	size_t promised = c->collective == REDUCE_SCATTER ? c->count / (size_t)w->size : c->count;
	if (c->collective == PING_PONG && w->rank > 1) promised = 0;
	if (spoil && w->rank == w->size - 1 && promised) c->out[promised / 2] += 1;
	double wrong = 0;
	for (size_t i = 0; i < promised; i++) wrong += c->out[i] != expected(w, c, i);
	w->sum(&wrong, 1);
	return wrong;
}

// Measuring

static inline double run_batch(const struct world *w, const struct call *c, int rounds) {
	w->barrier();
	double start = now();
	for (int i = 0; i < rounds; i++) {
		rewrite(c, i);
		w->invoke(c);
	}
	return now() - start;
}

static inline double run_rewrites(const struct call *c, int rounds) {
	double start = now();
	for (int i = 0; i < rounds; i++) rewrite(c, i);
	return now() - start;
}

// long_enough is the number of rounds, the same on all ranks, that make a batch.
static inline int long_enough(const struct world *w, const struct call *c) {
	for (int rounds = 8;; rounds *= 2) {
		double seconds = run_batch(w, c, rounds);
		w->sum(&seconds, 1);
		if (seconds >= BATCH_SECONDS * w->size || rounds >= 1 << 24) return rounds;
	}
}

// in_batches fills seconds with the mean time of a call in each batch.
static inline void in_batches(const struct world *w, const struct call *c, int rounds, double *seconds, int batches) {
	for (int i = 0; i < batches; i++) seconds[i] = (run_batch(w, c, rounds) - run_rewrites(c, rounds)) / rounds;
}

// one_by_one fills seconds with the time of each call; the rewriting is not part of it, nor is waiting for the others, if
// they are to be waited for.
static inline void one_by_one(const struct world *w, const struct call *c, double *seconds, int calls, int together) {
	for (int i = 0; i < calls; i++) {
		rewrite(c, i);
		if (together) w->barrier();
		double start = now();
		w->invoke(c);
		seconds[i] = now() - start;
	}
}

// Printing

// timed is the times of a size: the typical ones, and those of single calls, which have the rare ones. They may be the same.
struct timed {
	int calls; // that the typical ones come from
	int typicals, singles;
	double *typical, *single;
};

static inline int ascending(const void *a, const void *b) {
	double d = *(const double *)a - *(const double *)b;
	return (d > 0) - (d < 0);
}

static inline double quantile(const double *sorted, int n, double q) {
	int i = (int)(q * n);
	return sorted[i < n ? i : n - 1];
}

static inline double median_of(const double *sorted, int n) { return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2; }

// bus_factor turns bytes per second of the operand into bytes per second of the busiest link, as nccl-tests has it.
static inline double bus_factor(enum collective collective, double n) {
	if (collective == ALL_REDUCE) return 2 * (n - 1) / n;
	return is_divided(collective) ? (n - 1) / n : 1;
}

// to_microseconds makes sorted means of sums of seconds over all ranks. A ping-pong is there and back: half of it is its time.
static inline void to_microseconds(const struct world *w, const struct call *c, double *t, int n) {
	for (int i = 0; i < n; i++) t[i] *= 1e6 / w->size / (c->collective == PING_PONG ? 2 : 1);
	qsort(t, (size_t)n, sizeof *t, ascending);
}

static inline void print(const struct world *w, const struct call *c, const struct timed *t, double wrong) {
	double mean = 0, bytes = (double)(c->count * sizeof(float)), *s = t->single;
	int n = t->singles, sums = c->collective == ALL_REDUCE || c->collective == REDUCE_SCATTER;
	to_microseconds(w, c, t->typical, t->typicals);
	if (s != t->typical) to_microseconds(w, c, s, n);
	for (int i = 0; i < t->typicals; i++) mean += t->typical[i] / t->typicals;
	double median = median_of(t->typical, t->typicals), algbw = median > 0 ? bytes / median / 1e3 : 0;
	printf("{\"collective\":\"%s\",\"transport\":\"%s\",\"ranks\":%d,\"bytes\":%.0f,\"count\":%zu,\"type\":\"float32\",\"op\":\"%s\","
		"\"root\":%d,\"inPlace\":%s,\"registered\":false,\"algorithm\":\"%s\",\"iterations\":%d,",
		names[c->collective], w->transport, w->size, bytes, c->count / (is_divided(c->collective) ? (size_t)w->size : 1),
		sums ? "sum" : "", c->collective == BROADCAST ? 0 : -1, c->in_place ? "true" : "false", w->algorithm, t->calls);
	printf("\"microseconds\":{\"min\":%.6g,\"median\":%.6g,\"mean\":%.6g,\"p90\":%.6g,\"p99\":%.6g,\"p999\":%.6g,\"max\":%.6g},"
		"\"algbw\":%.6g,\"busbw\":%.6g,\"wrong\":%.0f}\n",
		t->typical[0], median, mean, quantile(s, n, .9), quantile(s, n, .99), quantile(s, n, .999), s[n - 1],
		algbw, algbw * bus_factor(c->collective, w->size), wrong);
	fflush(stdout);
}

static inline double *times(int n) {
	double *t = (double *)calloc((size_t)n, sizeof *t);
	if (!t) fail("no memory");
	return t;
}

static inline struct timed time_short(const struct world *w, const struct call *c, int iterations) {
	int rounds = long_enough(w, c), batches = iterations < LEAST_BATCHES ? LEAST_BATCHES : iterations;
	int singles = rounds > MOST_SINGLES / batches ? MOST_SINGLES : rounds * batches;
	struct timed t = {rounds * batches, batches, singles, times(batches), times(singles)};
	in_batches(w, c, rounds, t.typical, batches);
	one_by_one(w, c, t.single, singles, 0);
	w->sum(t.single, singles);
	return t;
}

static inline struct timed time_long(const struct world *w, const struct call *c, int iterations) {
	double *all = times(iterations);
	one_by_one(w, c, all, iterations, 1);
	return (struct timed){iterations, iterations, iterations, all, all};
}

// measure prints one line for one size.
static inline void measure(const struct world *w, const struct arguments *a, const struct call *c) {
	if (w->prepare) w->prepare(c);
	for (int i = 0; i < a->warmup; i++) {
		rewrite(c, i);
		w->invoke(c);
	}
	struct timed t = (c->count * sizeof(float) <= BATCHED_BYTES ? time_short : time_long)(w, c, a->iterations);
	w->sum(t.typical, t.typicals);
	double wrong = check(w, c, a->spoil);
	if (w->rank == 0) print(w, c, &t, wrong);
	if (t.single != t.typical) free(t.single);
	free(t.typical);
}

// count_of is the number of elements of a size: rounded down to the same for each rank, but at least one.
static inline size_t count_of(const struct world *w, enum collective collective, size_t bytes) {
	size_t blocks = is_divided(collective) ? (size_t)w->size : 1, block = bytes / sizeof(float) / blocks;
	return collective == BARRIER ? 0 : (block ? block : 1) * blocks;
}

static inline void measure_all(const struct world *w, const struct arguments *a) {
	size_t most = count_of(w, a->collective, a->end);
	float *in = allocate(most), *out = a->two_buffers ? allocate(most) : in;
	for (size_t bytes = a->begin;; bytes *= a->factor) {
		struct call c = {a->collective, !a->two_buffers, count_of(w, a->collective, bytes), in, out};
		measure(w, a, &c);
		if (a->collective == BARRIER || bytes > a->end / a->factor) break;
	}
	free(in);
	if (out != in) free(out);
}

#endif
