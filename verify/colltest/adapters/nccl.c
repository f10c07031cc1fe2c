//go:build ignore

// The collectives of NCCL, called by collgen conform: one process for each rank. Its GPU is that of its number, or of the remainder
// if there are fewer. The ranks meet in a folder.
//
//	gcc -O2 -o nccl nccl.c -lnccl -lcudart
//	collgen conform -- ./nccl {rank} {n} {dir}
//
// Not all versions of NCCL have a gather, a scatter and an all-to-all, and none has blocks of different lengths. These are groups of
// its sends, receives, broadcasts and reductions here. An all-to-all has no form in place.
#include <cuda_runtime.h>
#include <nccl.h>

#include "adapter.h"

static const struct {
	const char *name;
	ncclDataType_t type;
	int width;
} types[] = {
	{"int8", ncclInt8, 1}, {"uint8", ncclUint8, 1}, {"int32", ncclInt32, 4}, {"uint32", ncclUint32, 4},
	{"int64", ncclInt64, 8}, {"uint64", ncclUint64, 8}, {"float16", ncclFloat16, 2}, {"bfloat16", ncclBfloat16, 2},
	{"float32", ncclFloat32, 4}, {"float64", ncclFloat64, 8},
#if NCCL_VERSION_CODE >= 22400
	{"float8e4m3", ncclFloat8e4m3, 1}, {"float8e5m2", ncclFloat8e5m2, 1}, // reduced on GPUs of architecture 9.0 and newer
#endif
};

static const struct {
	const char *name;
	ncclRedOp_t op;
} ops[] = {{"sum", ncclSum}, {"prod", ncclProd}, {"min", ncclMin}, {"max", ncclMax}, {"avg", ncclAvg}};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static int rank, size;
static ncclComm_t comm;
static cudaStream_t stream;

// device is a call's buffers in the memory of the GPU.
struct device {
	char *in, *out;
	ncclDataType_t type;
	ncclRedOp_t op;
	size_t width; // of an element, in bytes
};

static char *block(char *at, const struct buffer *b, int i, const struct device *d) { return at + (size_t)b->starts[i] * d->width; }

// Calls. What a group has begun, it ends, whatever has failed.

static ncclResult_t group(ncclResult_t inside) {
	ncclResult_t end = ncclGroupEnd();
	return inside != ncclSuccess ? inside : end;
}

static ncclResult_t gather(struct call *c, struct device *d) {
	int own = !c->in_place || rank != c->root; // in place, the root's block is where it belongs
	ncclGroupStart();
	ncclResult_t r = own ? ncclSend(d->in, c->in.total, d->type, c->root, comm, stream) : ncclSuccess;
	for (int i = 0; i < c->out.blocks && r == ncclSuccess; i++)
		if (i != rank || own) r = ncclRecv(block(d->out, &c->out, i, d), c->out.counts[i], d->type, i, comm, stream);
	return group(r);
}

static ncclResult_t scatter(struct call *c, struct device *d) {
	int own = !c->in_place || rank != c->root;
	ncclGroupStart();
	ncclResult_t r = own ? ncclRecv(d->out, c->out.total, d->type, c->root, comm, stream) : ncclSuccess;
	for (int i = 0; i < c->in.blocks && r == ncclSuccess; i++)
		if (i != rank || own) r = ncclSend(block(d->in, &c->in, i, d), c->in.counts[i], d->type, i, comm, stream);
	return group(r);
}

static ncclResult_t all_to_all(struct call *c, struct device *d) {
	ncclResult_t r = ncclSuccess;
	ncclGroupStart();
	for (int i = 0; i < size && r == ncclSuccess; i++) {
		r = ncclSend(block(d->in, &c->in, i, d), c->in.counts[i], d->type, i, comm, stream);
		if (r == ncclSuccess) r = ncclRecv(block(d->out, &c->out, i, d), c->out.counts[i], d->type, i, comm, stream);
	}
	return group(r);
}

static ncclResult_t all_gather(struct call *c, struct device *d) {
	if (!c->uneven) return ncclAllGather(d->in, d->out, c->in.total, d->type, comm, stream);
	ncclResult_t r = ncclSuccess;
	ncclGroupStart();
	for (int i = 0; i < size && r == ncclSuccess; i++) {
		char *out = block(d->out, &c->out, i, d);
		r = ncclBroadcast(i == rank ? d->in : out, out, c->out.counts[i], d->type, i, comm, stream);
	}
	return group(r);
}

static ncclResult_t reduce_scatter(struct call *c, struct device *d) {
	if (!c->uneven) return ncclReduceScatter(d->in, d->out, c->out.total, d->type, d->op, comm, stream);
	ncclResult_t r = ncclSuccess;
	ncclGroupStart();
	for (int i = 0; i < size && r == ncclSuccess; i++)
		r = ncclReduce(block(d->in, &c->in, i, d), i == rank ? d->out : NULL, c->in.counts[i], d->type, d->op, i, comm, stream);
	return group(r);
}

static ncclResult_t send_or_receive(struct call *c, struct device *d) {
	if (rank == c->root) return ncclSend(d->in, c->in.total, d->type, c->peer, comm, stream);
	return ncclRecv(d->out, c->out.total, d->type, c->root, comm, stream);
}

// NCCL has no barrier: an all-reduce of one byte is one.
static ncclResult_t barrier(void) {
	static char *byte;
	if (!byte && cudaMalloc((void **)&byte, 1) != cudaSuccess) return ncclUnhandledCudaError;
	return ncclAllReduce(byte, byte, 1, ncclUint8, ncclSum, comm, stream);
}

static ncclResult_t dispatch(struct call *c, struct device *d) {
	const char *p = c->primitive;
	if (!strcmp(p, "AllGather")) return all_gather(c, d);
	if (!strcmp(p, "AllReduce")) return ncclAllReduce(d->in, d->out, c->in.total, d->type, d->op, comm, stream);
	if (!strcmp(p, "AllToAll")) return all_to_all(c, d);
	if (!strcmp(p, "Barrier")) return barrier();
	if (!strcmp(p, "Broadcast")) return ncclBroadcast(d->in, d->out, c->out.total, d->type, c->root, comm, stream);
	if (!strcmp(p, "Gather")) return gather(c, d);
	if (!strcmp(p, "Reduce")) return ncclReduce(d->in, d->out, c->in.total, d->type, d->op, c->root, comm, stream);
	if (!strcmp(p, "ReduceScatter")) return reduce_scatter(c, d);
	if (!strcmp(p, "Scatter")) return scatter(c, d);
	if (!strcmp(p, "Send")) return send_or_receive(c, d);
	fail("a primitive that was not offered");
	return ncclInternalError;
}

// The memory of the GPU

// around is how many of the known bytes on both sides of the buffers are copied, too, so that it is seen who changes them.
#define around 64

// span finds the first byte of the buffers of c, and returns how many there are up to the last one.
static size_t span(const struct call *c, size_t width, char **first) {
	const struct buffer *both[] = {&c->in, &c->out};
	char *end = *first = NULL;
	for (int i = 0; i < 2; i++) {
		char *at = both[i]->at;
		if (!at) continue;
		if (!*first || at < *first) *first = at;
		at += (size_t)both[i]->total * width;
		if (at > end) end = at;
	}
	return (size_t)(end - *first);
}

static const char *cuda_error(cudaError_t e) { return e == cudaSuccess ? NULL : cudaGetErrorString(e); }

// reserve returns n bytes of the GPU's memory, the same as before if these are enough.
static char *reserve(size_t n) {
	static char *memory;
	static size_t has;
	if (n > has) {
		if (memory) cudaFree(memory);
		has = 2 * n;
		if (cudaMalloc((void **)&memory, has) != cudaSuccess) fail("the GPU has not enough memory");
	}
	return memory;
}

static void choose(struct device *d, const struct call *c) {
	for (size_t i = 0; i < LENGTH(types); i++)
		if (!strcmp(types[i].name, c->type)) d->type = types[i].type, d->width = (size_t)types[i].width;
	for (size_t i = 0; i < LENGTH(ops); i++)
		if (!strcmp(ops[i].name, c->op)) d->op = ops[i].op;
}

// invoke makes the call on a copy of its buffers in the GPU's memory, with the same alignment.
static const char *invoke(struct call *c) {
	struct device d = {NULL, NULL, ncclInt8, ncclSum, 1};
	choose(&d, c);
	char *first, *copy = NULL;
	size_t n = span(c, d.width, &first);
	const char *error = NULL;
	if (first) {
		first -= around, n += 2 * around;
		copy = reserve(n + 64) + (uintptr_t)first % 64;
		d.in = c->in.at ? copy + (c->in.at - first) : NULL, d.out = c->out.at ? copy + (c->out.at - first) : NULL;
		error = cuda_error(cudaMemcpyAsync(copy, first, n, cudaMemcpyHostToDevice, stream));
	}
	if (!error) {
		ncclResult_t r = dispatch(c, &d);
		if (r != ncclSuccess) error = ncclGetErrorString(r);
	}
	if (!error && first) error = cuda_error(cudaMemcpyAsync(first, copy, n, cudaMemcpyDeviceToHost, stream));
	return error ? error : cuda_error(cudaStreamSynchronize(stream));
}

// Beginning

static void check_cuda(cudaError_t e, const char *what) {
	if (e == cudaSuccess) return;
	fprintf(stderr, "adapter: %s: %s\n", what, cudaGetErrorString(e));
	exit(2);
}

// meet returns the number of a communicator that rank 0 has made, and that comes in a file.
static ncclUniqueId meet(const char *folder) {
	ncclUniqueId id;
	char to[4096], written[4096 + 8];
	snprintf(to, sizeof to, "%s/id", folder), snprintf(written, sizeof written, "%s.new", to);
	if (rank == 0) {
		FILE *f = fopen(written, "w");
		if (ncclGetUniqueId(&id) != ncclSuccess || !f || fwrite(&id, sizeof id, 1, f) != 1 || fclose(f) || rename(written, to))
			fail("no number of a communicator");
		return id;
	}
	FILE *f;
	while (!(f = fopen(to, "r"))) usleep(1000);
	if (fread(&id, sizeof id, 1, f) != 1) fail("no number of a communicator");
	fclose(f);
	return id;
}

static void connect_ranks(const char *folder) {
	int gpus = 0;
	check_cuda(cudaGetDeviceCount(&gpus), "NCCL needs a GPU");
	if (gpus == 0) fail("NCCL needs a GPU, and there is none");
	check_cuda(cudaSetDevice(rank % gpus), "no GPU for this rank");
	check_cuda(cudaStreamCreate(&stream), "no stream");
	ncclResult_t r = ncclCommInitRank(&comm, size, meet(folder), rank);
	if (r != ncclSuccess) fail(ncclGetErrorString(r));
}

static void offer(void) {
	char name[64];
	int version = 0;
	ncclGetVersion(&version);
	snprintf(name, sizeof name, "NCCL %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
	introduce(rank, size, name);
	fputs("types", to_collgen);
	for (size_t i = 0; i < LENGTH(types); i++) fprintf(to_collgen, " %s", types[i].name);
	fputs("\nops", to_collgen);
	for (size_t i = 0; i < LENGTH(ops); i++) fprintf(to_collgen, " %s", ops[i].name);
	say("\nvalues overflow");
	const char *both[] = {"AllReduce", "Broadcast", "Reduce"};
	for (size_t i = 0; i < LENGTH(both); i++) say("primitive %s apart in-place", both[i]);
	const char *uneven[] = {"AllGather", "Gather", "ReduceScatter", "Scatter"};
	for (size_t i = 0; i < LENGTH(uneven); i++) say("primitive %s apart in-place uneven", uneven[i]);
	say("primitive AllToAll apart uneven");
	say("primitive Barrier apart");
	say("primitive Send apart");
}

int main(int argc, char **argv) {
	if (argc != 4) fail("want a rank, a number of ranks, and a folder");
	rank = atoi(argv[1]), size = atoi(argv[2]);
	connect_ranks(argv[3]);
	offer();
	serve(invoke);
	ncclCommDestroy(comm);
	return 0;
}
