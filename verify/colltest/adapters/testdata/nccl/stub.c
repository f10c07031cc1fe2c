// NCCL as nccl.c uses it, on the memory of the host: the ranks are processes, which exchange data over sockets. It tests the adapter
// where there is no GPU. With -DSPOIL, reductions get the first of 5 or more elements wrong.
#define _GNU_SOURCE
#include "nccl.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define most 16 // ranks, and calls of a group for each of them

// move is data that this rank sends or receives, count elements.
struct move {
	char *at;
	size_t count, width;
	int peer;
	int first, last; // of the operands of a reduction; both: not one
	ncclDataType_t type;
	ncclRedOp_t op;
};

static struct move sends[most * most], receives[most * most];
static int sending, receiving, depth, rank, size, to[most], from[most];
static const size_t widths[] = {1, 1, 4, 4, 8, 8, 2, 2, 4, 8};

static void all(int s, char *at, size_t n, int writes) {
	for (ssize_t k; n; at += k, n -= (size_t)k)
		if ((k = writes ? write(s, at, n) : read(s, at, n)) <= 0) _exit(3);
}

#define REDUCE(TYPE, T) \
	case TYPE: \
		for (size_t i = 0; i < m->count; i++) { \
			T *a = (T *)m->at + i, x = ((const T *)y)[i]; \
			if (m->op == ncclSum || m->op == ncclAvg) *a = (T)(*a + x); \
			else if (m->op == ncclProd) *a = (T)(*a * x); \
			else if (m->op == ncclMin ? x < *a : x > *a) *a = x; \
		} \
		if (m->op == ncclAvg && m->last) \
			for (size_t i = 0; i < m->count; i++) ((T *)m->at)[i] = (T)(((T *)m->at)[i] / (T)size); \
		break;

static void reduce(const struct move *m, const char *y) {
	switch (m->type) {
		REDUCE(ncclInt8, int8_t) REDUCE(ncclUint8, uint8_t) REDUCE(ncclInt32, int32_t) REDUCE(ncclUint32, uint32_t)
		REDUCE(ncclInt64, int64_t) REDUCE(ncclUint64, uint64_t) REDUCE(ncclFloat32, float) REDUCE(ncclFloat64, double)
		default: _exit(4);
	}
#ifdef SPOIL
	if (m->count >= 5) m->at[0]++;
#endif
}

static void *send_all(void *nothing) {
	for (int i = 0; i < sending; i++) all(to[sends[i].peer], sends[i].at, sends[i].count * sends[i].width, 1), free(sends[i].at);
	return nothing;
}

static void receive(const struct move *m) {
	size_t n = m->count * m->width;
	char *data = malloc(n + 1);
	all(from[m->peer], data, n, 0);
	if (m->first) memcpy(m->at, data, n);
	else reduce(m, data);
	free(data);
}

ncclResult_t ncclGroupStart(void) { return depth++, ncclSuccess; }

ncclResult_t ncclGroupEnd(void) {
	pthread_t sender;
	if (--depth) return ncclSuccess;
	pthread_create(&sender, NULL, send_all, NULL);
	for (int i = 0; i < receiving; i++) receive(&receives[i]);
	pthread_join(sender, NULL);
	sending = receiving = 0;
	return ncclSuccess;
}

ncclResult_t ncclSend(const void *at, size_t n, ncclDataType_t t, int peer, ncclComm_t c, cudaStream_t s) {
	char *copy = malloc(n * widths[t] + 1);
	memcpy(copy, at, n * widths[t]);
	ncclGroupStart();
	sends[sending++] = (struct move){copy, n, widths[t], peer, 1, 1, t, ncclSum};
	return ncclGroupEnd() + c + s;
}

// receive_part receives an operand.
static void receive_part(void *at, size_t n, ncclDataType_t t, ncclRedOp_t op, int peer) {
	receives[receiving++] = (struct move){at, n, widths[t], peer, peer == 0, peer == size - 1, t, op};
}

ncclResult_t ncclRecv(void *at, size_t n, ncclDataType_t t, int peer, ncclComm_t c, cudaStream_t s) {
	ncclGroupStart();
	receives[receiving++] = (struct move){at, n, widths[t], peer, 1, 1, t, ncclSum};
	return ncclGroupEnd() + c + s;
}

ncclResult_t ncclBroadcast(const void *in, void *out, size_t n, ncclDataType_t t, int root, ncclComm_t c, cudaStream_t s) {
	ncclGroupStart();
	for (int i = 0; i < size && rank == root; i++) ncclSend(in, n, t, i, c, s);
	ncclRecv(out, n, t, root, c, s);
	return ncclGroupEnd();
}

ncclResult_t ncclReduce(const void *in, void *out, size_t n, ncclDataType_t t, ncclRedOp_t op, int root, ncclComm_t c,
	cudaStream_t s) {
	ncclGroupStart();
	ncclSend(in, n, t, root, c, s);
	for (int i = 0; i < size && rank == root; i++) receive_part(out, n, t, op, i);
	return ncclGroupEnd();
}

ncclResult_t ncclAllReduce(const void *in, void *out, size_t n, ncclDataType_t t, ncclRedOp_t op, ncclComm_t c, cudaStream_t s) {
	ncclGroupStart();
	for (int i = 0; i < size; i++) ncclReduce(in, out, n, t, op, i, c, s);
	return ncclGroupEnd();
}

ncclResult_t ncclReduceScatter(const void *in, void *out, size_t n, ncclDataType_t t, ncclRedOp_t op, ncclComm_t c, cudaStream_t s) {
	ncclGroupStart();
	for (int i = 0; i < size; i++) ncclReduce((const char *)in + (size_t)i * n * widths[t], out, n, t, op, i, c, s);
	return ncclGroupEnd();
}

ncclResult_t ncclAllGather(const void *in, void *out, size_t n, ncclDataType_t t, ncclComm_t c, cudaStream_t s) {
	ncclGroupStart();
	for (int i = 0; i < size; i++) ncclBroadcast(in, (char *)out + (size_t)i * n * widths[t], n, t, i, c, s);
	return ncclGroupEnd();
}

// address is that of a rank: abstract, without a file.
static socklen_t address(struct sockaddr_un *a, const ncclUniqueId *id, int of) {
	memset(a, 0, sizeof *a);
	a->sun_family = AF_UNIX;
	int n = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "collgen-stub-%.40s-%d", id->internal, of);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

ncclResult_t ncclCommInitRank(ncclComm_t *c, int n, ncclUniqueId id, int self) {
	struct sockaddr_un a;
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), own[2];
	socklen_t length = address(&a, &id, self);
	*c = 0, rank = self, size = n;
	if (n > most || bind(listener, (struct sockaddr *)&a, length) || listen(listener, most)) return ncclInternalError;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, own)) return ncclInternalError;
	to[rank] = own[0], from[rank] = own[1];
	for (int peer = 0; peer < rank; peer++) {
		int s = socket(AF_UNIX, SOCK_STREAM, 0);
		length = address(&a, &id, peer);
		while (connect(s, (struct sockaddr *)&a, length)) usleep(1000);
		all(s, (char *)&rank, sizeof rank, 1);
		to[peer] = from[peer] = s;
	}
	for (int i = rank + 1; i < size; i++) {
		int s = accept(listener, NULL, NULL), peer;
		all(s, (char *)&peer, sizeof peer, 0);
		to[peer] = from[peer] = s;
	}
	return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) { return snprintf(id->internal, 40, "%ld", (long)getpid()), ncclSuccess; }
ncclResult_t ncclGetVersion(int *version) { return *version = NCCL_VERSION_CODE, ncclSuccess; }
ncclResult_t ncclCommDestroy(ncclComm_t c) { return (ncclResult_t)c; }
const char *ncclGetErrorString(ncclResult_t r) { return r ? "an error" : "none"; }
