package fast

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/deadlock"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/membership"
	"github.com/collgen/collgen/fast/internal/memory"
	"github.com/collgen/collgen/fast/internal/message"
	"github.com/collgen/collgen/fast/internal/monitor"
	"github.com/collgen/collgen/fast/internal/relatomic"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
)

// State is how a communicator is: Healthy, then at most one of Failed, Revoked and Aborted, and Closed in the end.
type State = failure.State

// The states of a communicator on one rank.
const (
	Healthy = failure.Healthy
	Failed  = failure.Failed  // a call failed, here or on another rank
	Revoked = failure.Revoked // a rank has revoked it, for all
	Aborted = failure.Aborted // this rank has aborted it
	Closed  = failure.Closed  // this rank has closed it
)

// Comm is one rank's end of a communicator: a fixed set of ranks that make the same calls in the same order.
//
// One call at a time runs on a Comm, and one goroutine at a time makes or starts calls: a second one gets
// ErrConcurrentUse. After a call that failed the communicator is given up, on all ranks, because the calls to come
// would not match: every later call gets an error that is ErrAborted. Refused calls, those with ErrInvalidArgument and
// ErrConcurrentUse, or whose context had ended before they began, do no harm.
//
// A forked child of a rank, for example of a C program that has this package as a library, is no rank. Its calls fail
// with ErrForked and do nothing, on Linux from 4.14 on. On other systems nothing refuses them.
//
// A Comm keeps the scratch memory of its calls, up to the most that one call has needed, for those that follow. A call
// whose algorithm would need more than 16 GiB of it is refused.
type Comm struct {
	rank, size int
	id         uint64        // the same on all ranks, and no other communicator's of the job
	name       string        // for people
	members    []int         // the numbers of the ranks' processes in the job; nil: the ranks themselves
	world      *world        // nil if this is the only rank of a communicator that Init made
	made       atomic.Uint32 // communicators that Split has made of it on this rank, for their names

	unwatch func() // ends the plane's watch
	groups  struct {
		mu   sync.Mutex
		made map[uint64]uint64 // how many groups were made of the same ranks
	}

	membership *membership.Member // nil: there is no control plane

	termination atomic.Pointer[failure.Termination] // nil: healthy
	ended       chan struct{}                       // closed when it has ended
	notifying   sync.Mutex                          // held while a notice is sent, so that the first one comes first
	changes     failure.Changes
	closedRanks []atomic.Bool                 // ranks that have closed, as far as they have told
	farewells   []atomic.Pointer[[]wire.Call] // what they have called last, as far as they have told
	closed      atomic.Bool
	busy        relatomic.Flag // guards exec and memory
	exec        exec.Executor
	memory      memory.Pool

	queue    atomic.Pointer[queue] // of started calls; nil before the first
	refusals refusals              // of calls that were to be started
	track    *flight.Track         // what the flight recorder knows of it; nil: nothing
	hooked   *hooked               // what tells the hooks; nil: there are none
	detector *deadlock.Detector    // nil: there is no search
	monitor  *monitor.Monitor
	messages *message.Engine
	aside    atomic.Pointer[aside] // the operation beside the data path in which this rank is; nil: none
}

// newComm returns rank's end of a communicator of size ranks that talk over t.
func newComm(rank, size int, t transport.Transport) *Comm {
	c := &Comm{rank: rank, size: size, name: "world", ended: make(chan struct{}), closedRanks: make([]atomic.Bool, size),
		farewells: make([]atomic.Pointer[[]wire.Call], size)}
	c.monitor = monitor.New(rank, size, monitored{c})
	c.messages = message.New(rank, size, messaging{c})
	c.exec.SetUp(rank, size, t)
	transport.YieldWhile(t, func() bool {
		q := c.queue.Load()
		return q != nil && q.inBackground()
	})
	c.memory.SetUp(rank, size, t)
	c.exec.Carrier, c.exec.Local = carriedInside, size
	return c
}

// Rank returns this rank's number, 0 <= Rank() < Size(). It is 0 for a nil Comm.
func (c *Comm) Rank() int {
	if c == nil {
		return 0
	}
	return c.rank
}

// Size returns the number of ranks, at least 1. It is 1 for a nil Comm, and for one that nobody made.
func (c *Comm) Size() int {
	if c == nil {
		return 1
	}
	return max(1, c.size)
}

// String returns the communicator's name, the rank and the size, for messages: "world, rank 2 of 4".
func (c *Comm) String() string {
	if c == nil || c.name == "" {
		return fmt.Sprintf("rank %d of %d", c.Rank(), c.Size())
	}
	return fmt.Sprintf("%s, rank %d of %d", c.name, c.Rank(), c.Size())
}

// process returns the number of rank's process in the job.
func (c *Comm) process(rank int) int {
	if c.members == nil {
		return rank
	}
	return c.members[rank]
}

// rankOf returns the rank of a process, or -1.
func (c *Comm) rankOf(process int) int {
	if c.members != nil {
		return slices.Index(c.members, process)
	}
	if process < 0 || process >= c.size {
		return -1
	}
	return process
}

// State returns the state of c on this rank. A nil Comm is Closed.
func (c *Comm) State() State {
	if c == nil {
		return Closed
	}
	f := c.termination.Load()
	switch {
	case c.closed.Load():
		return Closed
	case f != nil:
		return f.State
	}
	return Healthy
}

// Err returns why c is not healthy: the first failure, or what is ErrRevoked or ErrAborted; nil if it is, or was when
// it was closed.
func (c *Comm) Err() error {
	if c == nil {
		return nil
	}
	if f := c.termination.Load(); f != nil {
		return f.Err
	}
	return nil
}

// processes returns the numbers of all ranks' processes.
func (c *Comm) processes() []int {
	all := make([]int, c.size)
	for rank := range all {
		all[rank] = c.process(rank)
	}
	return all
}

// ranks returns the numbers of all ranks.
func (c *Comm) ranks() []int {
	all := make([]int, c.size)
	for rank := range all {
		all[rank] = rank
	}
	return all
}

// refusedError returns the error of a call that is not made and has no number: "Barrier on world, rank 1 of 4: …".
func (c *Comm) refusedError(name string, err error) error {
	return fmt.Errorf("%s on %v: %w", name, c, err)
}

// contextError returns the error of a call whose context has ended before it began.
func (c *Comm) contextError(ctx context.Context, name string) error {
	return c.refusedError(name, wire.Timeout(ctx, nil))
}

// Topology says which ranks of a communicator share a host, and how ranks talk to each other.
type Topology struct {
	// Hosts are the ranks of each host, in ascending order; the hosts are in the order of their lowest ranks.
	Hosts [][]int `json:"hosts"`
	// Links is how this rank talks to each rank: "self", "inproc" (goroutines), "shm", "rdma" or "tcp".
	Links []string `json:"links"`
	// Transport is the transport of the whole communicator, in the words of Rule: "inproc" (also for a rank that is
	// alone), "shm", "tcp", "rdma", or "mixed" if only some ranks share memory.
	Transport string `json:"transport"`
}

// Topology returns how the ranks of c are connected. All ranks see the same hosts and transport.
func (c *Comm) Topology() Topology {
	if c == nil {
		c = new(Comm)
	}
	t := Topology{Links: make([]string, c.Size()), Transport: c.exec.Carrier}
	hosts := make(map[string]int)
	for rank := range c.Size() {
		host, link := c.place(rank)
		at, known := hosts[host]
		if !known {
			at = len(t.Hosts)
			hosts[host] = at
			t.Hosts = append(t.Hosts, nil)
		}
		t.Hosts[at], t.Links[rank] = append(t.Hosts[at], rank), link
	}
	return t
}

// place returns a name for rank's host, and how this rank talks to it.
func (c *Comm) place(rank int) (host, link string) {
	host, link = "here", carriedInside
	if c.world != nil && c.world.locate != nil {
		host, link = c.world.locate(c.process(rank))
	}
	if rank == c.Rank() {
		link = "self"
	}
	return host, link
}

// String returns one line: "2 hosts: [0 1] [2 3]; shm to [1]; tcp to [2 3]".
func (t Topology) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d hosts:", len(t.Hosts))
	if len(t.Hosts) == 1 {
		b.Reset()
		b.WriteString("1 host:")
	}
	for _, ranks := range t.Hosts {
		fmt.Fprint(&b, " ", ranks)
	}
	for _, link := range slices.Compact(slices.Sorted(slices.Values(t.Links))) {
		if link != "self" {
			fmt.Fprintf(&b, "; %s to %v", link, t.by(link))
		}
	}
	return b.String()
}

// by returns the ranks that this one reaches by that link.
func (t Topology) by(link string) (ranks []int) {
	for rank, l := range t.Links {
		if l == link {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// aside is an operation beside the data path, such as Agree.
type aside struct {
	name  string
	begun time.Time
}

// beginAside says that this rank is in an operation beside the data path, until endAside.
func (c *Comm) beginAside(name string) { c.aside.Store(&aside{name, time.Now()}) }

func (c *Comm) endAside() { c.aside.Store(nil) }
