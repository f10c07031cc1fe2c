package fast

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// founding is a new communicator while its members make their transports.
type founding struct {
	plane   plane
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
