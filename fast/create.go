package fast

import (
	"context"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/deadlock"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/inproc"
	"github.com/collgen/collgen/fast/internal/membership"
	"github.com/collgen/collgen/fast/internal/setup"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/trace"
	"github.com/collgen/collgen/internal/events"
)

// newWorld returns the world of a process that is connected to the others.
func (p *initConfig) newWorld(all *setup.Connector) *world {
	m := all.Mesh
	membership.HandleAnnouncements(m, p.Logger())
	return &world{
		plane:        m,
		create:       all.Create,
		locate:       all.Locate,
		memory:       all.Memory,
		reads:        all.Reads,
		rdma:         all.Reaches,
		conditions:   m.Conditions,
		tuned:        p.tuned,
		reproducible: p.reproducible,
		record:       flight.New(p.recording(p.Rank, p.Size, trace.MaxEntries)),
		limits:       p.limits(),
		sealed:       p.SecretFromStore(),
		events:       p.eventFile(p.Size),
		hooks:        p.hooks,
	}
}

// recording returns the configuration of a recorder of so many operations.
func (p *initConfig) recording(rank, size, operations int) flight.Config {
	return flight.Config{Rank: rank, Size: size, Job: p.Job, Operations: operations, Dir: p.TraceDir, Log: p.Logger(),
		Slow: p.slow, Interval: p.limits().Still / 2}
}

// limits returns the times of the search for deadlocks.
func (p *initConfig) limits() deadlock.Limits { return p.times.Over(p.HeartbeatTimeout) }

// eventFile returns the event file of a process, one of size.
func (p *initConfig) eventFile(size int) eventFile {
	return eventFile{dir: p.eventDir, head: events.Header{Size: size, Job: failure.OneLine(p.Job)}}
}

// recordedInside is how many operations the ranks of one process record together, so that thousands of ranks need no
// more than 40 MiB.
const recordedInside = 64 * trace.MaxEntries

// goroutineWorld returns the world of one of n goroutines.
func (p *initConfig) goroutineWorld(g *inproc.Plane, n int) *world {
	return &world{
		plane: g,
		create: func(ctx context.Context, id uint64, rank int, members []int) (transport.Transport, error) {
			e, err := g.Found(ctx, id, rank, members)
			if err != nil {
				return nil, err
			}
			return e, nil
		},
		tuned:        p.tuned,
		reproducible: p.reproducible,
		record:       flight.New(p.recording(g.Self(), n, min(trace.MaxEntries, recordedInside/n))),
		limits:       p.limits(),
		events:       p.eventFile(n),
		hooks:        p.hooks,
	}
}

// first makes the first communicator of a job of size processes.
func (w *world) first(ctx context.Context, size int) (*Comm, error) {
	all := make([]int, size)
	for rank := range all {
		all[rank] = rank
	}
	return w.comm(ctx, control.WorldID, "world", all)
}

// comm makes a communicator of processes, by rank, this one included. All of them call it.
func (w *world) comm(ctx context.Context, id uint64, name string, processes []int) (*Comm, error) {
	if err := w.events.open(w.plane.Self()); err != nil {
		return nil, fmt.Errorf("making communicator %s: %w", name, err)
	}
	if err := w.plane.Claim(id); err != nil {
		return nil, fmt.Errorf("making communicator %s: %w", name, err)
	}
	rank := slices.Index(processes, w.plane.Self())
	c := newComm(rank, len(processes), nil)
	c.id, c.name, c.members, c.world = id, name, processes, w
	c.exec.Carrier, c.exec.PerHost, c.exec.Tuning = w.carrier(processes), w.perHost(processes), w.tuned.rulesFor
	c.exec.Local, c.exec.Reproducible = w.local(processes), w.reproducible
	c.membership = membership.New(agreeing{c}, w.plane, id, name, rank, c.size, c.processes)
	if len(processes) > 1 {
		ctx, stop := w.record.Warner().Watch(ctx, "making a communicator", "comm", name, "rank", rank, "size", len(processes))
		t, err := w.create(ctx, id, rank, processes)
		stop()
		if err != nil {
			c.tell(c.closingNotice()) // if another member has succeeded all the same
			w.plane.Forget(id)
			return nil, fmt.Errorf("making communicator %s, rank %d of %d: %w", name, rank, len(processes), err)
		}
		c.exec.Transport = t
		c.memory.SetUp(rank, len(processes), t)
	}
	c.record(w.record)
	c.logTo(w.events.log)
	w.users.Add(1)
	w.plane.Handle(id, control.KindMessage, c.handleMessage) // before the notice that their sender has closed
	w.plane.Handle(id, control.KindNotice, c.handleNotice)
	w.plane.Handle(id, control.KindProbe, c.handleProbe)
	w.plane.Handle(id, control.KindPast, c.handlePast)
	w.plane.Handle(id, control.KindInquiry, c.handleInquiry)
	w.plane.Handle(id, control.KindHealth, c.handleHealth)
	w.plane.Handle(id, control.KindBarrier, c.handleBarrier)
	c.hooked.tellMade()
	c.unwatch = w.plane.Watch(c.lost)
	return c, nil
}

// record has r record c's calls, and a detector search for deadlocks while they make no progress.
func (c *Comm) record(r *flight.Recorder) {
	if r == nil {
		return
	}
	about := flight.Communicator{ID: c.id, Name: c.name, Rank: c.rank, Size: c.size, Transport: c.exec.Transport,
		Conditions: c.conditions}
	searches := c.world != nil && c.exec.Transport != nil
	if searches {
		about.OnIdle = func() { // not before the first call
			c.suspect()
			c.detector.Look()
		}
	}
	c.hook()
	if c.hooked != nil {
		about.OnSlow = c.hooked.slow
	}
	c.track = r.Join(about)
	if searches {
		c.detector = deadlock.New(c.rank, c.size, c.world.limits, searched{c}, c.track)
	}
	c.exec.Recorder = c.track
	if c.hooked != nil {
		c.hooked.Track, c.exec.Recorder = c.track, c.hooked
	}
}

// conditions returns what is known of the state of ranks' processes, in words.
func (c *Comm) conditions(ranks []int) []string {
	if c.world == nil || c.world.conditions == nil {
		return nil
	}
	processes := make([]int, len(ranks))
	for i, rank := range ranks {
		processes[i] = c.process(rank)
	}
	return c.world.conditions(processes)
}
