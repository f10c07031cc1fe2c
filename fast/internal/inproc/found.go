package inproc

import (
	"context"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// founding is a network in the making: all members come to it, or to the news that it failed.
type founding struct {
	members []int // processes, by rank
	come    []bool
	ends    []*Endpoint
	err     error         // why there will be no network
	settled chan struct{} // closed when all have come, or with err
}

// Found makes this process's endpoint, that of rank, of a network of members, which are processes by rank. All of them
// call it with the same id, which no other network has, and it returns when all have come. If it fails on one of them,
// it fails on all: with *wire.TimeoutError at the end of ctx, and on the others with *wire.PeerError.
func (p *Plane) Found(ctx context.Context, id uint64, rank int, members []int) (*Endpoint, error) {
	f, err := p.job.join(id, rank, members)
	if err != nil {
		return nil, err
	}
	wire.Awaiting(ctx, func() []int {
		p.job.mu.Lock()
		defer p.job.mu.Unlock()
		return f.absent()
	})
	select {
	case <-f.settled:
	case <-ctx.Done():
		if err := p.job.giveUp(f, rank, wire.Ended(ctx)); err != nil {
			return nil, err
		}
	}
	if f.err != nil {
		return nil, f.err
	}
	return f.ends[rank], nil
}

// join brings the process of a rank to a founding.
func (j *Job) join(id uint64, rank int, members []int) (*founding, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f := j.foundings[id]
	if f == nil {
		f = j.founding(members)
		j.foundings[id] = f
	}
	if !slices.Equal(f.members, members) || rank < 0 || rank >= len(members) || f.come[rank] {
		err := fmt.Errorf("rank %d of processes %v comes to a network of processes %v", rank, members, f.members)
		f.settle(err)
		return nil, err
	}
	f.come[rank] = true
	j.tidy(id, f)
	return f, nil
}

// tidy settles and forgets a founding if all members have come.
func (j *Job) tidy(id uint64, f *founding) {
	if !slices.Contains(f.come, false) {
		f.settle(nil)
		delete(j.foundings, id)
	}
}

// absent returns the ranks that have not come to a founding. The job is locked.
func (f *founding) absent() (ranks []int) {
	for rank, come := range f.come {
		if !come {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// giveUp returns the error of a rank whose context has ended, because of cause, unless the founding was settled before.
func (j *Job) giveUp(f *founding, rank int, cause error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	waiting := f.absent()
	if !f.settle(&wire.PeerError{Rank: rank, Err: fmt.Errorf("%w: %w", wire.ErrAborted, &wire.TimeoutError{Waiting: waiting, Err: cause})}) {
		return nil
	}
	return &wire.TimeoutError{Waiting: waiting, Err: cause}
}

// founding returns a new one.
func (j *Job) founding(members []int) *founding {
	f := &founding{members: slices.Clone(members), come: make([]bool, len(members)), settled: make(chan struct{}),
		ends: New(len(members))}
	for _, process := range members {
		if err := j.planes[process].ended; err != nil {
			f.lose(process, err)
		}
	}
	return f
}

// settle says that all have come or, if err is not nil, that there will be no network. It is false if that was said.
func (f *founding) settle(err error) bool {
	select {
	case <-f.settled:
		return false
	default:
		f.err = err
		close(f.settled)
		return true
	}
}

// lose takes note that a process has ended, which is as good as come if it is a member.
func (f *founding) lose(process int, err error) {
	if rank := slices.Index(f.members, process); rank >= 0 {
		f.come[rank] = true
		f.settle(&wire.PeerError{Rank: rank, Err: err})
	}
}
