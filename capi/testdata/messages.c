/* Messages with tags. */
#include <stdio.h>
#include <stdlib.h>

#include "program.h"

enum { SECOND = 1000000000, LONG = 100000 };

static int receive(struct rank *r, int32_t *x, int from, int tag, collgen_status *s) {
	return collgen_message_recv(r->comm, x, 1, COLLGEN_INT32, from, tag, s, NULL, NULL);
}

/* run_messages has every rank send to all, itself included, and receive in another order. */
int run_messages(struct rank *r) {
	int wrong = 0, size = r->size, over, canceled = -1, from[16] = {0};
	int32_t x, one = 1;
	int32_t *out = malloc(LONG * sizeof *out), *in = calloc(LONG, sizeof *in);
	collgen_work works[16], late;
	collgen_status s = {-5, -5, -5}, all[16];
	collgen_options o = {.size = sizeof o, .timeout = SECOND / 50};

	for (int to = 0; to < size; to++) /* short ones, whose order is that of tags 2, 1, 1 */
		for (int i = 0; i < 3; i++) {
			x = 100 * r->rank + i;
			CHECK(collgen_message_send(r->comm, &x, 1, COLLGEN_INT32, to, i == 0 ? 2 : 1, NULL, NULL) == COLLGEN_OK);
		}
	for (int i = 0; i < size; i++) {
		CHECK(receive(r, &x, i, 1, &s) == COLLGEN_OK && x == 100 * i + 1 && s.source == i && s.tag == 1 && s.count == 1);
		CHECK(receive(r, &x, COLLGEN_ANY, 2, &s) == COLLGEN_OK && x == 100 * s.source && s.tag == 2);
		CHECK(from[s.source]++ == 0);
		CHECK(receive(r, &x, i, 1, NULL) == COLLGEN_OK && x == 100 * i + 2);
	}

	for (int i = 0; i < LONG; i++)
		out[i] = r->rank + i;
	for (int i = 0; i < size; i++) { /* long ones, which begin by themselves, beside a collective */
		all[i].source = -5;
		CHECK(collgen_message_recv(r->comm, in + (LONG / size) * i, LONG / size, COLLGEN_INT32, COLLGEN_ANY, 10 + i, &all[i],
				NULL, &works[i]) == COLLGEN_OK);
	}
	CHECK(collgen_message_send(r->comm, out, LONG / size, COLLGEN_INT32, (r->rank + 1) % size, 10 + r->rank, NULL, &late) ==
		COLLGEN_OK);
	CHECK(collgen_allreduce(r->comm, COLLGEN_IN_PLACE, &one, 1, COLLGEN_INT32, COLLGEN_SUM, NULL, NULL) == COLLGEN_OK);
	CHECK(one == size);
	int previous = (r->rank + size - 1) % size;
	CHECK(collgen_wait(works[previous], -1) == COLLGEN_OK && all[previous].source == previous);
	CHECK(all[previous].tag == 10 + previous && all[previous].count == LONG / size);
	for (int i = 0; i < LONG / size; i++)
		CHECK(in[(LONG / size) * previous + i] == previous + i);
	CHECK(collgen_wait(late, -1) == COLLGEN_OK);
	for (int i = 0; i < size; i++) /* nobody sends the others */
		if (i != previous) {
			CHECK(collgen_test(works[i]) == COLLGEN_NOT_OVER && collgen_peek(works[i], &over) == COLLGEN_OK && over == 0);
			CHECK(collgen_cancel(works[i], &canceled) == COLLGEN_OK && canceled == 1);
			CHECK(collgen_wait(works[i], -1) == COLLGEN_CANCELED && all[i].source == 0);
			CHECK(collgen_cancel(works[i], &canceled) == COLLGEN_INVALID_ARGUMENT);
		}

	/* a timeout leaves the communicator as it is */
	CHECK(collgen_message_recv(r->comm, &x, 1, COLLGEN_INT32, 0, 99, NULL, &o, NULL) == COLLGEN_TIMEOUT);
	CHECK(collgen_message_send(r->comm, out, 2, COLLGEN_INT32, r->rank, 3, NULL, NULL) == COLLGEN_OK);
	CHECK(receive(r, &x, COLLGEN_ANY, COLLGEN_ANY, NULL) == COLLGEN_TRUNCATED);
	CHECK(collgen_message_send(r->comm, out, 2, COLLGEN_INT32, r->rank, 3, NULL, NULL) == COLLGEN_OK);
	CHECK(collgen_message_recv(r->comm, in, 2, COLLGEN_FLOAT32, r->rank, 3, NULL, NULL, NULL) == COLLGEN_MISMATCH);
	CHECK(collgen_message_recv(r->comm, in, 0, COLLGEN_INT32, size, 3, NULL, NULL, NULL) == COLLGEN_INVALID_ARGUMENT);
	CHECK(collgen_message_send(r->comm, out, 1, COLLGEN_INT32, COLLGEN_ANY, 3, NULL, &late) == COLLGEN_INVALID_ARGUMENT);
	CHECK(late == 0);
	CHECK(collgen_message_send(r->comm, out, 1, COLLGEN_INT32, 0, -7, NULL, NULL) == COLLGEN_INVALID_ARGUMENT);
	CHECK(collgen_message_send(r->comm, NULL, 1, COLLGEN_INT32, 0, 1, NULL, NULL) == COLLGEN_INVALID_ARGUMENT);
	CHECK(collgen_message_send(r->comm, out, -1, COLLGEN_INT32, 0, 1, NULL, NULL) == COLLGEN_INVALID_ARGUMENT);
	CHECK(collgen_message_send(r->comm, out, 1, 99, 0, 1, NULL, NULL) == COLLGEN_INVALID_ARGUMENT);
	CHECK(collgen_cancel(0, &canceled) == COLLGEN_INVALID_ARGUMENT);
	CHECK(collgen_barrier(r->comm, NULL, NULL) == COLLGEN_OK);
	free(out);
	free(in);
	return wrong;
}
