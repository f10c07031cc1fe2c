// Package setup makes the transport of a new communicator, on all of its members or on none.
package setup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Group is the members of a new communicator, or of a call of Alloc, while they make what it needs.
type Group struct {
	Plane   control.Plane
	ID      uint64
	Rank    int
	Members []int       // processes, by rank
	Ranks   []int       // of the members in the new communicator, if only some of its ranks are; nil: as they are listed
	ready   atomic.Bool // rank 0 has been told so
}

// Decide has all members learn whether all of them have their transport: nil, or the error of this rank or of another
// one. It ends soon after ctx. Rank 0 decides, so that all have the same result; if it dies, the others may differ.
func (f *Group) Decide(ctx context.Context, err error) error {
	if f.Rank > 0 {
		return f.follow(ctx, err)
	}
	if err == nil {
		err = f.Hear(ctx, control.KindReady, f.Members[1:])
	}
	for _, process := range f.Members[1:] {
		f.Plane.Send(process, f.Topic(control.KindGo), f.Words(err))
	}
	return err
}

// follow tells rank 0 whether this rank has its transport, and waits for what it decides. If ctx ends first, this rank
// takes its word back; what rank 0 has decided before counts all the same.
func (f *Group) follow(ctx context.Context, err error) error {
	f.ready.Store(err == nil)
	f.Plane.Send(f.Members[0], f.Topic(control.KindReady), f.Words(err))
	decided := f.Hear(ctx, control.KindGo, f.Members[:1])
	if _, late := wire.Expired(decided); err == nil && late {
		f.Plane.Send(f.Members[0], f.Topic(control.KindReady), f.Words(decided))
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), failure.RootCauseWait)
		defer cancel()
		if f.Hear(ctx, control.KindGo, f.Members[:1]) == nil {
			return nil
		}
	}
	return cmp.Or(err, decided)
}

// Topic returns where messages of that kind are for this group alone.
func (f *Group) Topic(kind uint8) wire.Topic { return wire.Topic{Comm: f.ID, Kind: kind} }

// Hear waits for the word of each of the given members: that it is ready, or why it is not. One that has taken its word
// back is not ready.
func (f *Group) Hear(ctx context.Context, kind uint8, members []int) error {
	missing := slices.Clone(members)
	for {
		if len(missing) == 0 { // what has come is still looked at
			over, cancel := context.WithCancel(ctx)
			cancel()
			ctx = over
		}
		f.Awaits(ctx, missing)
		m, err := f.Plane.Receive(ctx, f.Topic(kind))
		switch from := slices.Index(f.Members, m.From); {
		case err != nil && len(missing) == 0:
			return nil
		case err != nil:
			return f.Unheard(ctx, err, missing)
		case from < 0:
		case len(m.Body) > 0:
			return f.Told(m.From, m.Body)
		default:
			missing = slices.DeleteFunc(missing, func(process int) bool { return process == m.From })
		}
	}
}

// Awaits says that it is some processes that are waited for.
func (f *Group) Awaits(ctx context.Context, processes []int) {
	ranks := f.RanksOf(processes)
	wire.ReportWait(ctx, func() []int { return ranks })
}

// RanksOf returns the ranks of processes, in ascending order.
func (f *Group) RanksOf(processes []int) (ranks []int) {
	for _, process := range processes {
		ranks = append(ranks, f.RankOf(process))
	}
	slices.Sort(ranks)
	return ranks
}

// Unheard returns the error of a wait for missing that ended with err: a member is down, or the context has ended.
func (f *Group) Unheard(ctx context.Context, err error, missing []int) error {
	var down *memberDown
	if errors.As(err, &down) {
		return &down.PeerError
	}
	return &wire.TimeoutError{Waiting: f.RanksOf(missing), Err: wire.EndedBy(ctx, err)}
}

// memberDown is the end of a setup's context because of a member. Nobody else has this type: what ends a caller's
// context may be any other error.
type memberDown struct{ wire.PeerError }

// Watched returns ctx, which ends too when a member is down, with that as its cause.
//
// A member that closes its mesh has failed, or has heard from rank 0 that all are ready, and has closed its
// communicator at once. Rank 0 is about to say which: a rank that is ready itself waits for that, and another one for a
// while.
func (f *Group) Watched(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := f.Plane.Watch(func(process int, err error) {
		rank := f.RankOf(process)
		end := func() { cancel(&memberDown{wire.PeerError{Rank: rank, Err: err}}) }
		switch {
		case rank < 0:
		case !errors.Is(err, wire.ErrClosed):
			end()
		default:
			time.AfterFunc(failure.RootCauseWait, func() {
				if process == f.Members[0] || !f.ready.Load() {
					end()
				}
			})
		}
	})
	return ctx, func() { stop(); cancel(nil) }
}

// Words returns what this rank tells the others of err: nothing of no error. Ranks are told by their processes.
func (f *Group) Words(err error) []byte {
	if err == nil {
		return nil
	}
	n := failure.Of(f.own(), err)
	var peer *wire.PeerError
	var late *wire.TimeoutError
	var inner *wire.Inner
	switch {
	case !errors.As(err, &inner) && errors.As(err, &peer) && errors.As(peer.Err, &late):
		// of the rank that has told this one
		n.Ended, n.Waiting, n.Rank = failure.Ends.Of(late.Err), failure.Listed(late.Waiting), f.processOf(peer.Rank)
	case inner != nil, n.Down == "" && n.Ended == "":
		// of the communicator that this one is made from, whose ranks are others
		n.Down, n.Rank = failure.Downs.Of(err), -1
	default:
		n.Rank = f.processOf(n.Rank)
	}
	n.Over = inner != nil || errors.Is(err, ErrParentOver)
	n.Waiting = f.each(n.Waiting, f.processOf)
	body, err := json.Marshal(n)
	if err != nil {
		panic(err) // of strings and numbers
	}
	return body
}

// Told returns the error in the words of a process: the opposite of words, with the ranks by their numbers here.
func (f *Group) Told(process int, body []byte) error {
	from := f.RankOf(process)
	n := failure.Cause{Rank: -1}
	if json.Unmarshal(body, &n) != nil {
		n = failure.Cause{Text: string(body), Rank: -1}
	}
	n.Clean()
	culprit, down, end := f.RankOf(n.Rank), failure.Downs.By(n.Down), failure.Ends.By(n.Ended)
	n.Waiting = f.each(n.Waiting, f.RankOf)
	switch {
	case down != nil && culprit >= 0 && culprit != f.own() && culprit != from:
		return fmt.Errorf("rank %d: %w", from, &failure.RemoteError{Text: n.Text, Is: &wire.PeerError{Rank: culprit,
			Err: down}})
	case down != nil && n.Rank < 0:
		return fmt.Errorf("rank %d: %w", from, &failure.RemoteError{Text: n.Text, Is: down})
	case n.Over:
		return fmt.Errorf("rank %d: %w", from, &failure.RemoteError{Text: n.Text, Is: ErrParentOver})
	case end != nil && !slices.Contains(n.Waiting, -1):
		if culprit < 0 || culprit == f.own() {
			culprit = from
		}
		return &wire.PeerError{Rank: culprit, Err: &failure.RemoteError{Text: n.Text,
			Is: &wire.TimeoutError{Waiting: n.Waiting, Err: end}}}
	}
	return fmt.Errorf("rank %d: %w", from, &failure.RemoteError{Text: n.Text})
}

// ErrParentOver is the type of what another rank says because the communicator has ended that a new one is made from.
var ErrParentOver = errors.New("the communicator has ended from which another one is made")

// each is of every number.
func (f *Group) each(numbers []int, of func(int) int) (all []int) {
	for _, n := range numbers {
		all = append(all, of(n))
	}
	return all
}

// RankOf returns the rank of a process in the new communicator, or -1.
func (f *Group) RankOf(process int) int {
	at := slices.Index(f.Members, process)
	if at >= 0 && f.Ranks != nil {
		return f.Ranks[at]
	}
	return at
}

// processOf returns the process of a rank of the new communicator, or -1.
func (f *Group) processOf(rank int) int {
	if f.Ranks != nil {
		rank = slices.Index(f.Ranks, rank)
	}
	if rank < 0 || rank >= len(f.Members) {
		return -1
	}
	return f.Members[rank]
}

// own returns this process's rank in the new communicator.
func (f *Group) own() int { return f.RankOf(f.Plane.Self()) }
