package main

import (
	"slices"

	"github.com/collgen/collgen/gen"
)

// check is one configuration of one model, and what both checkers have to find.
type check struct {
	model  string
	config string // its file is config/MODEL/CONFIG.cfg
	// For model Exec: the schedule that it runs.
	algorithm string
	gen.Params
	inPlace    bool
	parts      int  // that chunks are cut into; 0: one
	sendsFirst bool // the receives of a step wait for its sends
	// For model TcpStream: the bytes of the messages, and whether a frame comes first that is not a message's.
	messages []int
	told     bool

	// For a model of what a real run did: module Trace, the numbers of its events' lines by rank, and where it is to be
	// refused.
	events  string
	frames  string // of a connection: module Frames
	lines   [][]string
	refused string

	// want is "ok", "deadlock", or the name of the invariant or property that is violated.
	want string
	// distinct ones of the whole graph, which a checker has to see where the verdict is ok or a violated property; -1: as
	// many as the other
	states int
	trace  int  // for an invariant or a deadlock: the states of a shortest counterexample
	long   bool // only with -long
}

// manifest is all checks.
var manifest = slices.Concat(execChecks, shmRingChecks, refGuardChecks, tcpStreamChecks, rdmaImmChecks,
	rdmaStripesChecks, abortChecks, rendezvousChecks, commOrderChecks)

var execChecks = []check{
	{model: "Exec", config: "ring", algorithm: "allreduce/ring", Params: gen.Params{Size: 3, Depth: 1}, want: "ok",
		states: 178},
	{model: "Exec", config: "ring4", algorithm: "allreduce/ring", Params: gen.Params{Size: 4, Depth: 1}, inPlace: true,
		want: "ok", states: 1168, long: true},
	{model: "Exec", config: "ring_rendezvous", algorithm: "allreduce/ring", Params: gen.Params{Size: 3, Depth: 1},
		want: "ok", states: 42},
	{model: "Exec", config: "ring_deep", algorithm: "allreduce/ring", Params: gen.Params{Size: 3, Depth: 1}, want: "ok",
		states: 232},
	{model: "Exec", config: "doubling", algorithm: "allreduce/recursive-doubling", Params: gen.Params{Size: 3, Depth: 1},
		want: "ok", states: 22},
	{model: "Exec", config: "doubling4", algorithm: "allreduce/recursive-doubling", Params: gen.Params{Size: 4, Depth: 1},
		inPlace: true, want: "ok", states: 352},
	{model: "Exec", config: "tree", algorithm: "allreduce/tree", Params: gen.Params{Size: 4, Depth: 2}, want: "ok",
		states: 26},
	{model: "Exec", config: "tree4", algorithm: "allreduce/tree", Params: gen.Params{Size: 4, Depth: 2}, want: "ok",
		states: 10},
	{model: "Exec", config: "twoshot", algorithm: "allreduce/two-shot", Params: gen.Params{Size: 2, Depth: 1}, want: "ok",
		states: 44},
	{model: "Exec", config: "twoshot_rendezvous", algorithm: "allreduce/two-shot", Params: gen.Params{Size: 3, Depth: 1},
		want: "ok", states: 244},
	{model: "Exec", config: "polls", algorithm: "allreduce/ring", Params: gen.Params{Size: 3, Depth: 1}, want: "ok",
		states: 2909, long: true},
	{model: "Exec", config: "polls_rendezvous", algorithm: "allreduce/ring", Params: gen.Params{Size: 3, Depth: 1},
		want: "ok", states: 1065},
	{model: "Exec", config: "twoshot4", algorithm: "allreduce/two-shot", Params: gen.Params{Size: 4, Depth: 1}, want: "ok",
		states: 10336, long: true},
	{model: "Exec", config: "promised_swap", algorithm: "allreduce/recursive-doubling",
		Params: gen.Params{Size: 2, Depth: 1}, inPlace: true, parts: 3, want: "ok", states: 28},
	{model: "Exec", config: "promised_swap4", algorithm: "allreduce/recursive-doubling",
		Params: gen.Params{Size: 4, Depth: 1}, inPlace: true, parts: 2, want: "ok", states: 738, long: true},
	{model: "Exec", config: "promised_pairwise", algorithm: "alltoall/pairwise", Params: gen.Params{Size: 3, Depth: 1},
		inPlace: true, parts: 2, want: "ok", states: 104},
	{model: "Exec", config: "promised_direct", algorithm: "alltoall/direct", Params: gen.Params{Size: 3, Depth: 1},
		inPlace: true, want: "ok", states: 368},
	{model: "Exec", config: "promised_ring", algorithm: "allreduce/ring", Params: gen.Params{Size: 3, Depth: 1},
		want: "ok", states: 154},
	{model: "Exec", config: "sends_first", algorithm: "allreduce/ring", Params: gen.Params{Size: 3, Depth: 1},
		sendsFirst: true, want: "ok", states: 118},
	{model: "Exec", config: "bad_room", algorithm: "allreduce/ring", Params: gen.Params{Size: 3, Depth: 1},
		sendsFirst: true, want: "deadlock", trace: 1},
	{model: "Exec", config: "bad_parts", algorithm: "allreduce/recursive-doubling", Params: gen.Params{Size: 2, Depth: 1},
		inPlace: true, parts: 2, want: "deadlock", trace: 3},
	{model: "Exec", config: "bad_capacity", algorithm: "allreduce/recursive-doubling",
		Params: gen.Params{Size: 2, Depth: 1}, inPlace: true, want: "deadlock", trace: 1},
	{model: "Exec", config: "bad_aftersend", algorithm: "allreduce/recursive-doubling",
		Params: gen.Params{Size: 2, Depth: 1}, inPlace: true, want: "Result", trace: 7},
	{model: "Exec", config: "bad_join", algorithm: "allreduce/ring", Params: gen.Params{Size: 3, Depth: 1}, want: "NoRace",
		trace: 1},
	{model: "Exec", config: "bad_operands", algorithm: "allreduce/recursive-doubling",
		Params: gen.Params{Size: 4, Depth: 1}, want: "Result", trace: 21},
	{model: "Exec", config: "bad_order", algorithm: "allreduce/ring", Params: gen.Params{Size: 3, Depth: 1},
		want: "Result", trace: 28, long: true},
	{model: "Exec", config: "bad_lossless", algorithm: "allreduce/ring", Params: gen.Params{Size: 2, Depth: 1},
		want: "deadlock", trace: 3},
	{model: "Exec", config: "bad_once", algorithm: "allreduce/ring", Params: gen.Params{Size: 2, Depth: 1}, want: "Result",
		trace: 11},
	{model: "Exec", config: "bad_looks", algorithm: "allreduce/two-shot", Params: gen.Params{Size: 3, Depth: 1},
		want: "Ends", states: 342},
	{model: "Exec", config: "bad_starved", algorithm: "allreduce/ring", Params: gen.Params{Size: 3, Depth: 1},
		want: "Ends", states: 1065},
}

var shmRingChecks = []check{
	{model: "ShmRing", config: "small", want: "ok", states: 877},
	{model: "ShmRing", config: "ring", want: "ok", states: 2578},
	{model: "ShmRing", config: "announces", want: "ok", states: 6352},
	{model: "ShmRing", config: "grows", want: "ok", states: 10085},
	{model: "ShmRing", config: "naps", want: "ok", states: 479},
	{model: "ShmRing", config: "long", want: "ok", states: 22939, long: true},
	{model: "ShmRing", config: "bad_fence", want: "deadlock", trace: 25},
	{model: "ShmRing", config: "bad_order", want: "deadlock", trace: 23},
	{model: "ShmRing", config: "bad_datafirst", want: "Refines", trace: 5},
	{model: "ShmRing", config: "bad_readfirst", want: "Refines", trace: 12},
	{model: "ShmRing", config: "bad_tail", want: "Refines", trace: 15},
	{model: "ShmRing", config: "bad_bell", want: "deadlock", trace: 24},
	{model: "ShmRing", config: "bad_lookagain", want: "deadlock", trace: 21},
	{model: "ShmRing", config: "bad_wakes", want: "deadlock", trace: 21},
	{model: "ShmRing", config: "bad_where", want: "Refines", trace: 9},
	{model: "ShmRing", config: "bad_nap", want: "Ends", states: 203},
}

var refGuardChecks = []check{
	{model: "RefGuard", config: "plain", want: "ok", states: 738},
	{model: "RefGuard", config: "atomic", want: "ok", states: 296},
	{model: "RefGuard", config: "endless", want: "ok", states: 483},
	{model: "RefGuard", config: "long", want: "ok", states: 1912, long: true},
	{model: "RefGuard", config: "bad_barrier", want: "Mapped", trace: 9},
	{model: "RefGuard", config: "bad_close", want: "Mapped", trace: 9},
	{model: "RefGuard", config: "bad_counts", want: "Mapped", trace: 8},
	{model: "RefGuard", config: "bad_mark", want: "Mapped", trace: 10},
	{model: "RefGuard", config: "bad_once", want: "FreedOnce", trace: 14},
	{model: "RefGuard", config: "bad_leaves", want: "Ends", states: 623},
	{model: "RefGuard", config: "bad_atonce", want: "Ends", states: 476},
}

var tcpStreamChecks = []check{
	{model: "TcpStream", config: "stream", messages: []int{3, 0}, want: "ok", states: 864},
	{model: "TcpStream", config: "breaks", messages: []int{3, 0}, want: "ok", states: 2111},
	{model: "TcpStream", config: "naps", messages: []int{3, 0}, want: "ok", states: 1108},
	{model: "TcpStream", config: "told", messages: []int{3, 0}, told: true, want: "ok", states: 1153},
	{model: "TcpStream", config: "long", messages: []int{3, 0, 2, 0, 1}, want: "ok", states: 6212, long: true},
	{model: "TcpStream", config: "bad_rest", messages: []int{3, 0, 2, 0, 1}, want: "Refines", trace: 4},
	{model: "TcpStream", config: "bad_header", messages: []int{3, 0}, want: "Refines", trace: 8},
	{model: "TcpStream", config: "bad_end", messages: []int{3, 0}, want: "Refines", trace: 6},
	{model: "TcpStream", config: "bad_armin", messages: []int{3, 0}, want: "deadlock", trace: 6},
	{model: "TcpStream", config: "bad_armout", messages: []int{3, 0}, want: "deadlock", trace: 8},
	{model: "TcpStream", config: "bad_armanew", messages: []int{3, 0}, want: "deadlock", trace: 11},
	{model: "TcpStream", config: "bad_level", messages: []int{3, 0}, want: "deadlock", trace: 6},
	{model: "TcpStream", config: "bad_nap", messages: []int{3, 0}, want: "Ends", states: 689},
}

var rdmaImmChecks = []check{
	{model: "RdmaImm", config: "packets", want: "ok", states: 903},
	{model: "RdmaImm", config: "wraps", want: "ok", states: 6657},
	{model: "RdmaImm", config: "both", want: "ok", states: 4263},
	{model: "RdmaImm", config: "breaks", want: "ok", states: 28539},
	{model: "RdmaImm", config: "naps", want: "ok", states: 908},
	{model: "RdmaImm", config: "bad_room", want: "Refines", trace: 8},
	{model: "RdmaImm", config: "bad_acks", want: "NoOverflow", trace: 8},
	{model: "RdmaImm", config: "bad_imm", want: "Refines", trace: 4},
	{model: "RdmaImm", config: "bad_takes", want: "Refines", trace: 10},
	{model: "RdmaImm", config: "bad_receives", want: "NoRNR", trace: 11},
	{model: "RdmaImm", config: "bad_reserves", want: "deadlock", trace: 13},
	{model: "RdmaImm", config: "bad_wraps", want: "deadlock", trace: 26},
	{model: "RdmaImm", config: "bad_probes", want: "Ends", states: 844},
}

var rdmaStripesChecks = []check{
	{model: "RdmaStripes", config: "two", want: "ok", states: 123},
	{model: "RdmaStripes", config: "three", want: "ok", states: 187},
	{model: "RdmaStripes", config: "naps", want: "ok", states: 150},
	{model: "RdmaStripes", config: "bad_main", want: "Refines", trace: 9},
	{model: "RdmaStripes", config: "bad_beside", want: "Refines", trace: 9},
	{model: "RdmaStripes", config: "bad_place", want: "Refines", trace: 16},
	{model: "RdmaStripes", config: "bad_turn", want: "Refines", trace: 17},
	{model: "RdmaStripes", config: "bad_ends", want: "Refines", trace: 8},
	{model: "RdmaStripes", config: "bad_gone", want: "Refines", trace: 13},
	{model: "RdmaStripes", config: "bad_looks", want: "Ends", states: 54},
}

var abortChecks = []check{
	{model: "Abort", config: "two", want: "ok", states: 389},
	{model: "Abort", config: "three", want: "ok", states: 22403},
	{model: "Abort", config: "deaths", want: "ok", states: 25015},
	{model: "Abort", config: "looks", want: "ok", states: 1556},
	{model: "Abort", config: "learns", want: "ok", states: 1556},
	{model: "Abort", config: "deaths_calls", want: "ok", states: 189713, long: true},
	{model: "Abort", config: "four", want: "ok", states: 108149, long: true},
	{model: "Abort", config: "bad_tells", want: "deadlock", trace: 3},
	{model: "Abort", config: "bad_detects", want: "deadlock", trace: 2},
	{model: "Abort", config: "bad_heartbeat", want: "Ends", states: 540},
	{model: "Abort", config: "bad_apart", want: "Learns", states: 1424},
	{model: "Abort", config: "bad_keepsold", want: "Agreement", trace: 26},
	{model: "Abort", config: "bad_acks", want: "Agreement", trace: 13},
	{model: "Abort", config: "bad_all", want: "Validity", trace: 7},
	{model: "Abort", config: "bad_answers", want: "deadlock", trace: 24},
	{model: "Abort", config: "bad_epoch", want: "NoStray", trace: 13},
}

var rendezvousChecks = []check{
	{model: "Rendezvous", config: "two", want: "ok", states: 272},
	{model: "Rendezvous", config: "three", want: "ok", states: 37468, long: true},
	{model: "Rendezvous", config: "bad_publishes", want: "deadlock", trace: 2},
	{model: "Rendezvous", config: "bad_fetches", want: "Ends", states: 74},
	{model: "Rendezvous", config: "bad_redials", want: "deadlock", trace: 11},
	{model: "Rendezvous", config: "bad_secrets", want: "Authentic", trace: 8},
	{model: "Rendezvous", config: "bad_tokens", want: "Authentic", trace: 8},
	{model: "Rendezvous", config: "bad_confirms", want: "Accuracy", trace: 8},
	{model: "Rendezvous", config: "bad_awaitsall", want: "Connected", trace: 18},
}

var commOrderChecks = []check{
	{model: "CommOrder", config: "order", want: "ok", states: 61},
	{model: "CommOrder", config: "started", want: "ok", states: 156},
	{model: "CommOrder", config: "joined", want: "ok", states: 476},
	{model: "CommOrder", config: "sends_first", want: "ok", states: 935},
	{model: "CommOrder", config: "beside", want: "ok", states: 361},
	{model: "CommOrder", config: "sendrecv", want: "ok", states: 65},
	{model: "CommOrder", config: "round", want: "ok", states: 8035},
	{model: "CommOrder", config: "ring", want: "ok", states: 162},
	{model: "CommOrder", config: "ring_eager", want: "ok", states: 162},
	{model: "CommOrder", config: "mixed", want: "ok", states: 1434},
	{model: "CommOrder", config: "cross", want: "ok", states: 1875},
	{model: "CommOrder", config: "order_long", want: "ok", states: 2022, long: true},
	{model: "CommOrder", config: "sends_first_long", want: "ok", states: 2169, long: true},
	{model: "CommOrder", config: "ring_long", want: "ok", states: 621, long: true},
	{model: "CommOrder", config: "bad_queues", want: "Ends", states: 484},
	{model: "CommOrder", config: "bad_joins", want: "deadlock", trace: 11},
	{model: "CommOrder", config: "bad_heeds", want: "Harmless", trace: 6},
	{model: "CommOrder", config: "bad_chases", want: "deadlock", trace: 4},
	{model: "CommOrder", config: "bad_passes", want: "Ends", states: 12},
	{model: "CommOrder", config: "bad_asks", want: "Accuracy", trace: 12},
	{model: "CommOrder", config: "bad_moves", want: "Accuracy", trace: 28},
	{model: "CommOrder", config: "bad_holds", want: "Accuracy", trace: 22},
	{model: "CommOrder", config: "bad_contexts", want: "Ends", states: 12},
}
