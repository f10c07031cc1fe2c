package inproc

import (
	"bytes"
	"context"
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
