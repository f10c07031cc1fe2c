//go:build ignore

// The collectives of Gloo, over TCP on the loopback device, called by collgen conform. The ranks meet in a folder, and one all-reduce
// is chosen; a name that begins with "new-" means the functions of Gloo's newer interface, others its older algorithms.
//
//	g++ -std=c++17 -O2 -o gloo gloo.cc -lgloo
//	collgen conform -- ./gloo {rank} {n} {dir} new-ring
//
// Where Gloo means something else than collgen, this program makes up for it: its reduce wants an output on every rank, and its older
// algorithms work in place alone; the reduce-scatter leaves its result at the beginning of its only buffer.
#include <algorithm>
#include <complex>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gloo/allgather.h>
#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/allreduce_bcube.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/reduce.h>
#include <gloo/reduce_scatter.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/scatter.h>
#include <gloo/transport/tcp/device.h>

#include "adapter.h"

namespace {

std::shared_ptr<gloo::rendezvous::Context> context;
std::string algorithm;

bool is(const call *c, const char *primitive) { return !strcmp(c->primitive, primitive); }

// function is a reduction as a function of type F; Gloo has two kinds of these.
template <typename T, typename F> F function(const std::string &op) {
	if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, gloo::float16>) {
		if (op == "min") return static_cast<F>(&gloo::min<T>);
		if (op == "max") return static_cast<F>(&gloo::max<T>);
	}
	return op == "sum" ? static_cast<F>(&gloo::sum<T>) : static_cast<F>(&gloo::product<T>);
}

using NewFunction = void (*)(void *, const void *, const void *, size_t);
template <typename T> using OldFunction = void (*)(T *, const T *, size_t);

template <typename T> gloo::ReductionFunction<T> old_function(const call *c) {
	return gloo::ReductionFunction<T>(gloo::CUSTOM, function<T, OldFunction<T>>(c->op));
}

// Calls with elements of type T

template <typename T> T *elements(const buffer &b) { return reinterpret_cast<T *>(b.at); }

// move copies what an algorithm that works in place begins with.
template <typename T> void move(const buffer &to, const buffer &from) {
	if (to.at && from.at && to.at != from.at) memcpy(to.at, from.at, static_cast<size_t>(from.total) * sizeof(T));
}

template <typename T> void new_all_reduce(call *c) {
	gloo::AllreduceOptions o(context);
	if (!c->in_place) o.setInput(elements<T>(c->in), static_cast<size_t>(c->in.total));
	o.setOutput(elements<T>(c->out), static_cast<size_t>(c->out.total));
	o.setReduceFunction(function<T, NewFunction>(c->op));
	using Algorithm = gloo::AllreduceOptions::Algorithm;
	o.setAlgorithm(algorithm == "new-bcube" ? Algorithm::BCUBE : Algorithm::RING);
	gloo::allreduce(o);
}

template <typename T> void all_reduce(call *c) {
	if (algorithm.rfind("new-", 0) == 0) return new_all_reduce<T>(c);
	auto op = old_function<T>(c);
	std::vector<T *> p{elements<T>(c->out)};
	int n = c->out.total;
	move<T>(c->out, c->in);
	if (algorithm == "ring") gloo::AllreduceRing<T>(context, p, n, &op).run();
	else if (algorithm == "ring-chunked") gloo::AllreduceRingChunked<T>(context, p, n, &op).run();
	else if (algorithm == "halving-doubling") gloo::AllreduceHalvingDoubling<T>(context, p, n, &op).run();
	else if (algorithm == "bcube") gloo::AllreduceBcube<T>(context, p, n, &op).run();
	else fail("there is no such all-reduce");
}

template <typename T> void reduce_scatter(call *c) {
	auto op = old_function<T>(c);
	std::vector<T> all(elements<T>(c->in), elements<T>(c->in) + c->in.total);
	all.reserve(1);
	std::vector<int> counts(c->in.counts, c->in.counts + c->in.blocks);
	gloo::ReduceScatterHalvingDoubling<T>(context, {all.data()}, c->in.total, counts, &op).run();
	std::copy_n(all.begin(), c->out.total, elements<T>(c->out));
}

template <typename T> void reduce(call *c) {
	std::vector<T> scratch(static_cast<size_t>(c->in.total));
	T *out = c->out.at ? elements<T>(c->out) : scratch.data();
	gloo::ReduceOptions o(context);
	o.setInput(elements<T>(c->in), static_cast<size_t>(c->in.total));
	o.setOutput(out, static_cast<size_t>(c->in.total));
	o.setRoot(c->root);
	o.setReduceFunction(function<T, NewFunction>(c->op));
	gloo::reduce(o);
}

template <typename T> void broadcast(call *c) {
	gloo::BroadcastOptions o(context);
	if (c->in.at && !c->in_place) o.setInput(elements<T>(c->in), static_cast<size_t>(c->in.total));
	o.setOutput(elements<T>(c->out), static_cast<size_t>(c->out.total));
	o.setRoot(c->root);
	gloo::broadcast(o);
}

template <typename T> void all_gather(call *c) {
	if (!c->uneven) {
		gloo::AllgatherOptions o(context);
		if (!c->in_place) o.setInput(elements<T>(c->in), static_cast<size_t>(c->in.total));
		o.setOutput(elements<T>(c->out), static_cast<size_t>(c->out.total));
		return gloo::allgather(o);
	}
	gloo::AllgathervOptions o(context);
	if (!c->in_place) o.setInput(elements<T>(c->in), static_cast<size_t>(c->in.total));
	o.setOutput(elements<T>(c->out), std::vector<size_t>(c->out.counts, c->out.counts + c->out.blocks));
	gloo::allgatherv(o);
}

template <typename T> void all_to_all(call *c) {
	if (!c->uneven) {
		gloo::AlltoallOptions o(context);
		o.setInput(elements<T>(c->in), static_cast<size_t>(c->in.total));
		o.setOutput(elements<T>(c->out), static_cast<size_t>(c->out.total));
		return gloo::alltoall(o);
	}
	gloo::AlltoallvOptions o(context);
	o.setInput(elements<T>(c->in), std::vector<int64_t>(c->in.counts, c->in.counts + c->in.blocks));
	o.setOutput(elements<T>(c->out), std::vector<int64_t>(c->out.counts, c->out.counts + c->out.blocks));
	gloo::alltoallv(o);
}

template <typename T> void gather(call *c) {
	gloo::GatherOptions o(context);
	o.setInput(elements<T>(c->in), static_cast<size_t>(c->in.total));
	if (c->out.at) o.setOutput(elements<T>(c->out), static_cast<size_t>(c->out.total));
	o.setRoot(c->root);
	gloo::gather(o);
}

template <typename T> void scatter(call *c) {
	gloo::ScatterOptions o(context);
	std::vector<T *> blocks;
	for (int i = 0; i < c->in.blocks; i++) blocks.push_back(elements<T>(c->in) + c->in.starts[i]);
	if (c->in.at) o.setInputs(blocks, static_cast<size_t>(c->out.total));
	o.setOutput(elements<T>(c->out), static_cast<size_t>(c->out.total));
	o.setRoot(c->root);
	gloo::scatter(o);
}

template <typename T> void send_or_receive(call *c) {
	const uint64_t slot = 1 << 16;
	bool sends = context->rank == c->root;
	const buffer &b = sends ? c->in : c->out;
	auto buf = context->createUnboundBuffer(b.at, static_cast<size_t>(b.total) * sizeof(T));
	if (sends) buf->send(c->peer, slot), buf->waitSend();
	else buf->recv(c->root, slot), buf->waitRecv();
}

void barrier() {
	gloo::BarrierOptions o(context);
	gloo::barrier(o);
}

template <typename T> void dispatch(call *c) {
	if (is(c, "AllReduce")) return all_reduce<T>(c);
	if (is(c, "Reduce")) return reduce<T>(c);
	if (is(c, "ReduceScatter")) return reduce_scatter<T>(c);
	if (is(c, "AllGather")) return all_gather<T>(c);
	if (is(c, "AllToAll")) return all_to_all<T>(c);
	if (is(c, "Broadcast")) return broadcast<T>(c);
	if (is(c, "Gather")) return gather<T>(c);
	if (is(c, "Scatter")) return scatter<T>(c);
	if (is(c, "Send")) return send_or_receive<T>(c);
	if (is(c, "Barrier")) return barrier();
	fail("a primitive that was not offered");
}

// Gloo has neither bfloat16 nor floats of 8 bits, and reduces a bool by no op that collgen has for it.
const std::vector<std::pair<const char *, void (*)(call *)>> types = {
	{"int8", dispatch<int8_t>}, {"int16", dispatch<int16_t>}, {"int32", dispatch<int32_t>}, {"int64", dispatch<int64_t>},
	{"uint8", dispatch<uint8_t>}, {"uint16", dispatch<uint16_t>}, {"uint32", dispatch<uint32_t>}, {"uint64", dispatch<uint64_t>},
	{"float16", dispatch<gloo::float16>}, {"float32", dispatch<float>}, {"float64", dispatch<double>},
	{"complex64", dispatch<std::complex<float>>}, {"complex128", dispatch<std::complex<double>>},
};

const char *invoke(call *c) {
	static std::string error;
	try {
		for (auto &t : types)
			if (!strcmp(t.first, c->type)) t.second(c);
		return nullptr;
	} catch (const std::exception &e) {
		error = e.what();
	}
	for (char &x : error) x = x == '\n' ? ' ' : x;
	return error.c_str();
}

void offer(int rank, int size) {
	introduce(rank, size, ("Gloo, all-reduce " + algorithm).c_str());
	fputs("types", to_collgen);
	for (auto &t : types) fprintf(to_collgen, " %s", t.first);
	say("\nops sum prod min max\nvalues overflow");
	for (const char *p : {"AllReduce", "Broadcast"}) say("primitive %s apart in-place", p);
	for (const char *p : {"AllGather"}) say("primitive %s apart in-place uneven", p);
	for (const char *p : {"AllToAll"}) say("primitive %s apart uneven", p);
	for (const char *p : {"Barrier", "Gather", "Reduce", "Scatter", "Send"}) say("primitive %s apart", p);
	say("primitive ReduceScatter apart uneven");
}

void connect(int rank, int size, const char *folder) {
	gloo::transport::tcp::attr address;
	address.hostname = "127.0.0.1";
	auto device = gloo::transport::tcp::CreateDevice(address);
	gloo::rendezvous::FileStore store(folder);
	context = std::make_shared<gloo::rendezvous::Context>(rank, size);
	context->connectFullMesh(store, device);
}

} // namespace

int main(int argc, char **argv) {
	if (argc != 5) fail("want a rank, a number of ranks, a folder, and the name of an all-reduce");
	int rank = atoi(argv[1]), size = atoi(argv[2]);
	algorithm = argv[4];
	connect(rank, size, argv[3]);
	offer(rank, size);
	serve(invoke);
}
