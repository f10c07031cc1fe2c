package fast

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/health"
	"github.com/collgen/collgen/fast/hooks"
	"github.com/collgen/collgen/fast/internal/agree"
	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/deadlock"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/message"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
	"github.com/collgen/collgen/selection"
)

// world is what all communicators of one rank have in common.
type world struct {
	plane control.Plane
	// create makes rank's transport for a new communicator, when all members do. Members are processes, by rank.
	create func(ctx context.Context, id uint64, rank int, members []int) (transport.Transport, error)
	// locate is the host of a process, and how this one reaches it; nil: goroutines.
	locate func(process int) (host, link string)
	// memory stands for the memory that a process may share with others, "" for none; nil: goroutines.
	memory func(process int) string
	// reads returns the number that the system has for a process, if both may read each other's memory, else 0; nil:
	// goroutines.
	reads func(process int) int
	// rdma tells whether this process and another one talk by RDMA, unless they share memory; nil: goroutines.
	rdma func(process int) bool
	// conditions is what is known of what processes do, in words; nil: goroutines.
	conditions   func(processes []int) []string
	users        atomic.Int64     // communicators that are not closed; the last one closes the plane
	tuned        tuned            // the rules that count before the built-in ones
	reproducible bool             // all calls have the option of this name
	leaving      sync.WaitGroup   // closed transports of which something is on its way
	record       *flight.Recorder // nil: nothing is recorded
	limits       deadlock.Limits  // of the search for deadlocks
	messages     message.Budget
	events       eventFile
	hooks        []*hooks.Hooks
	sealed       bool // the job's secret was made for its first processes, so that no other can join
}

// tuned is a Tuning that was checked.
type tuned struct {
	name  string // of the table, for people
	rules map[*exec.Collective][]selection.Rule
}

// rulesFor returns the rules for k.
func (t *tuned) rulesFor(k *exec.Collective) []selection.Rule { return t.rules[k] }

// carriedInside is the transport of goroutines, and of a rank that is alone.
const carriedInside = "inproc"

// carrier returns the transport of a communicator of processes, in the words of Rule.
func (w *world) carrier(processes []int) string {
	if w.memory == nil || len(processes) == 1 {
		return carriedInside
	}
	switch mostAlike(processes, w.memory) {
	case len(processes):
		return "shm"
	case 0, 1:
		if w.rdma != nil && !slices.ContainsFunc(processes, func(process int) bool { return !w.rdma(process) }) {
			return "rdma"
		}
		return "tcp"
	}
	return "mixed"
}

// perHost returns how many of processes are on the host with the most of them.
func (w *world) perHost(processes []int) int {
	if w.locate == nil {
		return len(processes)
	}
	return mostAlike(processes, func(process int) string {
		host, _ := w.locate(process)
		return host
	})
}

// local returns the largest number of processes on a host, where processes of a host follow each other and all hosts
// but the last have as many; 0 where they do not.
func (w *world) local(processes []int) int {
	most := w.perHost(processes)
	if w.locate == nil {
		return most
	}
	seen, before := map[string]bool{}, ""
	for rank, process := range processes {
		host, _ := w.locate(process)
		first := rank%most == 0
		if first == (rank > 0 && host == before) || first && seen[host] {
			return 0
		}
		seen[host], before = true, host
	}
	return most
}

// mostAlike returns the size of the largest group of processes for which name returns the same, apart from "".
func mostAlike(processes []int, name func(process int) string) (most int) {
	alike := map[string]int{}
	for _, process := range processes {
		if n := name(process); n != "" {
			alike[n]++
			most = max(most, alike[n])
		}
	}
	return most
}

// eventFile is where a process writes it. It is made with the process's first communicator.
type eventFile struct {
	dir  string // "": nowhere
	head events.Header
	once sync.Once
	log  *events.Log
	err  error
}

// open makes the file, once.
func (f *eventFile) open(process int) error {
	f.once.Do(func() {
		if events.On && f.dir != "" {
			f.head.Process = process
			f.log, f.err = events.Create(f.dir, f.head)
		}
	})
	return f.err
}

// close closes the file, if there is one.
func (f *eventFile) close() error {
	if !events.On {
		return nil
	}
	return f.log.Close()
}

// searched is a communicator as package deadlock needs it.
type searched struct{ *Comm }

// Healthy reports whether calls can be made.
func (c searched) Healthy() bool { return c.State() == Healthy }

// Send sends a control message to a rank.
func (c searched) Send(to int, kind uint8, body []byte) {
	c.world.plane.Send(c.process(to), wire.Topic{Comm: c.id, Kind: kind}, body)
}

// Fail gives c up because of a ring, of which this rank is the first.
func (c searched) Fail(err error, seq uint64, ring []byte) {
	n := failure.NoticeOf(Failed, c.rank, seq, err)
	n.Ring = ring
	c.condemn(Failed, err, n)
}

// Pending reports whether started calls are not over yet.
func (c searched) Pending() bool {
	q := c.queue.Load()
	return q != nil && q.pending.Load() > 0
}

// BlocksCaller reports whether the call in progress was not started, or one that was not started waits for it.
func (c searched) BlocksCaller() bool {
	q := c.queue.Load()
	return q == nil || q.pending.Load() == 0 || q.drains.Load() || q.beside.Load()
}

// HasMade reports whether this rank has made its part of a call that another rank is in.
func (c searched) HasMade(call *wire.Call, other int) bool { return c.exec.HasMade(call, other) }

// HasBegun reports whether this rank has begun o, or never will.
func (c searched) HasBegun(o deadlock.Operation) bool {
	if o.Group != 0 {
		c.groups.mu.Lock()
		defer c.groups.mu.Unlock()
		return c.groups.made[o.Group] >= o.Number
	}
	return c.membership.HasBegun(o.Number)
}

// Mismatched gives c up because this rank is in o, which waits for a rank that is in a call.
func (c searched) Mismatched(o deadlock.Operation, name string, err *MismatchError) {
	n := failure.NoticeOf(Failed, c.rank, o.Number, err)
	if o.Group == 0 && name != agree.Shrink.String() {
		n.Agreement = o.Number
	}
	c.condemn(Failed, err, n)
	if c.Err() == error(err) { // and not because of something else meanwhile
		c.membership.CallOff(n.Agreement, err)
	}
}

// handleProbe and handleInquiry take control messages for the search.
func (c *Comm) handleProbe(m wire.Note) {
	if from := c.rankOf(m.From); from >= 0 {
		c.detector.HandleProbe(from, m.Body)
	}
}

func (c *Comm) handleInquiry(m wire.Note) {
	if from := c.rankOf(m.From); from >= 0 {
		c.detector.HandleInquiry(from, m.Body)
	}
}

// maxMessages is how many calls of package message a rank tells of, so that there is room for others.
const maxMessages = health.MaxCalls / 2

// position returns what this rank does.
func (c *Comm) position() health.Rank {
	r := health.Rank{Rank: c.rank, State: c.State().String()}
	if f := c.termination.Load(); f != nil {
		r.Error = failure.Legible(f.Err.Error())
	}
	name := failure.OneLine(c.name)
	if b, ok := c.monitor.Running(); ok {
		b.Comm, b.Op = name, "MonitoredBarrier"
		r.Running = append(r.Running, b)
	}
	for _, m := range c.messages.Running(maxMessages) {
		m.Comm = name
		r.Running = append(r.Running, m)
	}
	if a := c.aside.Load(); a != nil {
		r.Running = append(r.Running, health.Call{Comm: name, Op: a.name, Peer: -1, Begun: max(0, time.Since(a.begun))})
	}
	calls, last := c.track.Calls(health.MaxCalls - len(r.Running))
	r.Running, r.Last = append(r.Running, calls...), last
	return r
}

// monitored is a communicator as package monitor needs it.
type monitored struct{ *Comm }

// Send sends a control message to a rank.
func (c monitored) Send(to int, kind uint8, body []byte) { searched(c).Send(to, kind, body) }

// Position returns what this rank does.
func (c monitored) Position() health.Rank { return c.position() }

// handleHealth and handleBarrier take control messages for package monitor.
func (c *Comm) handleHealth(m wire.Note) {
	if from := c.rankOf(m.From); from >= 0 {
		c.monitor.HandleHealth(from, m.Body)
	}
}

func (c *Comm) handleBarrier(m wire.Note) {
	if from := c.rankOf(m.From); from >= 0 {
		c.monitor.HandleBarrier(from, m.Body)
	}
}

// messaging is a communicator as package message needs it.
type messaging struct{ *Comm }

// Send sends a control message to a rank.
func (c messaging) Send(to int, kind uint8, body []byte) { searched(c).Send(to, kind, body) }

// Share returns what the communicators of this process may have under way, and the number of a rank's process.
func (c messaging) Share(rank int) (*message.Budget, int) { return &c.world.messages, c.process(rank) }

// Process returns the number that the system has for a rank's process, if both may read each other's memory; else 0.
func (c messaging) Process(rank int) int {
	if c.world.reads == nil {
		return 0
	}
	return c.world.reads(c.process(rank))
}

// Broken gives c up because of what a rank has sent.
func (c messaging) Broken(err error) {
	c.condemn(Failed, err, failure.NoticeOf(Failed, c.rank, 0, err))
}

// handleMessage takes a control message for package message.
func (c *Comm) handleMessage(m wire.Note) {
	if from := c.rankOf(m.From); from >= 0 {
		c.messages.Handle(from, m.Body)
	}
}
