#ifndef PROGRAM_H
#define PROGRAM_H

#include "collgen.h"

/* A rank, a thread or a process. */
struct rank {
	collgen_comm comm;
	int rank, size, plant;
	int threads; /* ranks are threads of one process */
};

/* The parts of the test return how much was wrong. */
int run_collectives(struct rank *r);
int run_started(struct rank *r);
int run_messages(struct rank *r);
int run_refused(struct rank *r);
int run_misuse(struct rank *r);
int run_groups(struct rank *r);
int run_timeout(struct rank *r);
int run_mismatch(struct rank *r);
int run_killed(struct rank *r);
int run_fork(struct rank *r);
int run_bench(struct rank *r);

#define CHECK(holds) \
	do { \
		if (!(holds)) { \
			fprintf(stderr, "%s:%d, rank %d: not %s: %s\n", __FILE__, __LINE__, r->rank, #holds, \
				collgen_last_error()->text); \
			wrong++; \
		} \
	} while (0)

#endif
