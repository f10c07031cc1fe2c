package main

import "slices"

const (
	openMPI     = "Open MPI"
	mpich       = "MPICH"
	gloo        = "Gloo"
	pollingGloo = "Gloo, polling"
)

const (
	kib = 1 << 10
	mib = 1 << 20
)

// columns are the sizes of the table, in bytes of the whole buffer of a rank. A barrier is in the first.
var columns = []int{8, 64, 1 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20}

// row is a line of the table: one collective against the best of some peers.
type row struct {
	name       string
	collective string
	transport  string
	ranks      int
	twoBuffers bool // the result goes to another buffer than the operand
	registered bool // our operands are in registered memory
	peers      []string
	sizes      []int // nil: all columns
}

var (
	mpis    = []string{openMPI, mpich}
	barrier = []int{0}
)

// rows are all lines of the table. MPICH with more ranks than processors is left out: it polls without yielding, and a
// ratio to that would be meaningless.
var rows = []row{
	{name: "all-reduce, 2 ranks shm, vs Open MPI", collective: "all-reduce", transport: "shm", ranks: 2,
		peers: []string{openMPI}},
	{name: "all-reduce, 2 ranks shm, vs MPICH", collective: "all-reduce", transport: "shm", ranks: 2,
		peers: []string{mpich}},
	{name: "all-reduce, 2 ranks shm, registered, vs Open MPI", collective: "all-reduce", transport: "shm", ranks: 2,
		registered: true,
		peers:      []string{openMPI}, sizes: columns[2:]},
	{name: "all-reduce, 4 ranks shm, vs Open MPI", collective: "all-reduce", transport: "shm", ranks: 4,
		peers: []string{openMPI}},
	{name: "broadcast, 2 ranks shm, vs best MPI", collective: "broadcast", transport: "shm", ranks: 2, peers: mpis},
	{name: "broadcast, 4 ranks shm, vs Open MPI", collective: "broadcast", transport: "shm", ranks: 4,
		peers: []string{openMPI}},
	{name: "reduce-scatter, 2 ranks shm, vs best MPI", collective: "reduce-scatter", transport: "shm", ranks: 2,
		peers: mpis},
	{name: "all-gather, 2 ranks shm, vs best MPI", collective: "all-gather", transport: "shm", ranks: 2, peers: mpis},
	{name: "all-to-all, 2 ranks shm, vs best MPI", collective: "all-to-all", transport: "shm", ranks: 2, peers: mpis},
	{name: "all-to-all, 2 ranks shm, two buffers, vs best MPI", collective: "all-to-all", transport: "shm", ranks: 2,
		twoBuffers: true,
		peers:      mpis},
	{name: "barrier, 2 ranks shm, vs best MPI", collective: "barrier", transport: "shm", ranks: 2, peers: mpis,
		sizes: barrier},
	{name: "barrier, 4 ranks shm, vs Open MPI", collective: "barrier", transport: "shm", ranks: 4,
		peers: []string{openMPI},
		sizes: barrier},
	{name: "ping-pong, 2 ranks shm, vs best MPI", collective: "ping-pong", transport: "shm", ranks: 2, peers: mpis},
	{name: "all-reduce, 2 ranks TCP, vs best MPI", collective: "all-reduce", transport: "tcp", ranks: 2, peers: mpis},
	{name: "all-reduce, 2 ranks TCP, vs Gloo", collective: "all-reduce", transport: "tcp", ranks: 2,
		peers: []string{gloo}},
	{name: "all-reduce, 2 ranks TCP, vs Gloo that polls", collective: "all-reduce", transport: "tcp", ranks: 2,
		peers: []string{pollingGloo}, sizes: columns[:5]},
}

// benchmark is one collective at one size, as all programs run it. Several rows may compare times of one benchmark.
type benchmark struct {
	Collective string `json:"collective"`
	Transport  string `json:"transport"`
	Ranks      int    `json:"ranks"`
	Bytes      int    `json:"bytes"`
	TwoBuffers bool   `json:"twoBuffers,omitempty"`
}

// bytes returns the sizes of r.
func (r *row) bytes() []int {
	if r.sizes == nil {
		return columns
	}
	return r.sizes
}

func (r *row) benchmark(bytes int) benchmark {
	return benchmark{r.collective, r.transport, r.ranks, bytes, r.twoBuffers}
}

// comparison is a benchmark and the programs that run it, one directly after another.
type comparison struct {
	benchmark
	ours  []bool // whether registered
	peers []string
}

// comparisons returns those of the wanted cells, each once, in the order of the table.
func comparisons(wanted func(r *row, bytes int) bool) (all []*comparison) {
	for i := range rows {
		r := &rows[i]
		for _, bytes := range r.bytes() {
			if wanted(r, bytes) {
				all = r.addTo(all, bytes)
			}
		}
	}
	return all
}

// addTo adds the programs of a cell of r to the comparison of its benchmark.
func (r *row) addTo(all []*comparison, bytes int) []*comparison {
	at := slices.IndexFunc(all, func(c *comparison) bool { return c.benchmark == r.benchmark(bytes) })
	if at < 0 {
		at, all = len(all), append(all, &comparison{benchmark: r.benchmark(bytes)})
	}
	c := all[at]
	if !slices.Contains(c.ours, r.registered) {
		c.ours = append(c.ours, r.registered)
	}
	for _, p := range r.peers {
		if !slices.Contains(c.peers, p) {
			c.peers = append(c.peers, p)
		}
	}
	return all
}
