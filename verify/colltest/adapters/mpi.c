//go:build ignore

// The collectives of an MPI library, called by collgen conform:
//
//	mpicc -O2 -o mpi mpi.c
//	collgen conform -- mpirun -n {n} ./mpi
//
// With the argument "nonblocking" it makes all calls by their nonblocking forms, and with "persistent" by persistent ones.
// These come with MPI 4. Compile with -DPERSISTENT= for a library that has them under their names, such as MPI_Bcast_init,
// and with -DPERSISTENT=X for one that has MPIX_Bcast_init and so on.
//
// Where MPI means something else than collgen, this program makes up for it: MPI_Bcast has one buffer, MPI_Reduce_scatter in
// place leaves its result at the beginning of its only one, and MPI_Exscan may change the output of rank 0.
#define _GNU_SOURCE
#include <complex.h>
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

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

enum mode { BLOCKING, NONBLOCKING, PERSISTENTLY };

static int rank, size;
static enum mode usual;     // of calls that collgen wants to be made at once
static MPI_Op composition; // collgen's op "compose"

// The communicators that collgen has asked for, by number; 0 is that of all ranks.
static struct communicator {
	MPI_Comm comm, ring; // ring: the ranks of comm on a grid of one dimension
	int rank, size;
} *comms;

static const struct communicator *of(const struct call *c) { return &comms[c->comm]; }

static MPI_Datatype type_of(const struct call *c) {
	for (size_t i = 0; i < LENGTH(types); i++)
		if (!strcmp(types[i].name, c->type)) return types[i].type;
	fail("a type that was not offered");
	return MPI_DATATYPE_NULL;
}

static MPI_Op op_of(const struct call *c) {
	if (!strcmp(c->op, "compose")) return composition;
	for (size_t i = 0; i < LENGTH(ops); i++)
		if (!strcmp(ops[i].name, c->op)) return ops[i].op;
	return MPI_OP_NULL;
}

static size_t bytes(const struct buffer *b, MPI_Datatype t) {
	int n;
	MPI_Type_size(t, &n);
	return (size_t)b->total * (size_t)n;
}

static int is(const struct call *c, const char *primitive) { return !strcmp(c->primitive, primitive); }

// Of a call's own words, the first is its request, and the second the memory that stands for an output.
static MPI_Request *request(struct call *c) { return (MPI_Request *)&c->own[0]; }

static char **stand_in(struct call *c) { return (char **)&c->own[1]; }

// needs_stand_in reports whether MPI may write where collgen's call does not.
static int needs_stand_in(const struct call *c) {
	return (c->in_place && !strncmp(c->primitive, "ReduceScatter", 13)) || (is(c, "Exscan") && of(c)->rank == 0);
}

// before copies what MPI takes from another place than collgen.
static void before(struct call *c) {
	MPI_Datatype t = type_of(c);
	if (is(c, "Broadcast") && of(c)->rank == c->root && c->in.at != c->out.at) memcpy(c->out.at, c->in.at, bytes(&c->in, t));
	if (!needs_stand_in(c)) return;
	if (!*stand_in(c)) *stand_in(c) = malloc(bytes(&c->in, t) + 1);
	memcpy(*stand_in(c), c->in.at, bytes(&c->in, t));
}

// after copies what MPI leaves in another place than collgen.
static void after(struct call *c) {
	if (*stand_in(c) && !is(c, "Exscan")) memcpy(c->out.at, *stand_in(c), bytes(&c->out, type_of(c)));
}

static void let_go(struct call *c) {
	free(*stand_in(c));
	*stand_in(c) = NULL;
}

#define JOIN3(a, b, c) a##b##c
#define INIT_NAME(x, name) JOIN3(MPI, x, _##name##_init)
#ifdef PERSISTENT
#define INIT(name, ...) INIT_NAME(PERSISTENT, name)(__VA_ARGS__, MPI_INFO_NULL, request(c))
#else
#define INIT(name, ...) MPI_ERR_OTHER
#endif

// EACH calls an MPI function by its name, or its other forms: MPI_Bcast, MPI_Ibcast, MPI_Bcast_init.
#define EACH(name, iname, ...) \
	(mode == BLOCKING ? MPI_##name(__VA_ARGS__) : mode == NONBLOCKING ? MPI_##iname(__VA_ARGS__, request(c)) : INIT(name, __VA_ARGS__))

static int send_or_receive(struct call *c, MPI_Datatype t, enum mode mode, MPI_Comm comm) {
	if (of(c)->rank != c->root) {
		if (mode == BLOCKING) return MPI_Recv(c->out.at, c->out.total, t, c->root, c->tag, comm, MPI_STATUS_IGNORE);
		return (mode == NONBLOCKING ? MPI_Irecv : MPI_Recv_init)(c->out.at, c->out.total, t, c->root, c->tag, comm, request(c));
	}
	if (mode == BLOCKING) return MPI_Send(c->in.at, c->in.total, t, c->peer, c->tag, comm);
	return (mode == NONBLOCKING ? MPI_Isend : MPI_Send_init)(c->in.at, c->in.total, t, c->peer, c->tag, comm, request(c));
}

static int reduction(struct call *c, MPI_Datatype t, enum mode mode, MPI_Comm comm) {
	MPI_Op op = op_of(c);
	int elsewhere = is(c, "Reduce") && of(c)->rank != c->root;
	const void *in = c->in_place && !elsewhere ? MPI_IN_PLACE : c->in.at;
	void *out = *stand_in(c) ? *stand_in(c) : c->out.at;
	int n = c->in.total;
	if (is(c, "Reduce")) return EACH(Reduce, Ireduce, in, out, n, t, op, c->root, comm);
	if (is(c, "AllReduce")) return EACH(Allreduce, Iallreduce, in, out, n, t, op, comm);
	if (is(c, "Scan")) return EACH(Scan, Iscan, in, out, n, t, op, comm);
	if (is(c, "Exscan")) return EACH(Exscan, Iexscan, in, out, n, t, op, comm);
	if (c->uneven) return EACH(Reduce_scatter, Ireduce_scatter, in, out, c->in.counts, t, op, comm);
	return EACH(Reduce_scatter_block, Ireduce_scatter_block, in, out, c->out.total, t, op, comm);
}

static int gather(struct call *c, MPI_Datatype t, enum mode mode, MPI_Comm comm) {
	const void *in = c->in_place && of(c)->rank == c->root ? MPI_IN_PLACE : c->in.at;
	int n = c->in.total;
	if (c->uneven) return EACH(Gatherv, Igatherv, in, n, t, c->out.at, c->out.counts, c->out.starts, t, c->root, comm);
	return EACH(Gather, Igather, in, n, t, c->out.at, n, t, c->root, comm);
}

static int scatter(struct call *c, MPI_Datatype t, enum mode mode, MPI_Comm comm) {
	void *out = c->in_place && of(c)->rank == c->root ? MPI_IN_PLACE : c->out.at;
	int n = c->out.total;
	if (c->uneven) return EACH(Scatterv, Iscatterv, c->in.at, c->in.counts, c->in.starts, t, out, n, t, c->root, comm);
	return EACH(Scatter, Iscatter, c->in.at, n, t, out, n, t, c->root, comm);
}

static int all_gather(struct call *c, MPI_Datatype t, enum mode mode, MPI_Comm comm) {
	const void *in = c->in_place ? MPI_IN_PLACE : c->in.at;
	int n = c->in.total;
	if (c->uneven) return EACH(Allgatherv, Iallgatherv, in, n, t, c->out.at, c->out.counts, c->out.starts, t, comm);
	return EACH(Allgather, Iallgather, in, n, t, c->out.at, n, t, comm);
}

static int all_to_all(struct call *c, MPI_Datatype t, enum mode mode, MPI_Comm comm) {
	const void *in = c->in_place ? MPI_IN_PLACE : c->in.at;
	int n = c->in.counts[0];
	if (c->uneven)
		return EACH(Alltoallv, Ialltoallv, in, c->in.counts, c->in.starts, t, c->out.at, c->out.counts, c->out.starts, t, comm);
	return EACH(Alltoall, Ialltoall, in, n, t, c->out.at, n, t, comm);
}

static int neighbors(struct call *c, MPI_Datatype t, enum mode mode, MPI_Comm comm) {
	const void *in = c->in.at;
	int n = c->in.counts[0];
	comm = of(c)->ring;
	if (is(c, "NeighborAllGather") && c->uneven)
		return EACH(Neighbor_allgatherv, Ineighbor_allgatherv, in, n, t, c->out.at, c->out.counts, c->out.starts, t, comm);
	if (is(c, "NeighborAllGather")) return EACH(Neighbor_allgather, Ineighbor_allgather, in, n, t, c->out.at, n, t, comm);
	if (c->uneven)
		return EACH(Neighbor_alltoallv, Ineighbor_alltoallv, in, c->in.counts, c->in.starts, t, c->out.at, c->out.counts,
			    c->out.starts, t, comm);
	return EACH(Neighbor_alltoall, Ineighbor_alltoall, in, n, t, c->out.at, n, t, comm);
}

// make makes the call, begins it, or prepares it.
static int make(struct call *c, enum mode mode) {
	static const struct {
		const char *name;
		int (*make)(struct call *, MPI_Datatype, enum mode, MPI_Comm);
	} primitives[] = {
		{"AllGather", all_gather}, {"AllToAll", all_to_all}, {"Gather", gather}, {"Scatter", scatter}, {"AllReduce", reduction},
		{"Reduce", reduction}, {"Scan", reduction}, {"Exscan", reduction}, {"ReduceScatter", reduction},
		{"Send", send_or_receive}, {"NeighborAllToAll", neighbors}, {"NeighborAllGather", neighbors},
	};
	MPI_Comm comm = of(c)->comm;
	MPI_Datatype t = type_of(c);
	if (is(c, "Barrier")) {
		if (mode == BLOCKING) return MPI_Barrier(comm);
		if (mode == NONBLOCKING) return MPI_Ibarrier(comm, request(c));
		return INIT(Barrier, comm);
	}
	if (is(c, "Broadcast")) return EACH(Bcast, Ibcast, c->out.at, c->out.total, t, c->root, comm);
	for (size_t i = 0; i < LENGTH(primitives); i++)
		if (is(c, primitives[i].name)) return primitives[i].make(c, t, mode, comm);
	fail("a primitive that was not offered");
	return MPI_ERR_OTHER;
}

// undefined returns why MPI does not say what comes of a call, or NULL: before MPI 4.1, which of two messages between the
// same two neighbours is received as the first one.
static const char *undefined(const struct call *c) {
	return is(c, "NeighborAllToAll") && of(c)->size < 3 ? "cannot be said: there are two messages between two neighbours" : NULL;
}

// said returns the words of an error, or NULL.
static const char *said(int error) {
	static char text[MPI_MAX_ERROR_STRING];
	int length;
	if (error == MPI_SUCCESS) return NULL;
	MPI_Error_string(error, text, &length);
	for (char *c = text; (c = strchr(c, '\n'));) *c = ' ';
	return text;
}

static const char *start(struct call *c) {
	if (undefined(c)) return undefined(c);
	before(c);
	return said(make(c, NONBLOCKING));
}

static const char *wait_for(struct call *c) {
	int error = MPI_Wait(request(c), MPI_STATUS_IGNORE);
	after(c);
	if (!c->prepared) let_go(c);
	return said(error);
}

static const char *prepare(struct call *c) {
	if (undefined(c)) return undefined(c);
	before(c);
	return said(make(c, PERSISTENTLY));
}

static const char *begin(struct call *c) {
	before(c);
	return said(MPI_Start(request(c)));
}

static const char *drop(struct call *c) {
	let_go(c);
	return said(MPI_Request_free(request(c)));
}

static const char *invoke(struct call *c) {
	const char *error = undefined(c);
	if (error) return error;
	switch (usual) {
	case NONBLOCKING:
		return (error = start(c)) ? error : wait_for(c);
	case PERSISTENTLY:
		if ((error = prepare(c)) || (error = begin(c)) || (error = wait_for(c))) return error;
		after(c);
		return drop(c);
	default:
		before(c);
		int code = make(c, BLOCKING);
		after(c), let_go(c);
		return said(code);
	}
}

// use makes the communicator of a number out of comm, which may be none.
static int use(int number, MPI_Comm comm) {
	int yes = 1;
	struct communicator *made;
	comms = realloc(comms, (size_t)(number + 1) * sizeof *comms);
	made = &comms[number];
	*made = (struct communicator){comm, MPI_COMM_NULL, 0, 0};
	if (comm == MPI_COMM_NULL) return MPI_SUCCESS;
	MPI_Comm_rank(comm, &made->rank), MPI_Comm_size(comm, &made->size);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	int error = MPI_Cart_create(comm, 1, &made->size, &yes, 0, &made->ring);
	if (error == MPI_SUCCESS) MPI_Comm_set_errhandler(made->ring, MPI_ERRORS_RETURN);
	return error;
}

static const char *split(int number, int color, int key) {
	MPI_Comm comm;
	int error = MPI_Comm_split(MPI_COMM_WORLD, color < 0 ? MPI_UNDEFINED : color, key, &comm);
	return said(error == MPI_SUCCESS ? use(number, comm) : error);
}

static const char *free_comm(int number) {
	MPI_Comm_free(&comms[number].ring);
	return said(MPI_Comm_free(&comms[number].comm));
}

// compose is collgen's op of that name: first is from the lower rank.
static void compose(void *first, void *second, int *n, MPI_Datatype *type) {
	(void)type;
	for (int i = 0; i < *n; i++) {
		uint64_t f = ((uint64_t *)first)[i], g = ((uint64_t *)second)[i];
		uint32_t a = (uint32_t)(f >> 32), c = (uint32_t)(g >> 32);
		((uint64_t *)second)[i] = (uint64_t)(a * c) << 32 | (uint32_t)(a * (uint32_t)g + (uint32_t)f);
	}
}

static void offer(void) {
	char name[MPI_MAX_LIBRARY_VERSION_STRING];
	const char *modes[] = {"", ", nonblocking", ", persistent"};
	int length;
	MPI_Get_library_version(name, &length);
	strcat(strtok(name, "\n"), modes[usual]);
	introduce(rank, size, name);
	fputs("types", to_collgen);
	for (size_t i = 0; i < LENGTH(types); i++) fprintf(to_collgen, " %s", types[i].name);
	fputs("\nops", to_collgen);
	for (size_t i = 0; i < LENGTH(ops); i++) fprintf(to_collgen, " %s", ops[i].name);
	say(" compose\nvalues overflow\nerrors root");
	const char *both[] = {"AllReduce", "Broadcast", "Reduce", "Scan", "Exscan"};
	for (size_t i = 0; i < LENGTH(both); i++) say("primitive %s apart in-place", both[i]);
	const char *uneven[] = {"AllGather", "AllToAll", "Gather", "Scatter"};
	for (size_t i = 0; i < LENGTH(uneven); i++) say("primitive %s apart in-place uneven displaced", uneven[i]);
	say("primitive ReduceScatter apart in-place uneven");
	say("primitive NeighborAllToAll apart uneven displaced");
	say("primitive NeighborAllGather apart uneven displaced");
	say("primitive Barrier apart");
	say("primitive Send apart");
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Op_create(compose, 0, &composition);
	use(0, MPI_COMM_WORLD);
	if (argc > 1) usual = !strcmp(argv[1], "nonblocking") ? NONBLOCKING : !strcmp(argv[1], "persistent") ? PERSISTENTLY : BLOCKING;
	offer();
	struct functions ours = {.invoke = invoke, .start = start, .wait = wait_for, .split = split, .free = free_comm, .tags = 1};
#ifdef PERSISTENT
	ours.prepare = prepare, ours.begin = begin, ours.drop = drop;
#endif
	serve_with(&ours);
	MPI_Op_free(&composition);
	MPI_Finalize();
	return 0;
}
