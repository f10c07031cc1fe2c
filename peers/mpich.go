package main

var peerMPICH = peer{
	name: mpich, pkg: "mpich", transports: []string{"shm", "tcp"},
	compile: []string{"mpicc.mpich", "-O3", "-march=native"}, source: "mpi.c",
	launcher: []string{"mpiexec.hydra", "-n", "%d", "-bind-to", "core"},
	crowded:  []string{"mpiexec.hydra", "-n", "%d"},
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
		{name: "dissemination", collectives: []string{"barrier"}, env: []string{"MPIR_CVAR_BARRIER_INTRA_ALGORITHM=dissemination"}},
		{name: "UCX segments of 256K", transport: "tcp", env: []string{"UCX_TCP_TX_SEG_SIZE=256k", "UCX_TCP_RX_SEG_SIZE=256k"}},
	},
}
