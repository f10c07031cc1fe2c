package inproc

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/collgen/collgen/fast/internal/mailbox"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Job is the control plane of goroutines that stand for the processes of a job, and makes their networks.
type Job struct {
	planes   []*Plane
	handlers sync.WaitGroup

	mu        sync.Mutex // guards foundings, and the fields of planes that say so
	foundings map[uint64]*founding
}

// Plane is one process's part in a Job.
type Plane struct {
	job     *Job
	process int
	inbox   *mailbox.Inbox
	// Guarded by the job's mu: why this process has ended, and why it considers processes dead that have not ended.
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

// Plane returns the plane of a process.
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

// Send delivers a message to a process at once. A message to a process that is down is dropped. Files are not sent,
// because goroutines share all descriptors.
func (p *Plane) Send(to int, t wire.Topic, body []byte, _ ...int) {
	p.job.mu.Lock()
	defer p.job.mu.Unlock()
	if !p.job.has(to) || p.ended != nil || p.down(to) != nil {
		return
	}
	q := p.job.planes[to]
	n := wire.Note{Topic: t, From: p.process, Body: wire.CopyBody(body)}
	q.inbox.Put(n, func() { q.Fence(p.process, wire.ErrDied) })
}

// Flush does nothing: messages arrive at once.
func (p *Plane) Flush(time.Duration) {}

// Receive returns the next message of that topic that no handler took. It fails with the cause of ctx's end, or with
// wire.ErrClosed after End or Forget.
func (p *Plane) Receive(ctx context.Context, t wire.Topic) (wire.Note, error) {
	return p.inbox.Receive(ctx, t)
}

// ReceiveFiles is Receive: messages have no files.
func (p *Plane) ReceiveFiles(ctx context.Context, t wire.Topic) (wire.Note, error) {
	return p.Receive(ctx, t)
}

// Handle calls f, in order, with each message of comm and kind instead of keeping it for Receive, waiting messages
// included. All handlers and watchers of a process are called one at a time, in a separate goroutine. F must not block
// or call the job's Close.
func (p *Plane) Handle(comm uint64, kind uint8, f func(wire.Note)) { p.inbox.Handle(comm, kind, f) }

// Claim reserves comm for the caller until Forget. It fails if comm is or was claimed.
func (p *Plane) Claim(comm uint64) error { return p.inbox.Claim(comm) }

// Forget drops comm's messages and handlers, future ones included.
func (p *Plane) Forget(comm uint64) { p.inbox.Forget(comm) }

// Watch calls f once for each process that is or goes down, until stop, with the error of Down, after all messages from
// that process. F must not block.
func (p *Plane) Watch(f func(process int, err error)) (stop func()) { return p.inbox.Watch(f) }

// Down returns why a process is considered dead, or nil: the error given to its End or to this process's Fence, or
// wire.ErrFenced if the other process has fenced this one, which then considers itself dead too. A process stays down.
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

// Fence marks another process as dead because of err, and notifies it.
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

// giveUp marks a process as dead.
func (p *Plane) giveUp(process int, err error) {
	if p.down(process) == nil {
		p.dead[process] = err
		p.inbox.Fall(process, err)
	}
}

// End ends this process's part: for the others it is then down with err, and networks that it has not joined are not
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

// founding is a network in the making. Every member joins it, or learns that it failed.
type founding struct {
	members []int // processes, by rank
	come    []bool
	ends    []*Endpoint
	err     error         // why there will be no network
	settled chan struct{} // closed when all have joined, or when err is set
}

// Found returns the endpoint of rank, this process, in a network of members, which are processes by rank. All members
// call it with the same id, which no other network has, and it returns when all have joined. If it fails on one of
// them, it fails on all: with *wire.TimeoutError where ctx ended, and with *wire.PeerError on the others.
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

// join adds the process of a rank to a founding.
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

// tidy settles and removes a founding if all members have joined.
func (j *Job) tidy(id uint64, f *founding) {
	if !slices.Contains(f.come, false) {
		f.settle(nil)
		delete(j.foundings, id)
	}
}

// absent returns the ranks that have not joined a founding. The job is locked.
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
	if !f.settle(&wire.PeerError{Rank: rank, Err: fmt.Errorf("%w: %w", wire.ErrAborted,
		&wire.TimeoutError{Waiting: waiting, Err: cause})}) {
		return nil
	}
	return &wire.TimeoutError{Waiting: waiting, Err: cause}
}

// founding returns a new founding.
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

// settle marks f as complete or, if err is not nil, as failed. It returns false if f was settled before.
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

// lose fails f if the process that has ended is a member, which then counts as joined.
func (f *founding) lose(process int, err error) {
	if rank := slices.Index(f.members, process); rank >= 0 {
		f.come[rank] = true
		f.settle(&wire.PeerError{Rank: rank, Err: err})
	}
}
