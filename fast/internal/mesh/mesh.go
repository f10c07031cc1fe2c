// Package mesh is the control plane between the processes of a job, and detects which of them have failed.
//
// Each pair of processes has one control connection: an abstract unix socket on the same host, which passes files too,
// and TCP otherwise. Package secure authenticates both ends, or else the first process of their host, which makes the
// connections between processes that share a secret. The connection carries short messages and heartbeats; processes of
// one host count heartbeats in shared memory instead.
//
// A process is down when its connection ends. It is also down when it was silent for the heartbeat timeout while this
// process was running, unless the system says that it is only slow. A process that is down stays down, and is told so
// if it comes back. Data connections are made on demand and handed out. The mesh monitors control connections alone, so
// a process with slow data is not taken for a dead one.
//
// Processes find each other by cards, which they publish in a store. If all are on one host, no port is opened.
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

// Mesh is one process's side of its connections to all others. Unless stated otherwise, its methods may be called from
// any goroutine at any time.
type Mesh struct {
	cfg    Config
	me     secure.Identity
	born   time.Time
	server *secure.Server
	// Listeners, readers, writers and dialers run until leaving is done, with the cause wire.ErrClosed.
	leaving  context.Context
	leave    context.CancelCauseFunc
	work     sync.WaitGroup
	starved  chan error    // gets the error when this process can accept no connections
	dials    chan struct{} // limits how many control connections are dialled at once
	inbox    *mailbox.Inbox
	pending  pendingConns
	detector detector
	dormants dormants
	tally    atomic.Pointer[beats] // the counts of those who were introduced to each other
	beats    *beats                // this process's count of heartbeats; nil: there is none
	joined   atomic.Bool           // all processes have said that they are connected to all
	card     Card                  // this process's, of which only its addresses change, until they are published

	mu        sync.Mutex
	members   map[int]*member
	connected []*peer       // the result of peers; nil: it has to be computed again
	changed   chan struct{} // closed when a member changes
	tickets   map[int]*reservation
	highest   int    // the highest process number known or reserved
	goodbye   *frame // the last frame on every connection, once this process leaves
	closed    bool
	counts    []*beats // of others
	unmap     sync.Once
}

// reservation is a process number for which this process has issued a ticket.
type reservation struct {
	token [16]byte
	until time.Time // until then, a process may be using the ticket
	used  bool
}

// member is what is known of a process.
type member struct {
	card Card
	raw  []byte // the card as it came; nil: not known yet
	peer *peer  // nil: not connected yet
	err  error  // why it is down
	// By how much the numbers that it has reserved have raised the highest one.
	claimed int
}

// newMesh returns a mesh without any other process.
func newMesh(cfg Config) (*Mesh, error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("%w: %w", wire.ErrInvalidArgument, err)
	}
	m := &Mesh{cfg: cfg, me: cfg.Identity, born: time.Now(), members: make(map[int]*member), changed: make(chan struct{}),
		tickets: make(map[int]*reservation), starved: make(chan error, 1), dials: make(chan struct{}, maxDials())}
	m.detector = detector{timeout: int64(cfg.HeartbeatTimeout), examine: examine, excuse: m.warnSlow}
	m.inbox = mailbox.New(m.start)
	m.dormants = dormants{stir: m.stir, start: m.work.Go}
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

// start runs f, which calls handlers and watchers, in a goroutine.
func (m *Mesh) start(f func()) {
	m.mu.Lock()
	closed := m.closed
	if !closed {
		m.work.Go(f)
	}
	m.mu.Unlock()
	if closed { // f only drops messages
		f()
	}
}

// now returns the time since m was made, in nanoseconds.
func (m *Mesh) now() int64 { return int64(time.Since(m.born)) }

// of returns the member with a number, and adds it if it is new. Its caller holds m.mu, as those of broadcast and peers
// do.
func (m *Mesh) of(process int) *member {
	if m.members[process] == nil {
		m.members[process] = new(member)
		m.highest = max(m.highest, process)
	}
	return m.members[process]
}

// broadcast wakes the goroutines that wait for a member to change.
func (m *Mesh) broadcast() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// await waits until done, which it calls with m.mu held, returns true. If ctx ends first, it returns the cause.
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

// peers returns the connections to processes that are not down. The caller must not change the slice.
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

// peer returns the connection to a process, or nil if there is none (any more).
func (m *Mesh) peer(process int) *peer {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x := m.members[process]; x != nil && x.err == nil {
		return x.peer
	}
	return nil
}

// cardOf returns the card of a process, which is empty if the process is unknown.
func (m *Mesh) cardOf(process int) Card {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x := m.members[process]; x != nil {
		return x.card
	}
	return Card{}
}

// know stores the card of a process, which may arrive in several ways. A card without addresses does not replace a
// later one of the same process. It reports false if another process with that number is connected.
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

// Down returns why a process is down: wire.ErrDied, wire.ErrFrozen, wire.ErrClosed if it has closed its mesh, or the
// error given to Fence. It returns nil if the process is up. When another process has fenced this one, it returns
// wire.ErrFenced for both. A process that is down stays down.
func (m *Mesh) Down(process int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x := m.members[process]; x != nil {
		return x.err
	}
	return nil
}

// Watch has f called once for each process that is down or goes down, with the error of Down, until stop. The call
// comes after all messages from that process. F must not block.
func (m *Mesh) Watch(f func(process int, err error)) (stop func()) { return m.inbox.Watch(f) }

// whileUp returns a context that ends with ctx, when the mesh is closed, or when this process or one that it concerns
// goes down, with that cause.
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

// Fence marks a process as down because of err, tells it so, and refuses it if it comes back. It does nothing for this
// process itself.
func (m *Mesh) Fence(process int, err error) { m.fence(process, err) }

// fence reports false if the process was down already, or is this one.
func (m *Mesh) fence(process int, err error) bool {
	last := newFrame(frameFenced, wire.Topic{}, nil, nil)
	return process != m.me.Process && m.down(process, err, &last)
}

// giveUp fences processes, and logs once for all of them.
func (m *Mesh) giveUp(processes []int, err error, why string) {
	processes = slices.DeleteFunc(processes, func(p int) bool { return !m.fence(p, err) })
	if len(processes) > 0 {
		m.cfg.Log.Warn("processes given up: "+why, "processes", processes)
	}
}

// down marks a process as down and closes its connection, after it has written last if that is not nil. It reports
// false if the process was down already.
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

// warnSlow warns that a process is slow.
func (m *Mesh) warnSlow(process int, silent int64, c condition) {
	m.cfg.Log.Warn("a process is slow, and not given up yet", "process", process, "silent",
		time.Duration(silent).Round(time.Millisecond), "condition", c)
}

// waitError returns the error of a wait for processes that failed with err. If ctx has ended, the error names them.
func (m *Mesh) waitError(ctx context.Context, err error, waiting []int) error {
	var peer *wire.PeerError
	if err == nil || errors.As(err, &peer) || ctx.Err() == nil || !errors.Is(err, context.Cause(ctx)) {
		return err
	}
	return m.withRefusals(&wire.TimeoutError{Waiting: waiting, Err: wire.EndedBy(ctx, err)})
}

// withRefusals returns err, the error of a failed wait, with the list of those who were refused meanwhile.
func (m *Mesh) withRefusals(err error) error {
	if r := append(m.server.Refusals(), m.cfg.Refused()...); len(r) > 0 {
		return fmt.Errorf("%w; refused meanwhile: %s", err, strings.Join(r, "; "))
	}
	return err
}

// Close leaves the mesh. For the others, this process is then down with wire.ErrClosed. Messages sent before still
// reach those who read them within 2 s. Handlers and watchers must not call Close.
func (m *Mesh) Close() error {
	m.sayGoodbye(closeReason{})
	m.finish()
	return nil
}

// fail closes the mesh of a process that could not join because of err. It stays a moment, so that processes which are
// about to connect learn the reason.
func (m *Mesh) fail(err error) {
	m.sayGoodbye(closeReasonOf(err))
	time.Sleep(goodbyeWait)
	m.finish()
}

// goodbyeWait is how long a process that could not join stays to tell the others why.
const goodbyeWait = 100 * time.Millisecond

// sayGoodbye tells all processes, including those that connect later, why this process leaves.
func (m *Mesh) sayGoodbye(why closeReason) {
	last := newFrame(frameBye, wire.Topic{}, why.encode(), nil)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.goodbye = &last
	for _, p := range m.peers() {
		p.end(&last, false)
	}
}

// finish ends all goroutines and waits for them.
func (m *Mesh) finish() {
	m.mu.Lock()
	m.closed = true
	m.broadcast()
	m.mu.Unlock()
	m.leave(wire.ErrClosed)
	m.inbox.Close()
	m.dormants.close()
	m.work.Wait()
	m.pending.close()
	m.unmap.Do(func() {
		for _, b := range append(m.counts, m.beats, m.tally.Load()) {
			b.close()
		}
	})
}
