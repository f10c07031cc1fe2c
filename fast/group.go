package fast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/deadlock"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/setup"
	"github.com/collgen/collgen/fast/internal/wire"
)

// derive makes a new communicator of some of c's ranks, this one included. All of members call it with the same id.
func (c *Comm) derive(ctx context.Context, id uint64, name string, members []int) (*Comm, error) {
	processes := make([]int, len(members))
	for i, rank := range members {
		processes[i] = c.process(rank)
	}
	return c.world.comm(ctx, id, name, processes)
}

// Split makes a new communicator for each color, of the ranks of c that pass it, ordered by key and then by their rank
// in c. A rank that passes a negative color is in none, and gets nil. All ranks of c call it, in the order of their
// other calls. The new communicators are independent of c and of each other; the callers close them.
//
// Split fails as a call of c does. If a new communicator cannot be made, it fails on all ranks of that communicator,
// and c stays as it is.
func (c *Comm) Split(ctx context.Context, color, key int) (*Comm, error) {
	return c.split(ctx, &gatherColors, color, key)
}

// Split and Dup gather with these collectives, whose names keep them from matching any other call.
var gatherColors, gatherForDup = allGather.Within("Split"), allGather.Within("Dup")

// split is Split, by gathering as k.
func (c *Comm) split(ctx context.Context, k *exec.Collective, color, key int) (*Comm, error) {
	if err := c.divisible(k.Name); err != nil {
		return nil, err
	}
	mine := [splitFields]int64{int64(color), int64(key), rand.Int64()}
	all := make([]int64, splitFields*c.size)
	args := exec.Args{Count: splitFields, AliasOut: c.rank * splitFields}
	if err := do(ctx, c, k, all, mine[:], &args, nil); err != nil {
		return nil, err
	}
	made := c.made.Add(1)
	if color < 0 {
		return nil, nil
	}
	var members []int
	for rank := range c.size {
		if all[splitFields*rank] == mine[0] {
			members = append(members, rank)
		}
	}
	slices.SortStableFunc(members, func(a, b int) int { return cmp.Compare(all[splitFields*a+1], all[splitFields*b+1]) })
	c.beginAside(k.Name)
	defer c.endAside()
	ctx, stop := c.usable(ctx, members)
	defer stop()
	name := fmt.Sprintf("%s/%d.%d", c.name, made, color)
	d, err := c.derive(ctx, control.DeriveID(c.id, uint64(all[2]), uint64(color)), name, members)
	return d, c.because(err, members)
}

// splitFields is how many numbers each rank gathers in Split: its color, its key, and a random number. That of rank 0
// distinguishes this Split from all others.
const splitFields = 3

// Dup makes a new communicator of the same ranks. All ranks call it, in the order of their other calls.
func (c *Comm) Dup(ctx context.Context) (*Comm, error) {
	return c.split(ctx, &gatherForDup, 0, c.Rank())
}

// Group makes a new communicator of the given ranks of c, which become its ranks 0, 1, … in this order. Only they call
// it, all with the same ranks. Ranks that are in several groups make them in the same order. While a rank is in Group,
// calls of other goroutines on c get ErrConcurrentUse, and Group gets it if such a call is running that was not
// started. Calls that were started go on.
//
// If another one of the ranks is in a call on c that needs this one, Group fails with a MismatchError whose Field is
// "operation", and c is given up.
func (c *Comm) Group(ctx context.Context, ranks []int) (*Comm, error) {
	if err := c.divisible("Group"); err != nil {
		return nil, err
	}
	if ctx == nil {
		return nil, wire.Refuse("Group", "the context is nil")
	}
	seen := make(map[int]bool)
	salt := []uint64{control.GroupSalt}
	for _, rank := range ranks {
		if rank < 0 || rank >= c.size || seen[rank] {
			return nil, wire.Refuse("Group", "rank %d of %d is not there or given twice", rank, c.size)
		}
		seen[rank] = true
		salt = append(salt, uint64(rank))
	}
	if !seen[c.rank] {
		return nil, wire.Refuse("Group", "rank %d, which calls it, is not among the ranks %v", c.rank, ranks)
	}
	if ctx.Err() != nil { // before this attempt counts, so that the others can wait for the next one
		return nil, c.contextError(ctx, "Group")
	}
	reserved, err := c.reserve("Group")
	if err != nil {
		return nil, err
	}
	if reserved {
		defer c.busy.Unset()
	}
	id := control.DeriveID(c.id, salt...)
	c.groups.mu.Lock()
	if c.groups.made == nil {
		c.groups.made = make(map[uint64]uint64)
	}
	c.groups.made[id]++
	n := c.groups.made[id]
	c.groups.mu.Unlock()
	ctx, stop := c.usable(ctx, ranks)
	defer stop()
	c.beginAside("Group")
	defer c.endAside()
	if reserved {
		defer c.detector.Inquire(deadlock.Operation{Group: id, Number: n}, "Group", func() []int { return ranks })()
	}
	d, err := c.derive(ctx, control.DeriveID(id, n), fmt.Sprintf("%s/group%v", c.name, ranks), ranks)
	return d, c.because(err, ranks)
}

// because explains err, the reason why members have no communicator. If a failure in c is what caused it, the result
// names ranks of c, in which the rank that is down is then down as well.
func (c *Comm) because(err error, members []int) error {
	var peer *PeerError
	var inner *wire.Inner
	var here error
	switch {
	case err == nil || c.closed.Load():
		return err
	case errors.As(err, &inner):
		here = inner.Err
	case errors.As(err, &peer) && failure.Downs.Of(peer.Err) != "" && peer.Rank >= 0 && peer.Rank < len(members):
		here = c.hear(&PeerError{Rank: members[peer.Rank], Err: peer.Err}, members[peer.Rank])
	case failure.Downs.Of(err) != "" || errors.Is(err, setup.ErrParentOver): // of which another rank has heard in c
		if here = c.unusable(members); here == nil {
			c.listen(c.rank) // the news may be on its way to this one, too
			here = c.unusable(members)
		}
	}
	if here == nil {
		return err
	}
	return fmt.Errorf("making a communicator of ranks of %v: %w", c, here)
}

// usable returns a context within ctx that also ends when c is over on this rank or one of members has closed it; its
// cause says which. A member that has failed in c may never come to the new communicator.
func (c *Comm) usable(ctx context.Context, members []int) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		var late <-chan time.Time
		for {
			news := c.changes.Next()
			err := c.unusable(members)
			switch {
			case err == nil:
			case c.closed.Load() || c.State() == Aborted: // by this rank
				cancel(&wire.Inner{Err: err})
			case late == nil: // a member that has what it wants may close c at once: the news of its success is on its way
				late = time.After(failure.RootCauseWait)
			}
			select {
			case <-news:
			case <-late:
				cancel(&wire.Inner{Err: err})
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// unusable returns why c is of no use any more among members.
func (c *Comm) unusable(members []int) error {
	if c.closed.Load() {
		return ErrClosed
	}
	if f := c.termination.Load(); f != nil {
		return f.Err
	}
	for _, rank := range members {
		if c.closedRanks[rank].Load() {
			return &PeerError{Rank: rank, Err: ErrClosed}
		}
	}
	return nil
}

// divisible refuses communicators that no others can be made from.
func (c *Comm) divisible(what string) error {
	switch {
	case c == nil || c.size == 0:
		return wire.Refuse(what, "the communicator is nil or was made by neither Run nor Init")
	case fork.Child():
		return c.refusedError(what, ErrForked)
	case c.closed.Load():
		return c.refusedError(what, ErrClosed)
	case c.world == nil:
		return wire.Refuse(what, "the communicator has no control plane")
	}
	return nil
}
