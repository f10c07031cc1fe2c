// Package hosts has collectives in two levels, for ranks on several hosts: the ranks of each host meet first, and only
// its leader, the lowest of them, talks to other hosts. Hosts may have different numbers of ranks, and ranks may lie on
// them in any order. What a call means is what the call of that name of package fast means, with the same buffers.
//
// A call is made of calls of package fast on two communicators: that of this rank's host, and that of all leaders. An
// AllReduce, for one, is a Reduce on each host, an AllReduce of the leaders, and a Broadcast on each host. Each of
// these calls is proved, as far as package fast says. That they make up the whole is not proved: it is tested, against
// package ref, as is the order in which leaders put blocks where the ranks of hosts are not consecutive. So is what
// follows from several communicators, such as how errors spread.
//
// Hosts send each other as few bytes as any algorithm can, where the algorithm of the leaders does. For AllReduce those
// of short blocks do not among four hosts or more. Leaders need memory for what their hosts have: see [AllReduce] and
// the other calls. If all ranks are on one host, or each on its own, a call is the one of package fast.
//
// Traces name the calls that a call is made of.
package hosts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Comm is one rank's end of a communicator whose ranks make calls in two levels. Its ranks are those of the
// communicator that it was made from.
//
// One call at a time runs on a Comm: a second goroutine that makes one gets fast.ErrConcurrentUse. A call that fails
// gives the Comm up, and the communicator that it was made from, on all ranks, as a call on that one would: errors name
// the ranks of that one. When that one fails for another reason, calls on the Comm do. Shrink makes a communicator of
// the ranks that are left, from which New makes another Comm.
type Comm struct {
	c      *fast.Comm // of all ranks
	name   string     // of c
	hosts  [][]int    // the ranks of each host
	hostOf []int      // the host of each rank
	seatOf []int      // the number of each rank on its host; a leader's is 0
	order  []int      // all ranks, host by host
	mixed  bool       // that is not their own order
	most   int        // ranks on the host that has the most
	first  int        // ranks on the hosts before this one
	counts []int      // memory for the lengths of hosts' blocks
	limit  int        // of the bytes that a leader may need

	near, far part  // the ranks of this host, and the leaders
	flat      *part // one of them, if all ranks are in it

	busy       atomic.Bool // guards what follows
	calls      uint64      // that have begun
	stage      int         // calls on parts that the call in progress has made
	whole      exec.Part   // the call in progress
	quantizing quantizing
	opts       []fast.Option
	scratch    [2][]complex128

	closed  atomic.Bool
	left    chan struct{} // closed by Close
	watched chan struct{} // closed when nobody watches c any more
}

// part is a communicator of some of the ranks. This rank is in none if its Comm is nil.
type part struct {
	*fast.Comm
	ranks []int // of the whole
}

// New returns a communicator in two levels of the ranks of c, on the hosts that c.Topology returns. All ranks of c call
// it, in the order of their other calls. It succeeds on all ranks or fails on all, except for ranks that fail
// meanwhile.
//
// The caller closes the Comm before c. Both may be used at the same time, by different goroutines.
func New(ctx context.Context, c *fast.Comm) (*Comm, error) {
	if c == nil {
		return nil, wire.Refuse("hosts.New", "the communicator is nil")
	}
	return on(ctx, c, c.Topology().Hosts)
}

// on is New for those hosts.
func on(ctx context.Context, c *fast.Comm, hosts [][]int) (*Comm, error) {
	h := place(c, hosts)
	if err := h.divide(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("hosts.New: %w", err), h.near.Close(), h.far.Close())
	}
	go h.watch()
	return h, nil
}

// place returns the Comm of a rank that knows where the others are.
func place(c *fast.Comm, hosts [][]int) *Comm {
	h := &Comm{c: c, hosts: hosts, hostOf: make([]int, c.Size()), seatOf: make([]int, c.Size()),
		order: slices.Concat(hosts...), limit: exec.MaxScratch, left: make(chan struct{}), watched: make(chan struct{})}
	h.name, _, _ = strings.Cut(c.String(), ", rank ")
	h.mixed = !slices.IsSorted(h.order)
	h.opts = []fast.Option{{Kind: exec.PartOption, Part: &h.whole}}
	for host, ranks := range hosts {
		h.most = max(h.most, len(ranks))
		h.far.ranks = append(h.far.ranks, ranks[0])
		for seat, rank := range ranks {
			h.hostOf[rank], h.seatOf[rank] = host, seat
		}
	}
	h.near.ranks = hosts[h.hostOf[c.Rank()]]
	h.first = slices.Index(h.order, h.near.ranks[0])
	h.counts = make([]int, len(hosts))
	switch c.Size() {
	case len(h.near.ranks):
		h.flat = &h.near
	case len(hosts):
		h.flat = &h.far
	}
	return h
}

// divide makes the communicators of the parts.
func (h *Comm) divide(ctx context.Context) error {
	rank := h.c.Rank()
	leaders := 0
	if h.seatOf[rank] > 0 {
		leaders = -1
	}
	var near, far error
	h.near.Comm, near = h.c.Split(ctx, h.hostOf[rank], rank)
	h.far.Comm, far = h.c.Split(ctx, leaders, rank)
	made := []int{1}
	if near != nil || far != nil {
		made[0] = 0
	}
	all := fast.AllReduce(ctx, h.c, made, fast.Min)
	if err := cmp.Or(near, far, all); err != nil { // the others follow from it
		if near == nil && all != nil { // the other ranks go on
			exec.Runtime.Fail(h.c, err)
		}
		return err
	}
	if made[0] == 0 {
		return errors.New("another rank could not make its communicators")
	}
	return nil
}

// watch fails the parts when c has ended, so that no rank waits there for one that has given up.
func (h *Comm) watch() {
	defer close(h.watched)
	select {
	case <-h.left:
		return
	case <-exec.Runtime.Ended(h.c):
	}
	over := fmt.Errorf("%s is given up: %v", h.name, h.c.Err()) // whose ranks are not those of a part
	for _, p := range []part{h.near, h.far} {
		if p.Comm != nil {
			exec.Runtime.Fail(p.Comm, over)
		}
	}
}

// Close leaves the communicator, as the Close of package fast does: a call in another goroutine returns fast.ErrClosed,
// as every later one, and on other ranks a call that waits for this one fails. The communicator that h was made from
// stays open. Closing again does nothing.
func (h *Comm) Close() error {
	if h == nil || h.c == nil || h.closed.Swap(true) {
		return nil
	}
	err := h.near.Close()
	if errors.Is(err, fast.ErrForked) { // nobody watches here
		h.closed.Store(false)
		return err
	}
	close(h.left)
	<-h.watched
	return errors.Join(err, h.far.Close())
}
