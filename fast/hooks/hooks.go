// Package hooks tells a program what happens to the calls and communicators of its rank, for metrics and traces. The
// option WithHooks of package fast takes [Hooks].
//
// Modules in folder hooks of the repository have them for Prometheus and OpenTelemetry.
package hooks

import "time"

// Hooks are functions that a rank calls. Those that are nil are not called.
//
// A function is called while the call goes on, so it should return soon. It may be called by several goroutines at
// once. It makes no calls on communicators.
type Hooks struct {
	// CallBegun is called when a call begins. A call that is refused, because an argument is wrong or its communicator
	// was given up, does not begin. A call that was started begins when its turn comes.
	CallBegun func(c Call)
	// CallEnded is called when a call that has begun is over, with the time that it took. Err is nil if it has succeeded.
	CallEnded func(c Call, took time.Duration, err error)
	// CallSlow is called with each warning that a call makes no progress: see WithSlowCall of package fast.
	CallSlow func(c Call, w Wait)

	// CommMade is called when a communicator was made, the first one of the job included.
	CommMade func(c Comm)
	// CommShrunk is called when Shrink has made a communicator of the ranks of another one, after CommMade. Gone are the
	// ranks of c that made is without.
	CommShrunk func(c, made Comm, gone []int)
	// CommFailed is called when a communicator was given up: a call failed here or on another rank, a rank is down, or
	// one has revoked or aborted it. Err says which.
	CommFailed func(c Comm, err error)
	// CommClosed is called when this rank closes a communicator.
	CommClosed func(c Comm)
}

// Comm is one rank's end of a communicator.
type Comm struct {
	Name       string // for people: "world"
	ID         uint64 // the same on all ranks, and no other communicator's of the job
	Rank, Size int
	Transport  string // "inproc", "shm", "tcp", "rdma" or "mixed"
}

// Call is one call on one rank.
type Call struct {
	Comm      Comm
	Seq       uint64 // its number: of collectives, or of a sender and a receiver
	Primitive string // "AllReduce"
	Algorithm string // "ring"
	Label     string // of WithLabel; of a Bucket's call, the first and the last one; "": none
	Op        string // "sum"; "": the primitive takes none
	Type      string // "float32"
	Count     int    // elements per block; 0 where blocks have different lengths
	Bytes     int    // of the larger of this rank's buffers
	Root      int    // 0 where the primitive has none
	Peer      int    // of a point-to-point call, the other rank; otherwise -1
}

// Wait is why a call is slow.
type Wait struct {
	Still   time.Duration // how long it has made no progress
	Running time.Duration // how long it has been running
	For     []int         // the ranks that it waits for
	Known   []string      // what is known of the state of these ranks: "rank 3: stopped"
}
