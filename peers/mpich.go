package main

import (
	"fmt"
	"slices"
	"strconv"
)

var (
	mpich4 = mpich("MPICH 4", debian("mpich"), "mpicc.mpich", "mpiexec.hydra",
		[]string{"UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo"},
		tuning{name: "UCX segments of 256K", transport: "tcp",
			env: []string{"UCX_TCP_TX_SEG_SIZE=256k", "UCX_TCP_RX_SEG_SIZE=256k"}})
	mpich5 = mpich("MPICH 5", pypi("mpich"), "{peers}/mpich/bin/mpicc", "{peers}/mpich/bin/mpiexec",
		[]string{"MPIR_CVAR_CH4_NETMOD=ofi", "FI_PROVIDER=tcp", "FI_TCP_IFACE=lo"},
		tuning{name: "UCX", transport: "tcp", env: []string{"MPIR_CVAR_CH4_NETMOD=ucx", "UCX_TLS=tcp,self"}},
		mpichAlgorithm("all-reduce", "ALLREDUCE_POSIX", "release_gather"),
		mpichAlgorithm("broadcast", "BCAST_POSIX", "release_gather"),
		mpichAlgorithm("barrier", "BARRIER_POSIX", "release_gather"),
	)
)

// mpich returns a version of MPICH, given what has it use TCP, and tunings that it alone has.
func mpich(name string, version []string, compiler, launcher string, tcp []string, more ...tuning) peer {
	return peer{
		name: name, version: version,
		compile: []string{compiler, "-O3", "-march=native"}, source: "mpi.c",
		launcher: []string{launcher, "-n", "%d", "-bind-to", "core"},
		// NOLOCAL has ranks of one host talk as if they were on two.
		env: map[string][]string{"tcp": append([]string{"MPIR_CVAR_NOLOCAL=1"}, tcp...)},
		tunings: append([]tuning{
			{name: byDefault},
			mpichAlgorithm("all-reduce", "ALLREDUCE", "recursive_doubling"),
			mpichAlgorithm("all-gather", "ALLGATHER", "recursive_doubling"),
			mpichAlgorithm("barrier", "BARRIER", "dissemination"),
			reduceScatterByCounts,
		}, more...),
	}
}

// mpichAlgorithm returns an algorithm by the names that MPICH has for the collective and for itself.
func mpichAlgorithm(collective, theirs, algorithm string) tuning {
	return tuning{name: algorithm, collectives: []string{collective},
		env: []string{fmt.Sprintf("MPIR_CVAR_%s_INTRA_ALGORITHM=%s", theirs, algorithm)}}
}

// intelMPI takes TCP by the libfabric of MPICH's package: its own package has none.
var intelMPI = peer{
	name: "Intel MPI", version: pypi("impi"),
	compile: []string{"env", "I_MPI_ROOT={peers}/impi", "{peers}/impi/bin/mpicc", "-O3", "-march=native"}, source: "mpi.c",
	launcher: []string{"env", "I_MPI_ROOT={peers}/impi", "{peers}/impi/bin/mpiexec", "-n", "%d"},
	env: map[string][]string{
		"shm": {"I_MPI_FABRICS=shm"},
		"tcp": {"I_MPI_FABRICS=ofi", "I_MPI_COLL_INTRANODE=pt2pt", "FI_PROVIDER=tcp", "FI_TCP_IFACE=lo",
			"LD_LIBRARY_PATH={peers}/mpich/lib/mpich"},
	},
	tunings: slices.Concat([]tuning{{name: byDefault}, reduceScatterByCounts},
		adjusted("all-reduce", "ALLREDUCE", 1, 2, 7, 8),
		adjusted("broadcast", "BCAST", 1, 2, 3, 5),
		adjusted("all-gather", "ALLGATHER", 3, 5, 6),
		adjusted("all-to-all", "ALLTOALL", 2, 3, 4),
		adjusted("reduce-scatter", "REDUCE_SCATTER_BLOCK", 1, 2, 4),
		adjusted("barrier", "BARRIER", 1, 2),
	),
}

// adjusted returns algorithms of Intel MPI by the numbers that its manual gives them.
func adjusted(collective, theirs string, algorithms ...int) (all []tuning) {
	for _, a := range algorithms {
		all = append(all, tuning{name: fmt.Sprintf("algorithm %d", a), collectives: []string{collective},
			env: []string{"I_MPI_ADJUST_" + theirs + "=" + strconv.Itoa(a)}})
	}
	return all
}
