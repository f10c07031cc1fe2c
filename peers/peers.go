package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/collgen/collgen/internal/figures"
)

// peer is another library: how our program for it is built and started.
type peer struct {
	name       string
	pkg        string   // the Debian package, for its version
	transports []string // on which it is compared
	compile    []string // the compiler, and the arguments before the source
	source     string
	link       []string // the arguments after the source
	// launcher is the command before the program, in which %d stands for the number of ranks. oversubscribed replaces
	// it if there are more ranks than cores. A peer without a launcher has each rank started with -rank, -ranks, and
	// -store for an empty folder.
	launcher, oversubscribed []string
	env                      map[string][]string // by transport
	tunings                  []tuning
}

// tuning is one way to set up a peer. We are compared with the best one for each size.
type tuning struct {
	name        string
	collectives []string // nil: all
	transport   string   // "": both
	ranks       int      // 0: any number
	from, to    int      // bytes; to 0: no upper bound
	env         []string
	program     []string // arguments
	perCore     bool     // without a launcher: each rank stays on one core
}

// fits reports whether t is worth trying in b.
func (t *tuning) fits(b benchmark) bool {
	return (t.collectives == nil || slices.Contains(t.collectives, b.Collective)) &&
		(t.transport == "" || t.transport == b.Transport) &&
		(t.ranks == 0 || t.ranks == b.Ranks) &&
		t.from <= b.Bytes && (t.to == 0 || b.Bytes <= t.to)
}

// peers lists all peers.
var peers = []*peer{&peerOpenMPI, &peerMPICH, &peerGloo, &peerPollingGloo}

func peerNamed(name string) *peer {
	return peers[slices.IndexFunc(peers, func(p *peer) bool { return p.name == name })]
}

var peerOpenMPI = peer{
	name: openMPI, pkg: "openmpi-bin", transports: []string{"shm", "tcp"},
	compile: []string{"mpicc.openmpi", "-O3", "-march=native"}, source: "mpi.c",
	launcher:       []string{"mpirun.openmpi", "-n", "%d", "--bind-to", "core"},
	oversubscribed: []string{"mpirun.openmpi", "-n", "%d", "--oversubscribe", "--bind-to", "none"},
	env: map[string][]string{
		"shm": mca("pml", "ob1", "btl", "self,vader"),
		"tcp": mca("pml", "ob1", "btl", "self,tcp", "btl_tcp_if_include", "lo"),
	},
	tunings: slices.Concat([]tuning{
		{name: "default"},
		{name: "eager to 64K", transport: "shm", from: 8 * kib, to: 64 * kib, env: mca("btl_vader_eager_limit", "66000")},
		{name: "no CMA", transport: "shm", from: 8 * kib, to: mib, env: mca("btl_vader_single_copy_mechanism", "none")},
		{name: "yields", ranks: 4, env: mca("mpi_yield_when_idle", "1")},
		{name: "coll/sm", transport: "shm", ranks: 4, collectives: []string{"all-reduce", "broadcast", "barrier"},
			to:  64 * kib,
			env: mca("coll_sm_priority", "100", "mpi_yield_when_idle", "1")},
		{name: "reduce_scatter", collectives: []string{"reduce-scatter"}, program: []string{"-reduce-scatter", "counts"}},
		{name: "socket buffers of 4M", transport: "tcp", from: mib, env: mca("btl_tcp_sndbuf", "4194304", "btl_tcp_rcvbuf",
			"4194304")},
		{name: "2 links", transport: "tcp", from: mib, env: mca("btl_tcp_links", "2")},
		{name: "eager to 1M", transport: "tcp", from: 64 * kib,
			env: mca("btl_tcp_eager_limit", "1048576", "btl_tcp_rndv_eager_limit", "1048576", "btl_tcp_max_send_size",
				"4194304")},
	},
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
	),
}

// mca are settings of Open MPI, as its environment has them.
func mca(nameValue ...string) (env []string) {
	for i := 0; i < len(nameValue); i += 2 {
		env = append(env, "OMPI_MCA_"+nameValue[i]+"="+nameValue[i+1])
	}
	return env
}

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

var peerMPICH = peer{
	name: mpich, pkg: "mpich", transports: []string{"shm", "tcp"},
	compile: []string{"mpicc.mpich", "-O3", "-march=native"}, source: "mpi.c",
	launcher:       []string{"mpiexec.hydra", "-n", "%d", "-bind-to", "core"},
	oversubscribed: []string{"mpiexec.hydra", "-n", "%d"},
	// NOLOCAL has ranks of one host talk as if they were on two. Debian's MPICH is on UCX; one on OFI takes the
	// provider.
	env: map[string][]string{
		"tcp": {"MPIR_CVAR_NOLOCAL=1", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo", "FI_PROVIDER=tcp"},
	},
	tunings: []tuning{
		{name: "default"},
		{name: "recursive doubling", collectives: []string{"all-reduce"}, to: 64 * kib,
			env: []string{"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=recursive_doubling"}},
		{name: "reduce_scatter", collectives: []string{"reduce-scatter"}, program: []string{"-reduce-scatter", "counts"}},
		{name: "recursive doubling", collectives: []string{"all-gather"},
			env: []string{"MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM=recursive_doubling"}},
		{name: "dissemination", collectives: []string{"barrier"},
			env: []string{"MPIR_CVAR_BARRIER_INTRA_ALGORITHM=dissemination"}},
		{name: "UCX segments of 256K", transport: "tcp", env: []string{"UCX_TCP_TX_SEG_SIZE=256k",
			"UCX_TCP_RX_SEG_SIZE=256k"}},
	},
}

var peerGloo = peer{
	name: gloo, pkg: "libgloo-dev", transports: []string{"tcp"},
	compile: []string{"g++", "-std=c++17", "-O3", "-march=native"}, source: "gloo.cc", link: []string{"-lgloo"},
	tunings: slices.Concat(
		glooTunings("async", "ring", 0, 64*kib),
		glooTunings("async", "ring-chunked", mib, mib),
		glooTunings("async", "halving-doubling", 64*kib, 0),
		glooTunings("async", "bcube", 64*kib, 0),
		glooTunings("async", "new-ring", 0, 64*kib),
		glooTunings("async", "new-bcube", 0, 64*kib),
	),
}

// peerPollingGloo is Gloo with pairs whose sockets the caller itself polls. It is for short messages: 16 MiB took
// longer so than without, and 64 MiB did not end within 15 s or lost the connection, with each of the algorithms.
var peerPollingGloo = peer{
	name: pollingGloo, pkg: peerGloo.pkg, transports: peerGloo.transports,
	compile: peerGloo.compile, source: peerGloo.source, link: peerGloo.link,
	tunings: slices.Concat(
		glooTunings("poll", "ring", 0, 64*kib),
		glooTunings("poll", "ring-chunked", mib, mib),
		glooTunings("poll", "halving-doubling", 64*kib, mib),
		glooTunings("poll", "bcube", mib, mib),
	),
}

// glooTunings returns one algorithm with all ranks on all cores and, for what is short enough to gain by it, with each
// rank on one.
func glooTunings(wait, algorithm string, from, to int) []tuning {
	free := tuning{name: algorithm, from: from, to: to, program: []string{"-algorithm", algorithm, "-wait", wait}}
	fixed := free
	fixed.name, fixed.perCore = algorithm+", a core per rank", true
	if to == 0 {
		fixed.to = mib
	}
	return []tuning{free, fixed}
}
