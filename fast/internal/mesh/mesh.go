// Package mesh is how the processes of a job talk beside the data path, and know of each other's end.
//
// Every two processes have one control connection: an abstract unix socket on the same host, which passes files too,
// and TCP otherwise; both ends are authenticated by package secure, or by the first process of their host, which makes
// the connections of those that share a secret. Over it go short messages and heartbeats; those of a process of the
// same host are counted in memory instead. A process is down at the end of its connection, or when nothing came from it
// for a while although this process was running and, where the system tells, that one was not kept from it; who is down
// stays down, and is told so should it come back. Connections for data are made on demand and handed out: the mesh
// looks after control connections alone, so a process whose data flow slowly is not taken for a dead one.
//
// Processes find each other by cards, which they publish in a store. When all are on one host, no port is opened.
package mesh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/mailbox"
	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Mesh is one process's end of its connections to all others. Its methods may be called from any goroutine, at any
// time, if nothing else is said.
type Mesh struct {
	cfg    Config
	me     secure.Identity
	born   time.Time
	server *secure.Server
	// Listeners, readers, writers and dialers run until leaving is done, with the cause wire.ErrClosed.
	leaving     context.Context
	leave       context.CancelCauseFunc
	work        sync.WaitGroup
	starved     chan error    // that no connections can be taken, for who joins
	dials       chan struct{} // taken by those who try to make control connections
	inbox       *mailbox.Inbox
	pending     pendingConns
	detector    detector
	beats       *beats      // this process's count of heartbeats; nil: there is none
	introducing atomic.Bool // it may have to introduce others to each other
	joined      atomic.Bool // all processes have said that they are connected to all
	card        Card        // this process's, of which only its addresses change, until they are published

	mu        sync.Mutex
	members   map[int]*member
	connected []*peer       // what peers returns; nil: it has changed
	changed   chan struct{} // closed when a member changes
	tickets   map[int]*reservation
	highest   int    // the highest number of a process that is known or reserved
	goodbye   *frame // what is said to who connects, when this process leaves
	closed    bool
	counts    []*beats // of others
	unmap     sync.Once
}

// reservation is a number that was given away.
type reservation struct {
	token [16]byte
	until time.Time // it is about to be used
	used  bool
}

// member is what is known of a process.
type member struct {
	card Card
	raw  []byte // the card as it came; nil: not known yet
	peer *peer  // nil: not connected yet
	err  error  // why it is down
	// By how much the numbers that it has given away have raised the highest one.
	claimed int
}

// newMesh returns a process that knows nobody yet.
func newMesh(cfg Config) (*Mesh, error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("%w: %w", wire.ErrInvalidArgument, err)
	}
	m := &Mesh{cfg: cfg, me: cfg.Identity, born: time.Now(), members: make(map[int]*member), changed: make(chan struct{}),
		tickets: make(map[int]*reservation), starved: make(chan error, 1), dials: make(chan struct{}, maxDials())}
	m.detector = detector{timeout: int64(cfg.HeartbeatTimeout), examine: examine, excuse: m.excuse}
	m.inbox = mailbox.New(m.start)
	m.highest = max(m.me.Size-1, m.me.Process)
	m.leaving, m.leave = context.WithCancelCause(context.Background())
	m.server = secure.NewServer(cfg.Credentials, m.me)
	m.server.Log = cfg.Log
	m.server.Starved = func(err error) {
		select {
		case m.starved <- err:
		default:
		}
	}
	m.pending = pendingConns{handlers: make(map[uint64]func(int, wire.Conn)), forgotten: m.inbox.Forgotten}
	return m, nil
}

// start runs f, which calls handlers and watchers.
func (m *Mesh) start(f func()) {
	m.mu.Lock()
	closed := m.closed
	if !closed {
		m.work.Go(f)
	}
	m.mu.Unlock()
	if closed { // then it only drops what comes
		f()
	}
}

// now returns the time since m began, in nanoseconds.
func (m *Mesh) now() int64 { return int64(time.Since(m.born)) }

// of returns the member with a number, which is made if it is new. It is called with m.mu held, as broadcast and peers
// are.
func (m *Mesh) of(process int) *member {
	if m.members[process] == nil {
		m.members[process] = new(member)
		m.highest = max(m.highest, process)
	}
	return m.members[process]
}

// broadcast wakes those who wait for a member to change.
func (m *Mesh) broadcast() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// await waits until done, which is called with m.mu held, or until ctx ends, with its cause.
func (m *Mesh) await(ctx context.Context, done func() bool) error {
	for {
		m.mu.Lock()
		ok, changed, closed := done(), m.changed, m.closed
		m.mu.Unlock()
		switch {
		case ok:
			return nil
		case closed:
			return wire.ErrClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// peers returns the connections to those who are not down. The caller does not change it.
func (m *Mesh) peers() []*peer {
	if m.connected == nil {
		m.connected = make([]*peer, 0, len(m.members))
		for _, x := range m.members {
			if x.peer != nil && x.err == nil {
				m.connected = append(m.connected, x.peer)
			}
		}
	}
	return m.connected
}

// peer returns the connection to a process; nil: there is none, or none any more.
func (m *Mesh) peer(process int) *peer {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x := m.members[process]; x != nil && x.err == nil {
		return x.peer
	}
	return nil
}

// cardOf returns the card of a process, empty if it is not known.
func (m *Mesh) cardOf(process int) Card {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x := m.members[process]; x != nil {
		return x.card
	}
	return Card{}
}

// know takes the card of a process, which may come by several ways. One without addresses does not replace a later one
// of the same process. It is false if another process of that number is connected.
func (m *Mesh) know(c Card, raw []byte) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	x := m.of(c.Process)
	another := x.raw != nil && x.card.Token != c.Token
	switch {
	case another && x.peer != nil:
		return false
	case another, x.raw == nil, len(c.Addresses) > 0:
		x.card, x.raw = c, raw
		m.broadcast()
	}
	return true
}

// Down returns why a process is taken for dead: wire.ErrDied, wire.ErrFrozen, wire.ErrClosed if it has closed its mesh,
// or what Fence was given; or else nil. That of this process is wire.ErrFenced when another one takes it for dead, and
// so is then that of the other one. Who is down stays down.
func (m *Mesh) Down(process int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x := m.members[process]; x != nil {
		return x.err
	}
	return nil
}

// Watch has f called for each process that is down or goes down, once, until stop, with what Down says; after all
// messages that came from it. F must not block.
func (m *Mesh) Watch(f func(process int, err error)) (stop func()) { return m.inbox.Watch(f) }

// whileUp returns ctx until one of the processes that it concerns, or this one, is down, with the cause, or the mesh is
// closed.
func (m *Mesh) whileUp(ctx context.Context, concerns func(process int) bool) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stopWatching := m.Watch(func(process int, err error) {
		if process == m.me.Process {
			cancel(err)
		} else if concerns(process) {
			cancel(&wire.PeerError{Rank: process, Err: err})
		}
	})
	stop := context.AfterFunc(m.leaving, func() { cancel(wire.ErrClosed) })
	return ctx, func() {
		stopWatching()
		stop()
		cancel(nil)
	}
}

// Fence takes a process for dead, because of err, tells it so, and sends it away should it come back. Of this process
// itself it is not believed.
func (m *Mesh) Fence(process int, err error) { m.fence(process, err) }

// fence is false if the process was down already, or is this one.
func (m *Mesh) fence(process int, err error) bool {
	last := newFrame(frameFenced, wire.Topic{}, nil, nil)
	return process != m.me.Process && m.down(process, err, &last)
}

// giveUp fences processes, and says so once for all of them.
func (m *Mesh) giveUp(processes []int, err error, why string) {
	given := slices.DeleteFunc(processes, func(p int) bool { return !m.fence(p, err) })
	if len(given) > 0 {
		m.cfg.Log.Warn("processes given up: "+why, "processes", given)
	}
}

// down takes a process for dead, the first time that it is called for it, and closes the connection after last was
// written, if there is one. After that it is false.
func (m *Mesh) down(process int, err error, last *frame) bool {
	m.mu.Lock()
	x := m.of(process)
	if m.closed || x.err != nil {
		m.mu.Unlock()
		return false
	}
	x.err, m.connected = err, nil
	p := x.peer
	m.broadcast()
	m.mu.Unlock()
	if p != nil {
		p.end(last, true)
	}
	m.inbox.Fall(process, err)
	return true
}

// excuse warns that a process is slow.
func (m *Mesh) excuse(process int, silent int64, c condition) {
	m.cfg.Log.Warn("a process is slow, and not given up yet", "process", process, "silent",
		time.Duration(silent).Round(time.Millisecond), "condition", c)
}

// explain returns the error of what failed with err while waiting for processes: if ctx has ended, it names these.
func (m *Mesh) explain(ctx context.Context, err error, waiting []int) error {
	var peer *wire.PeerError
	if err == nil || errors.As(err, &peer) || ctx.Err() == nil || !errors.Is(err, context.Cause(ctx)) {
		return err
	}
	return m.withRefusals(&wire.TimeoutError{Waiting: waiting, Err: wire.EndedBy(ctx, err)})
}

// withRefusals returns the error of a wait in vain, which also says who was refused meanwhile.
func (m *Mesh) withRefusals(err error) error {
	if r := append(m.server.Refusals(), m.cfg.Refused()...); len(r) > 0 {
		return fmt.Errorf("%w; refused meanwhile: %s", err, strings.Join(r, "; "))
	}
	return err
}

// Close ends this process's part; for the others it is then down, with wire.ErrClosed. What was sent before still comes
// to those who read it within 2 s. It must not be called by a handler or watcher.
func (m *Mesh) Close() error {
	m.sayGoodbye(closeReason{})
	m.finish()
	return nil
}

// fail is Close for a process that could not join because of err. Those who are about to connect to it hear why as
// well, rather than finding that it is gone.
func (m *Mesh) fail(err error) {
	m.sayGoodbye(closeReasonOf(err))
	time.Sleep(afterword)
	m.finish()
}

// afterword is how long a process that could not join says why.
const afterword = 100 * time.Millisecond

// sayGoodbye tells all, those that connect later included, that this process leaves.
func (m *Mesh) sayGoodbye(why closeReason) {
	last := newFrame(frameBye, wire.Topic{}, why.encode(), nil)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.goodbye = &last
	for _, p := range m.peers() {
		p.end(&last, false)
	}
}

// finish ends everything that runs.
func (m *Mesh) finish() {
	m.mu.Lock()
	m.closed = true
	m.broadcast()
	m.mu.Unlock()
	m.leave(wire.ErrClosed)
	m.inbox.Close()
	m.work.Wait()
	m.pending.close()
	m.unmap.Do(func() {
		for _, b := range append(m.counts, m.beats) {
			b.close()
		}
	})
}
