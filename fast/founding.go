package fast

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/wire"
)

// founding is a new communicator while its members make their transports.
type founding struct {
	plane   control.Plane
	id      uint64
	rank    int
	members []int // processes, by rank
	ranks   []int // of the members in the new communicator, if only some of its ranks are; nil: as they are listed
}

// decide has all members learn whether all of them have their transport: nil, or the error of this rank or of another
// one. It ends soon after ctx. Rank 0 decides, so that all have the same result; if it dies, the others may differ.
func (f *founding) decide(ctx context.Context, err error) error {
	if f.rank > 0 {
		return f.follow(ctx, err)
	}
	if err == nil {
		err = f.hear(ctx, kindReady, f.members[1:])
	}
	for _, process := range f.members[1:] {
		f.plane.Send(process, f.topic(kindGo), f.words(err))
	}
	return err
}

// follow tells rank 0 whether this rank has its transport, and waits for what it decides. If ctx ends first, this rank
// takes its word back; what rank 0 has decided before counts all the same.
func (f *founding) follow(ctx context.Context, err error) error {
	f.plane.Send(f.members[0], f.topic(kindReady), f.words(err))
	decided := f.hear(ctx, kindGo, f.members[:1])
	if _, late := wire.Expired(decided); err == nil && late {
		f.plane.Send(f.members[0], f.topic(kindReady), f.words(decided))
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), hearsay)
		defer cancel()
		if f.hear(ctx, kindGo, f.members[:1]) == nil {
			return nil
		}
	}
	return cmp.Or(err, decided)
}

func (f *founding) topic(kind uint8) wire.Topic { return wire.Topic{Comm: f.id, Kind: kind} }

// hear waits for the word of each of the given members: that it is ready, or why it is not. One that has taken its word
// back is not ready.
func (f *founding) hear(ctx context.Context, kind uint8, members []int) error {
	missing := slices.Clone(members)
	for {
		if len(missing) == 0 { // what has come is still looked at
			over, cancel := context.WithCancel(ctx)
			cancel()
			ctx = over
		}
		f.awaits(ctx, missing)
		m, err := f.plane.Receive(ctx, f.topic(kind))
		switch from := slices.Index(f.members, m.From); {
		case err != nil && len(missing) == 0:
			return nil
		case err != nil:
			return f.unheard(ctx, err, missing)
		case from < 0:
		case len(m.Body) > 0:
			return f.told(m.From, m.Body)
		default:
			missing = slices.DeleteFunc(missing, func(process int) bool { return process == m.From })
		}
	}
}

// awaits says that it is some processes that are waited for.
func (f *founding) awaits(ctx context.Context, processes []int) {
	ranks := f.ranksOf(processes)
	wire.Awaiting(ctx, func() []int { return ranks })
}

// ranksOf are the ranks of processes, in ascending order.
func (f *founding) ranksOf(processes []int) (ranks []int) {
	for _, process := range processes {
		ranks = append(ranks, f.rankOf(process))
	}
	slices.Sort(ranks)
	return ranks
}

// unheard is the error of a wait for missing that ended with err: a member is down, or the context has ended.
func (f *founding) unheard(ctx context.Context, err error, missing []int) error {
	var down *memberDown
	if errors.As(err, &down) {
		return &down.PeerError
	}
	return &TimeoutError{Waiting: f.ranksOf(missing), Err: wire.EndedBy(ctx, err)}
}

// memberDown is the end of a founding's context because of a member. Nobody else has this type: what ends a caller's
// context may be any other error.
type memberDown struct{ PeerError }

// watched is ctx, which ends too when a member is down, with that as its cause.
func (f *founding) watched(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := f.plane.Watch(func(process int, err error) {
		rank := f.rankOf(process)
		switch {
		case rank < 0:
		case errors.Is(err, ErrClosed): // because it has failed: rank 0 may be about to say why
			time.AfterFunc(hearsay, func() { cancel(&memberDown{PeerError{Rank: rank, Err: err}}) })
		default:
			cancel(&memberDown{PeerError{Rank: rank, Err: err}})
		}
	})
	return ctx, func() { stop(); cancel(nil) }
}

// words is what this rank tells the others of err: nothing of no error. Ranks are told by their processes.
func (f *founding) words(err error) []byte {
	if err == nil {
		return nil
	}
	n := causeOf(f.own(), err)
	var peer *PeerError
	var late *TimeoutError
	var inner *wire.Inner
	switch {
	case !errors.As(err, &inner) && errors.As(err, &peer) && errors.As(peer.Err, &late): // of the rank that has told this one
		n.Ended, n.Waiting, n.Rank = ends.of(late.Err), listed(late.Waiting), f.processOf(peer.Rank)
	case inner != nil, n.Down == "" && n.Ended == "": // of the communicator that this one is made from, whose ranks are others
		n.Down, n.Rank = downs.of(err), -1
	default:
		n.Rank = f.processOf(n.Rank)
	}
	n.Over = inner != nil || errors.Is(err, errOver)
	n.Waiting = f.each(n.Waiting, f.processOf)
	body, err := json.Marshal(n)
	if err != nil {
		panic(err) // of strings and numbers
	}
	return body
}

// told is the error in the words of a process: the opposite of words, with the ranks by their numbers here.
func (f *founding) told(process int, body []byte) error {
	from := f.rankOf(process)
	n := cause{Rank: -1}
	if json.Unmarshal(body, &n) != nil {
		n = cause{Text: string(body), Rank: -1}
	}
	n.legible()
	culprit, down, end := f.rankOf(n.Rank), downs.by(n.Down), ends.by(n.Ended)
	n.Waiting = f.each(n.Waiting, f.rankOf)
	switch {
	case down != nil && culprit >= 0 && culprit != f.own() && culprit != from:
		return fmt.Errorf("rank %d: %w", from, &remoteError{n.Text, &PeerError{Rank: culprit, Err: down}})
	case down != nil && n.Rank < 0:
		return fmt.Errorf("rank %d: %w", from, &remoteError{n.Text, down})
	case n.Over:
		return fmt.Errorf("rank %d: %w", from, &remoteError{n.Text, errOver})
	case end != nil && !slices.Contains(n.Waiting, -1):
		if culprit < 0 || culprit == f.own() {
			culprit = from
		}
		return &PeerError{Rank: culprit, Err: &remoteError{n.Text, &TimeoutError{Waiting: n.Waiting, Err: end}}}
	}
	return fmt.Errorf("rank %d: %w", from, &remoteError{text: n.Text})
}

// errOver is the type of what another rank says because the communicator has ended that a new one is made from.
var errOver = errors.New("the communicator has ended from which another one is made")

// each is of every number.
func (f *founding) each(numbers []int, of func(int) int) (all []int) {
	for _, n := range numbers {
		all = append(all, of(n))
	}
	return all
}

// rankOf is the rank of a process in the new communicator, or -1.
func (f *founding) rankOf(process int) int {
	at := slices.Index(f.members, process)
	if at >= 0 && f.ranks != nil {
		return f.ranks[at]
	}
	return at
}

// processOf is the process of a rank of the new communicator, or -1.
func (f *founding) processOf(rank int) int {
	if f.ranks != nil {
		rank = slices.Index(f.ranks, rank)
	}
	if rank < 0 || rank >= len(f.members) {
		return -1
	}
	return f.members[rank]
}

// own is this process's rank in the new communicator.
func (f *founding) own() int { return f.rankOf(f.plane.Self()) }
