package fast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
}

// settle has all members learn whether all of them have their transport: nil, or the error of this rank or of another
// one. It ends with ctx.
func (f *founding) settle(ctx context.Context, err error) error {
	if f.rank > 0 {
		f.plane.Send(f.members[0], f.topic(kindReady), errorText(err))
		return cmp.Or(err, f.hear(ctx, kindGo, f.members[:1])) // all of them return when rank 0 says so
	}
	if err == nil {
		err = f.hear(ctx, kindReady, f.members[1:])
	}
	for _, process := range f.members[1:] {
		f.plane.Send(process, f.topic(kindGo), errorText(err))
	}
	return err
}

func (f *founding) topic(kind uint8) wire.Topic { return wire.Topic{Comm: f.id, Kind: kind} }

// hear waits for the word of each of the given members: that it is ready, or why it is not.
func (f *founding) hear(ctx context.Context, kind uint8, members []int) error {
	missing := slices.Clone(members)
	for len(missing) > 0 {
		m, err := f.plane.Receive(ctx, f.topic(kind))
		if err != nil {
			return f.unheard(err, missing)
		}
		if len(m.Body) > 0 {
			return fmt.Errorf("rank %d: %s", slices.Index(f.members, m.From), m.Body)
		}
		missing = slices.DeleteFunc(missing, func(process int) bool { return process == m.From })
	}
	return nil
}

// unheard is the error of a wait for missing that ended with err: a member is down, or the context has ended.
func (f *founding) unheard(err error, missing []int) error {
	var peer *PeerError
	if errors.As(err, &peer) {
		return err
	}
	timeout := &TimeoutError{Err: err}
	for _, process := range missing {
		timeout.Waiting = append(timeout.Waiting, slices.Index(f.members, process))
	}
	slices.Sort(timeout.Waiting)
	return timeout
}

// watched is ctx, which ends too when a member is down, with that as its cause.
func (f *founding) watched(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := f.plane.Watch(func(process int, err error) {
		rank := slices.Index(f.members, process)
		switch {
		case rank < 0:
		case errors.Is(err, ErrClosed): // because it has failed: rank 0 may be about to say why
			time.AfterFunc(hearsay, func() { cancel(&PeerError{Rank: rank, Err: err}) })
		default:
			cancel(&PeerError{Rank: rank, Err: err})
		}
	})
	return ctx, func() { stop(); cancel(nil) }
}

func errorText(err error) []byte {
	if err == nil {
		return nil
	}
	text := err.Error()
	return []byte(text[:min(len(text), maxText)])
}
