//go:build ignore

// Times the collectives of Gloo over TCP on the loopback device. See measure.h for the method, and main.go for how it is
// started: one process per rank, with -rank, -ranks and an empty folder (-store) in which the ranks find each other.
#include <memory>
#include <vector>

#include <gloo/allgather.h>
#include <gloo/allgather_ring.h>
#include <gloo/allreduce.h>
#include <gloo/allreduce_bcube.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/alltoall.h>
#include <gloo/barrier_all_to_all.h>
#include <gloo/broadcast.h>
#include <gloo/broadcast_one_to_all.h>
#include <gloo/reduce_scatter.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/transport/tcp/device.h>

#include "measure.h"

namespace {

using Context = std::shared_ptr<gloo::rendezvous::Context>;

// Options are what only this program has. An algorithm of Gloo's older kind is an object made for one buffer and run again and
// again; one of the newer kind, a function: their names begin with "new-".
struct Options {
	std::string algorithm = "new-ring", store, wait = "async";
	int rank = -1, size = 0;
	size_t segment = 1 << 20;
} options;

Context measured; // runs what is measured
Context control;  // carries barriers and sums of times
std::unique_ptr<gloo::Algorithm> prepared, gate;

std::vector<float *> pointers(const call *c) { return {c->out}; }

std::unique_ptr<gloo::Algorithm> all_reduce(const call *c) {
	auto p = pointers(c);
	int n = static_cast<int>(c->count);
	if (options.algorithm == "ring") return std::make_unique<gloo::AllreduceRing<float>>(measured, p, n);
	if (options.algorithm == "ring-chunked") return std::make_unique<gloo::AllreduceRingChunked<float>>(measured, p, n);
	if (options.algorithm == "halving-doubling") return std::make_unique<gloo::AllreduceHalvingDoubling<float>>(measured, p, n);
	if (options.algorithm == "bcube") return std::make_unique<gloo::AllreduceBcube<float>>(measured, p, n);
	fail("unknown all-reduce");
	return nullptr;
}

bool older() { return options.algorithm.rfind("new-", 0) != 0; }

void prepare(const call *c) {
	int n = static_cast<int>(c->count), block = n / options.size;
	prepared.reset();
	if (c->collective == ALL_REDUCE && older()) prepared = all_reduce(c);
	if (c->collective == BROADCAST && older())
		prepared = std::make_unique<gloo::BroadcastOneToAll<float>>(measured, pointers(c), n);
	if (c->collective == REDUCE_SCATTER)
		prepared = std::make_unique<gloo::ReduceScatterHalvingDoubling<float>>(
			measured, pointers(c), n, std::vector<int>(options.size, block));
	if (c->collective == BARRIER) prepared = std::make_unique<gloo::BarrierAllToAll>(measured);
	gate->run(); // nobody calls before all have prepared
}

void new_all_reduce(const call *c) {
	gloo::AllreduceOptions o(measured);
	o.setOutput(c->out, c->count);
	o.setReduceFunction(static_cast<void (*)(void *, const void *, const void *, size_t)>(&gloo::sum<float>));
	o.setMaxSegmentSize(options.segment);
	using Algorithm = gloo::AllreduceOptions::Algorithm;
	o.setAlgorithm(options.algorithm == "new-bcube" ? Algorithm::BCUBE : Algorithm::RING);
	gloo::allreduce(o);
}

void new_broadcast(const call *c) {
	gloo::BroadcastOptions o(measured);
	o.setOutput(c->out, c->count);
	o.setRoot(0);
	gloo::broadcast(o);
}

void new_all_gather(const call *c) {
	gloo::AllgatherOptions o(measured);
	o.setOutput(c->out, c->count);
	if (!c->in_place) o.setInput(c->in + c->count / options.size * options.rank, c->count / options.size);
	gloo::allgather(o);
}

void new_all_to_all(const call *c) {
	if (c->in_place) fail("Gloo has no all-to-all in place");
	gloo::AlltoallOptions o(measured);
	o.setInput(c->in, c->count);
	o.setOutput(c->out, c->count);
	gloo::alltoall(o);
}

void invoke(const call *c) {
	if (prepared) return prepared->run();
	switch (c->collective) {
	case ALL_REDUCE: return new_all_reduce(c);
	case BROADCAST: return new_broadcast(c);
	case ALL_GATHER: return new_all_gather(c);
	case ALL_TO_ALL: return new_all_to_all(c);
	default: fail("this program does not run that collective");
	}
}

void barrier() { gate->run(); }

void sum(double *values, int n) {
	gloo::AllreduceOptions o(control);
	o.setOutput(values, static_cast<size_t>(n));
	o.setReduceFunction(static_cast<void (*)(void *, const void *, const void *, size_t)>(&gloo::sum<double>));
	gloo::allreduce(o);
}

int option(const char *name, const char *value) {
	if (!strcmp(name, "-rank")) options.rank = atoi(value);
	else if (!strcmp(name, "-ranks")) options.size = atoi(value);
	else if (!strcmp(name, "-store")) options.store = value;
	else if (!strcmp(name, "-algorithm")) options.algorithm = value;
	else if (!strcmp(name, "-wait")) options.wait = value;
	else if (!strcmp(name, "-segment")) options.segment = parse_bytes(value);
	else return !strcmp(name, "-transport") && !strcmp(value, "tcp");
	return 1;
}

Context connect(const char *name) {
	gloo::transport::tcp::attr address;
	address.hostname = "127.0.0.1";
	auto device = gloo::transport::tcp::CreateDevice(address);
	gloo::rendezvous::FileStore files(options.store);
	gloo::rendezvous::PrefixStore store(name, files);
	auto context = std::make_shared<gloo::rendezvous::Context>(options.rank, options.size);
	context->connectFullMesh(store, device);
	return context;
}

// wait_in_calls has the caller of an algorithm read its sockets itself, blocking or polling. Newer algorithms cannot do that.
void wait_in_calls(bool poll) {
	for (int i = 0; i < options.size; i++)
		if (i != options.rank) measured->getPair(i)->setSync(true, poll);
}

} // namespace

int main(int argc, char **argv) {
	arguments a = parse(argc, argv, option);
	if (options.size < 2 || options.size > MAX_RANKS || options.rank < 0 || options.rank >= options.size)
		fail("-rank and -ranks: want 2 ranks or more");
	control = connect("control"), measured = connect("measured");
	if (options.wait != "async") wait_in_calls(options.wait == "poll");
	gate = std::make_unique<gloo::BarrierAllToAll>(measured);
	std::string label = options.algorithm + (options.wait == "async" ? "" : " " + options.wait);
	world w = {options.rank, options.size, "tcp", label.c_str(), prepare, invoke, barrier, sum};
	gate->run();
	measure_all(&w, &a);
	gate->run();
	prepared.reset();
	gate.reset();
}
