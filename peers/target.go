package main

// columns are the sizes of the table, in bytes of the whole buffer of a rank. A barrier is in the first.
var columns = []int{8, 64, 1 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20}

// target is a ratio, the peer's time over ours, that is to be reached, and one to wish for; 0: none.
type target struct {
	Floor   float64 `json:"floor,omitempty"`
	Stretch float64 `json:"stretch,omitempty"`
}

// row is a line of the table: one collective against the best of some peers.
type row struct {
	name       string
	collective string
	transport  string
	ranks      int
	twoBuffers bool // the result goes to another buffer than the operand
	registered bool // our operands are in registered memory
	peers      []string
	targets    map[int]target // by size in bytes; a size without one is measured all the same
	sizes      []int          // nil: all columns
}

const (
	openMPI     = "Open MPI"
	mpich       = "MPICH"
	gloo        = "Gloo"
	pollingGloo = "Gloo, polling"
)

var (
	mpis    = []string{openMPI, mpich}
	barrier = []int{0}
)

// rows are all lines of the table. The targets for up to 64 bytes count for 8 and for 64. MPICH with more ranks than
// processors is left out: it polls without giving way, and a ratio against that would say nothing.
var rows = []row{
	{name: "all-reduce, 2 ranks shm, vs Open MPI", collective: "all-reduce", transport: "shm", ranks: 2, peers: []string{openMPI},
		targets: targets(3.5, 4.5, 2.2, 3, 2, 3, 1.15, 1.6, 1.7, 2, 2.4, 3)},
	{name: "all-reduce, 2 ranks shm, vs MPICH", collective: "all-reduce", transport: "shm", ranks: 2, peers: []string{mpich},
		targets: targets(4.5, 5.5, 2.8, 4, 1.9, 2.8, 1.15, 1.6, 1.6, 2, 2.5, 3)},
	{name: "all-reduce, 2 ranks shm, registered, vs Open MPI", collective: "all-reduce", transport: "shm", ranks: 2, registered: true,
		peers: []string{openMPI}, sizes: columns[2:],
		targets: targets(0, 0, 2, 3, 3, 5, 1.4, 2.2, 2.2, 2.6, 3, 4)},
	{name: "all-reduce, 4 ranks shm, vs Open MPI", collective: "all-reduce", transport: "shm", ranks: 4, peers: []string{openMPI},
		targets: targets(2.5, 4, 2.5, 4.5, 2.5, 3, 1.5, 2, 1.9, 2.3, 2.7, 3.2)},
	{name: "broadcast, 2 ranks shm, vs best MPI", collective: "broadcast", transport: "shm", ranks: 2, peers: mpis,
		targets: targets(1.1, 2, 1.2, 2, 1.8, 2.2, 2, 2.3, 2.2, 2.6, 2, 2.4)},
	{name: "broadcast, 4 ranks shm, vs Open MPI", collective: "broadcast", transport: "shm", ranks: 4, peers: []string{openMPI},
		targets: targets(1.4, 2, 3, 4.5, 1.5, 2, 1.8, 2.2, 2.2, 2.5, 2.3, 2.6)},
	{name: "reduce-scatter, 2 ranks shm, vs best MPI", collective: "reduce-scatter", transport: "shm", ranks: 2, peers: mpis,
		targets: targets(2, 3, 2, 0, 2.5, 3, 1.5, 1.8, 1.7, 2, 2.5, 3)},
	{name: "all-gather, 2 ranks shm, vs best MPI", collective: "all-gather", transport: "shm", ranks: 2, peers: mpis,
		targets: moved},
	{name: "all-to-all, 2 ranks shm, vs best MPI", collective: "all-to-all", transport: "shm", ranks: 2, peers: mpis,
		targets: moved},
	{name: "all-to-all, 2 ranks shm, two buffers, vs best MPI", collective: "all-to-all", transport: "shm", ranks: 2, twoBuffers: true,
		peers: mpis, targets: moved},
	{name: "barrier, 2 ranks shm, vs best MPI", collective: "barrier", transport: "shm", ranks: 2, peers: mpis, sizes: barrier,
		targets: map[int]target{0: {Floor: 2.2}}},
	{name: "barrier, 4 ranks shm, vs Open MPI", collective: "barrier", transport: "shm", ranks: 4, peers: []string{openMPI}, sizes: barrier,
		targets: map[int]target{0: {Floor: 2.2}}},
	{name: "ping-pong, 2 ranks shm, vs best MPI", collective: "ping-pong", transport: "shm", ranks: 2, peers: mpis},
	{name: "all-reduce, 2 ranks TCP, vs best MPI", collective: "all-reduce", transport: "tcp", ranks: 2, peers: mpis,
		targets: targets(1.1, 1.6, 1.8, 2.2, 1.6, 2, 1.1, 1.25, 1.4, 1.8, 1.9, 2.3)},
	{name: "all-reduce, 2 ranks TCP, vs Gloo", collective: "all-reduce", transport: "tcp", ranks: 2, peers: []string{gloo},
		targets: targets(8, 12, 6, 9, 2.8, 3.4, 1.5, 1.8, 2, 2.4, 1.9, 2.3)},
	{name: "all-reduce, 2 ranks TCP, vs Gloo that polls", collective: "all-reduce", transport: "tcp", ranks: 2,
		peers: []string{pollingGloo}, sizes: columns[:5]},
}

// moved are the targets of the collectives that only move data.
var moved = targets(2, 2.5, 1.5, 0, 1.1, 1.5, 0.9, 1.2, 1, 1.15, 1, 1.15)

// targets are floor and stretch for up to 64 bytes, 1 KiB, 64 KiB, 1 MiB, 16 MiB and 64 MiB.
func targets(f ...float64) map[int]target {
	t := map[int]target{8: {f[0], f[1]}}
	for i, bytes := range columns[1:] {
		t[bytes] = target{f[2*i], f[2*i+1]}
	}
	return t
}
