package mesh

import (
	"context"
	"fmt"
	"slices"
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

// Self returns the number of this process in the job.
func (m *Mesh) Self() int { return m.me.Process }

// Send sends a message of at most wire.MaxNote bytes, and copies of at most 64 files if to is on this host. It does not
// wait for the receiver; to a process that is down, or not known, it does nothing. If files cannot be copied, because
// this process has too many open, the message comes without any; if the receiver has, it says so. A process that takes
// messages too slowly is given up.
func (m *Mesh) Send(to int, t wire.Topic, body []byte, files ...int) {
	p := m.peer(to)
	if len(body) > wire.MaxNote || len(files) > maxFiles || (p == nil && to != m.me.Process) {
		m.refuseToSend(to, len(body), len(files))
		return
	}
	copies, err := m.copies(p, files)
	if err != nil { // the receiver waits, and is to find out
		m.cfg.Log.Error("files cannot be sent", "to", to, "error", err)
	}
	if p == nil {
		m.arrived(wire.Note{Topic: t, From: to, Body: slices.Clone(body), Files: copies})
		return
	}
	if err := p.send(newFrame(frameNote, t, body, copies)); err != nil {
		m.giveUp([]int{to}, fmt.Errorf("%w: %w", wire.ErrFrozen, err), err.Error())
	}
}

// refuseToSend logs what is a fault of this program; that a process is gone is not.
func (m *Mesh) refuseToSend(to, bytes, files int) {
	if bytes > wire.MaxNote || files > maxFiles {
		m.cfg.Log.Error("a control message is too large", "to", to, "bytes", bytes, "files", files)
	}
}

// copies are copies of files for p. To another host files cannot go, so there are none.
func (m *Mesh) copies(p *peer, files []int) ([]int, error) {
	if len(files) == 0 || (p != nil && p.files == nil) {
		return nil, nil
	}
	return copyFiles(files)
}

// Receive returns the next message of that topic, of those that no handler took, without its files. It fails with the
// cause of ctx's end, or with wire.ErrClosed after Close or Forget.
func (m *Mesh) Receive(ctx context.Context, t wire.Topic) (wire.Note, error) {
	return m.inbox.Receive(ctx, t)
}

// ReceiveFiles is Receive with the files that come with the message. They are the caller's to close.
func (m *Mesh) ReceiveFiles(ctx context.Context, t wire.Topic) (wire.Note, error) {
	return m.inbox.ReceiveFiles(ctx, t)
}

// Handle has f called, in order, with each message of comm and kind, without its files, those that are waiting
// included, instead of keeping it for Receive. All handlers and watchers of a Mesh are called one at a time, in a
// goroutine of their own. F must not block; it may use all methods but Close.
func (m *Mesh) Handle(comm uint64, kind uint8, f func(wire.Note)) { m.inbox.Handle(comm, kind, f) }

// Claim makes comm the caller's until Forget. It fails if comm is somebody's already, or was.
func (m *Mesh) Claim(comm uint64) error { return m.inbox.Claim(comm) }

// Forget drops comm's messages, handlers and waiting connections, those to come included.
func (m *Mesh) Forget(comm uint64) {
	m.inbox.Forget(comm)
	m.pending.forget(comm)
}

// arrived takes a message that has come.
func (m *Mesh) arrived(n wire.Note) {
	m.inbox.Put(n, func() {
		m.giveUp([]int{n.From}, wire.ErrDied, "too many of its messages wait for a receiver")
	})
}

// Host returns what stands for the host of a process; empty if the process is not known.
func (m *Mesh) Host(process int) string { return m.cardOf(process).Host }

// SharesMemory reports whether data between this process and another one may go through memory: the other one is on
// this host, and neither of them has to be reached by TCP or RDMA.
func (m *Mesh) SharesMemory(process int) bool {
	theirs := m.Memory(process)
	return theirs != "" && theirs == m.Memory(m.me.Process)
}

// Memory stands for the memory that a process may share with others: the same for any two that may; empty if it shares
// none.
func (m *Mesh) Memory(process int) string {
	c := m.cardOf(process)
	if c.ForceTCP || c.ForceRDMA || c.Socket == "" {
		return ""
	}
	return c.Host
}

// HasRDMA reports whether a process has an RDMA device, and may use it.
func (m *Mesh) HasRDMA(process int) bool {
	c := m.cardOf(process)
	return c.HasRDMA && !c.ForceTCP
}

// Encrypts reports whether data that goes over TCP is encrypted.
func (m *Mesh) Encrypts() bool { return m.cfg.Encrypt }

// Address says where a process is reached: its first TCP address, or the name of its socket on this host.
func (m *Mesh) Address(process int) string {
	c := m.cardOf(process)
	if len(c.Addresses) > 0 {
		return c.Addresses[0].String()
	}
	return c.Socket
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

// now returns the time since m began, in nanoseconds.
func (m *Mesh) now() int64 { return int64(time.Since(m.born)) }
