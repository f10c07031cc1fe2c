package inproc

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/collgen/collgen/fast/internal/mailbox"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Job is goroutines that stand for the processes of a job: how they talk beside the data path, and make networks.
type Job struct {
	planes   []*Plane
	handlers sync.WaitGroup

	mu        sync.Mutex // guards what follows, and what planes say that it guards
	foundings map[uint64]*founding
}

// Plane is one process's part in a Job.
type Plane struct {
	job     *Job
	process int
	inbox   *mailbox.Inbox
	// By the job's mu: why it has ended, and why it takes others for dead, and itself, that have not ended.
	ended error
	dead  map[int]error
}

// NewJob returns a job of n processes.
func NewJob(n int) *Job {
	j := &Job{planes: make([]*Plane, n), foundings: make(map[uint64]*founding)}
	for i := range j.planes {
		j.planes[i] = &Plane{job: j, process: i, inbox: mailbox.New(j.handlers.Go), dead: make(map[int]error)}
	}
	return j
}

// Plane returns that of a process.
func (j *Job) Plane(process int) *Plane { return j.planes[process] }

// Close ends all processes, and waits for the handlers and watchers that run.
func (j *Job) Close() {
	for _, p := range j.planes {
		p.End(wire.ErrClosed)
	}
	j.handlers.Wait()
}

// Self returns the number of this process.
func (p *Plane) Self() int { return p.process }

// Send sends a message to a process, at once. One to a process that is down is dropped. Files are not sent: goroutines
// have them all.
func (p *Plane) Send(to int, t wire.Topic, body []byte, _ ...int) {
	p.job.mu.Lock()
	defer p.job.mu.Unlock()
	if !p.job.has(to) || p.ended != nil || p.down(to) != nil {
		return
	}
	q := p.job.planes[to]
	q.inbox.Put(wire.Note{Topic: t, From: p.process, Body: bytes.Clone(body)}, func() { q.Fence(p.process, wire.ErrDied) })
}

// Flush does nothing: what is sent has come.
func (p *Plane) Flush(time.Duration) {}

// Receive returns the next message of that topic, of those that no handler took. It fails with the cause of ctx's end,
// or with wire.ErrClosed after End or Forget.
func (p *Plane) Receive(ctx context.Context, t wire.Topic) (wire.Note, error) {
	return p.inbox.Receive(ctx, t)
}

// ReceiveFiles is Receive: no files come.
func (p *Plane) ReceiveFiles(ctx context.Context, t wire.Topic) (wire.Note, error) {
	return p.Receive(ctx, t)
}

// Handle has f called, in order, with each message of comm and kind, those that are waiting included, instead of
// keeping it for Receive. All handlers and watchers of a process are called one at a time, in a goroutine of their own.
// F must not block, and not call the job's Close.
func (p *Plane) Handle(comm uint64, kind uint8, f func(wire.Note)) { p.inbox.Handle(comm, kind, f) }

// Claim makes comm the caller's until Forget. It fails if comm is somebody's already, or was.
func (p *Plane) Claim(comm uint64) error { return p.inbox.Claim(comm) }

// Forget drops comm's messages and handlers, those to come included.
func (p *Plane) Forget(comm uint64) { p.inbox.Forget(comm) }

// Watch has f called for each process that is down or goes down, once, until stop, with what Down says; after all
// messages that came from it. F must not block.
func (p *Plane) Watch(f func(process int, err error)) (stop func()) { return p.inbox.Watch(f) }

// Down returns why a process is taken for dead: what its End or this process's Fence was given, or wire.ErrFenced if
// the other process has fenced this one, which it then is for itself too; or else nil. Who is down stays down.
func (p *Plane) Down(process int) error {
	p.job.mu.Lock()
	defer p.job.mu.Unlock()
	if !p.job.has(process) {
		return nil
	}
	return p.down(process)
}

func (p *Plane) down(process int) error {
	if err := p.dead[process]; err != nil || process == p.process {
		return err
	}
	return p.job.planes[process].ended
}

// has reports whether there is such a process.
func (j *Job) has(process int) bool { return process >= 0 && process < len(j.planes) }

// Fence takes another process for dead, because of err, and lets it know.
func (p *Plane) Fence(process int, err error) {
	p.job.mu.Lock()
	defer p.job.mu.Unlock()
	if !p.job.has(process) || process == p.process || p.down(process) != nil {
		return
	}
	p.giveUp(process, err)
	q := p.job.planes[process]
	q.giveUp(p.process, wire.ErrFenced)
	q.giveUp(q.process, wire.ErrFenced)
}

// giveUp takes a process for dead.
func (p *Plane) giveUp(process int, err error) {
	if p.down(process) == nil {
		p.dead[process] = err
		p.inbox.Fall(process, err)
	}
}

// End ends this process's part: for the others it is then down with err, and networks that it has not come to are not
// made. The first call counts.
func (p *Plane) End(err error) {
	p.job.mu.Lock()
	defer p.job.mu.Unlock()
	if p.ended != nil {
		return
	}
	for _, q := range p.job.planes {
		if q != p && q.ended == nil && q.down(p.process) == nil {
			q.inbox.Fall(p.process, err)
		}
	}
	p.ended = err
	for id, f := range p.job.foundings {
		f.lose(p.process, err)
		p.job.tidy(id, f)
	}
	p.inbox.Close()
}

// Close is End with wire.ErrClosed.
func (p *Plane) Close() error {
	p.End(wire.ErrClosed)
	return nil
}

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
	wire.ReportWait(ctx, func() []int {
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
