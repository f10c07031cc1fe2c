//go:build ignore

// The collectives of an MPI library, called by collgen conform:
//
//	mpicc -O2 -o mpi mpi.c
//	collgen conform -- mpirun -n {n} ./mpi
//
// Where MPI means something else than collgen, this program makes up for it: MPI_Bcast has one buffer, and MPI_Reduce_scatter in
// place leaves its result at the beginning of its only one.
#define _GNU_SOURCE
#include <complex.h>
#include <mpi.h>

#include "adapter.h"

static const struct {
	const char *name;
	MPI_Datatype type;
} types[] = {
	{"int8", MPI_INT8_T}, {"int16", MPI_INT16_T}, {"int32", MPI_INT32_T}, {"int64", MPI_INT64_T},
	{"uint8", MPI_UINT8_T}, {"uint16", MPI_UINT16_T}, {"uint32", MPI_UINT32_T}, {"uint64", MPI_UINT64_T},
	{"float32", MPI_FLOAT}, {"float64", MPI_DOUBLE}, {"complex64", MPI_C_FLOAT_COMPLEX}, {"complex128", MPI_C_DOUBLE_COMPLEX},
	{"bool", MPI_C_BOOL}, // MPI has no floats of 16 or 8 bits
};

static const struct {
	const char *name;
	MPI_Op op;
} ops[] = {
	{"sum", MPI_SUM}, {"prod", MPI_PROD}, {"min", MPI_MIN}, {"max", MPI_MAX},
	{"band", MPI_BAND}, {"bor", MPI_BOR}, {"bxor", MPI_BXOR}, {"land", MPI_LAND}, {"lor", MPI_LOR},
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static int rank, size;

static MPI_Datatype type_of(const struct call *c) {
	for (size_t i = 0; i < LENGTH(types); i++)
		if (!strcmp(types[i].name, c->type)) return types[i].type;
	fail("a type that was not offered");
	return MPI_DATATYPE_NULL;
}

static MPI_Op op_of(const struct call *c) {
	for (size_t i = 0; i < LENGTH(ops); i++)
		if (!strcmp(ops[i].name, c->op)) return ops[i].op;
	return MPI_OP_NULL;
}

static size_t bytes(const struct buffer *b, MPI_Datatype t) {
	int n;
	MPI_Type_size(t, &n);
	return (size_t)b->total * (size_t)n;
}

static int broadcast(struct call *c, MPI_Datatype t) {
	if (rank == c->root && c->in.at != c->out.at) memcpy(c->out.at, c->in.at, bytes(&c->in, t));
	return MPI_Bcast(c->out.at, c->out.total, t, c->root, MPI_COMM_WORLD);
}

static int gather(struct call *c, MPI_Datatype t) {
	const void *own = c->in_place && rank == c->root ? MPI_IN_PLACE : c->in.at;
	if (c->uneven) return MPI_Gatherv(own, c->in.total, t, c->out.at, c->out.counts, c->out.starts, t, c->root, MPI_COMM_WORLD);
	return MPI_Gather(own, c->in.total, t, c->out.at, c->in.total, t, c->root, MPI_COMM_WORLD);
}

static int scatter(struct call *c, MPI_Datatype t) {
	void *own = c->in_place && rank == c->root ? MPI_IN_PLACE : c->out.at;
	if (c->uneven) return MPI_Scatterv(c->in.at, c->in.counts, c->in.starts, t, own, c->out.total, t, c->root, MPI_COMM_WORLD);
	return MPI_Scatter(c->in.at, c->out.total, t, own, c->out.total, t, c->root, MPI_COMM_WORLD);
}

static int all_gather(struct call *c, MPI_Datatype t) {
	const void *own = c->in_place ? MPI_IN_PLACE : c->in.at;
	if (c->uneven) return MPI_Allgatherv(own, c->in.total, t, c->out.at, c->out.counts, c->out.starts, t, MPI_COMM_WORLD);
	return MPI_Allgather(own, c->in.total, t, c->out.at, c->in.total, t, MPI_COMM_WORLD);
}

static int all_to_all(struct call *c, MPI_Datatype t) {
	const void *own = c->in_place ? MPI_IN_PLACE : c->in.at;
	if (c->uneven)
		return MPI_Alltoallv(own, c->in.counts, c->in.starts, t, c->out.at, c->out.counts, c->out.starts, t, MPI_COMM_WORLD);
	return MPI_Alltoall(own, c->in.counts[0], t, c->out.at, c->in.counts[0], t, MPI_COMM_WORLD);
}

static int reduce(struct call *c, MPI_Datatype t) {
	const void *own = c->in_place && rank == c->root ? MPI_IN_PLACE : c->in.at;
	return MPI_Reduce(own, c->out.at, c->in.total, t, op_of(c), c->root, MPI_COMM_WORLD);
}

static int reduce_scatter(struct call *c, MPI_Datatype t) {
	void *in = c->in.at, *out = c->out.at;
	const void *own = in;
	if (c->in_place) {
		own = MPI_IN_PLACE, out = malloc(bytes(&c->in, t) + 1);
		memcpy(out, in, bytes(&c->in, t));
	}
	int error = c->uneven ? MPI_Reduce_scatter(own, out, c->in.counts, t, op_of(c), MPI_COMM_WORLD)
				 : MPI_Reduce_scatter_block(own, out, c->out.total, t, op_of(c), MPI_COMM_WORLD);
	if (c->in_place) memcpy(c->out.at, out, bytes(&c->out, t)), free(out);
	return error;
}

static int send_or_receive(struct call *c, MPI_Datatype t) {
	if (rank == c->root) return MPI_Send(c->in.at, c->in.total, t, c->peer, 0, MPI_COMM_WORLD);
	return MPI_Recv(c->out.at, c->out.total, t, c->root, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int dispatch(struct call *c) {
	MPI_Datatype t = type_of(c);
	const char *p = c->primitive;
	if (!strcmp(p, "AllGather")) return all_gather(c, t);
	if (!strcmp(p, "AllReduce"))
		return MPI_Allreduce(c->in_place ? MPI_IN_PLACE : c->in.at, c->out.at, c->in.total, t, op_of(c), MPI_COMM_WORLD);
	if (!strcmp(p, "AllToAll")) return all_to_all(c, t);
	if (!strcmp(p, "Barrier")) return MPI_Barrier(MPI_COMM_WORLD);
	if (!strcmp(p, "Broadcast")) return broadcast(c, t);
	if (!strcmp(p, "Gather")) return gather(c, t);
	if (!strcmp(p, "Reduce")) return reduce(c, t);
	if (!strcmp(p, "ReduceScatter")) return reduce_scatter(c, t);
	if (!strcmp(p, "Scatter")) return scatter(c, t);
	if (!strcmp(p, "Send")) return send_or_receive(c, t);
	fail("a primitive that was not offered");
	return MPI_ERR_OTHER;
}

static const char *invoke(struct call *c) {
	static char text[MPI_MAX_ERROR_STRING];
	int error = dispatch(c), length;
	if (error == MPI_SUCCESS) return NULL;
	MPI_Error_string(error, text, &length);
	return strtok(text, "\n");
}

static void offer(void) {
	char name[MPI_MAX_LIBRARY_VERSION_STRING];
	int length;
	MPI_Get_library_version(name, &length);
	introduce(rank, size, strtok(name, "\n"));
	fputs("types", to_collgen);
	for (size_t i = 0; i < LENGTH(types); i++) fprintf(to_collgen, " %s", types[i].name);
	fputs("\nops", to_collgen);
	for (size_t i = 0; i < LENGTH(ops); i++) fprintf(to_collgen, " %s", ops[i].name);
	say("\nvalues overflow");
	const char *both[] = {"AllReduce", "Broadcast", "Reduce"};
	for (size_t i = 0; i < LENGTH(both); i++) say("primitive %s apart in-place", both[i]);
	const char *uneven[] = {"AllGather", "AllToAll", "Gather", "ReduceScatter", "Scatter"};
	for (size_t i = 0; i < LENGTH(uneven); i++) say("primitive %s apart in-place uneven", uneven[i]);
	say("primitive Barrier apart");
	say("primitive Send apart");
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	offer();
	serve(invoke);
	MPI_Finalize();
	return 0;
}
