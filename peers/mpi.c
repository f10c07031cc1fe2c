//go:build ignore

// Times the collectives of an MPI library. See measure.h for the method, and main.go for how it is started.
#include <mpi.h>

#include "measure.h"

static struct world world = {.transport = "shm", .algorithm = ""};
static int counts[MAX_RANKS]; // of MPI_Reduce_scatter, if that is to be used instead of MPI_Reduce_scatter_block
static int by_counts;

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

static void sum(double *values, int n) { MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

static void reduce_scatter(const void *in, float *out, int block) {
	if (!by_counts) {
		MPI_Reduce_scatter_block(in, out, block, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
		return;
	}
	for (int i = 0; i < world.size; i++) counts[i] = block;
	MPI_Reduce_scatter(in, out, counts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

// all_gather out of place has its operand where the block of this rank is in the input, so that the check is the same.
static void all_gather(const struct call *c, int block) {
	const void *own = c->in_place ? MPI_IN_PLACE : (void *)(c->in + (size_t)block * (size_t)world.rank);
	MPI_Allgather(own, block, MPI_FLOAT, c->out, block, MPI_FLOAT, MPI_COMM_WORLD);
}

static void ping_pong(float *buf, int count) {
	if (world.rank == 0) {
		MPI_Send(buf, count, MPI_FLOAT, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(buf, count, MPI_FLOAT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (world.rank == 1) {
		MPI_Recv(buf, count, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(buf, count, MPI_FLOAT, 0, 0, MPI_COMM_WORLD);
	}
}

static void invoke(const struct call *c) {
	const void *in = c->in_place ? MPI_IN_PLACE : c->in;
	int count = (int)c->count, block = count / world.size;
	switch (c->collective) {
	case ALL_REDUCE: MPI_Allreduce(in, c->out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); break;
	case BROADCAST: MPI_Bcast(c->out, count, MPI_FLOAT, 0, MPI_COMM_WORLD); break;
	case REDUCE_SCATTER: reduce_scatter(in, c->out, block); break;
	case ALL_GATHER: all_gather(c, block); break;
	case ALL_TO_ALL: MPI_Alltoall(in, block, MPI_FLOAT, c->out, block, MPI_FLOAT, MPI_COMM_WORLD); break;
	case BARRIER: barrier(); break;
	default: ping_pong(c->out, count);
	}
}

static int option(const char *name, const char *value) {
	if (!strcmp(name, "-transport")) world.transport = value;
	else if (!strcmp(name, "-algorithm")) world.algorithm = value;
	else if (!strcmp(name, "-reduce-scatter")) by_counts = !strcmp(value, "counts");
	else return 0;
	return 1;
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	struct arguments a = parse(argc, argv, option);
	MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &world.size);
	if (world.size > MAX_RANKS) fail("too many ranks");
	world.invoke = invoke, world.barrier = barrier, world.sum = sum;
	measure_all(&world, &a);
	return MPI_Finalize();
}
