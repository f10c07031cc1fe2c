package mesh

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Self returns the number of this process in the job.
func (m *Mesh) Self() int { return m.me.Process }

// Send sends a message of at most wire.MaxNote bytes and, to a process on this host, copies of at most 64 files. It
// does not wait for the receiver, and does nothing if that is down or unknown. If this process has too many files open
// to copy them, the message arrives without files; if the receiver has, the message says so. A process that reads
// messages too slowly is given up.
func (m *Mesh) Send(to int, t wire.Topic, body []byte, files ...int) {
	p := m.peer(to)
	if len(body) > wire.MaxNote || len(files) > maxFiles || (p == nil && to != m.me.Process) {
		m.refuseToSend(to, len(body), len(files))
		return
	}
	copies, err := m.copies(p, files)
	if err != nil { // the message is sent all the same, because the receiver waits for it
		m.cfg.Log.Error("files cannot be sent", "to", to, "error", err)
	}
	if p == nil {
		m.deliver(m.inbox.Put, wire.Note{Topic: t, From: to, Body: slices.Clone(body), Files: copies})
		return
	}
	if err := p.send(noteFrame(t, body, copies)); err != nil {
		m.giveUp([]int{to}, fmt.Errorf("%w: %w", wire.ErrFrozen, err), err.Error())
	}
}

// refuseToSend logs a message that is too large. It ignores one to a process that is gone.
func (m *Mesh) refuseToSend(to, bytes, files int) {
	if bytes > wire.MaxNote || files > maxFiles {
		m.cfg.Log.Error("a control message is too large", "to", to, "bytes", bytes, "files", files)
	}
}

// copies returns copies of files for p, or none if p is on another host.
func (m *Mesh) copies(p *peer, files []int) ([]int, error) {
	if len(files) == 0 || (p != nil && p.files == nil) {
		return nil, nil
	}
	return copyFiles(files)
}

// deliver puts a message into the inbox by one of its methods.
func (m *Mesh) deliver(put func(n wire.Note, excess func()), n wire.Note) {
	put(n, func() {
		m.giveUp([]int{n.From}, wire.ErrDied, "too many of its messages wait for a receiver")
	})
}

// Receive returns the next message of a topic that no handler takes, without its files. It fails with the cause of
// ctx's end, or with wire.ErrClosed after Close or Forget.
func (m *Mesh) Receive(ctx context.Context, t wire.Topic) (wire.Note, error) {
	return m.inbox.Receive(ctx, t)
}

// ReceiveFiles is like Receive, but returns the message with its files, which the caller has to close.
func (m *Mesh) ReceiveFiles(ctx context.Context, t wire.Topic) (wire.Note, error) {
	return m.inbox.ReceiveFiles(ctx, t)
}

// Handle has f called in order with each message of comm and kind, without its files, instead of keeping it for
// Receive. That includes messages that are waiting. All handlers and watchers of a Mesh are called one at a time, in a
// separate goroutine. F must not block, and may call all methods except Close.
func (m *Mesh) Handle(comm uint64, kind uint8, f func(wire.Note)) { m.inbox.Handle(comm, kind, f) }

// Claim reserves comm until Forget. It fails if comm is or was reserved before.
func (m *Mesh) Claim(comm uint64) error { return m.inbox.Claim(comm) }

// Forget drops the messages, handlers and waiting connections of comm, including those still to come.
func (m *Mesh) Forget(comm uint64) {
	m.inbox.Forget(comm)
	m.pending.forget(comm)
}

// Flush waits until the messages sent so far are written, so that they arrive even if this process ends at once. So are
// notices to processes that this one has given up. It waits at most atMost.
func (m *Mesh) Flush(atMost time.Duration) {
	var peers []*peer
	m.mu.Lock()
	for _, x := range m.members {
		if x.peer != nil {
			peers = append(peers, x.peer)
		}
	}
	m.mu.Unlock()
	for end := time.Now().Add(atMost); len(peers) > 0 && time.Now().Before(end); {
		if peers[0].flushed() {
			peers = peers[1:]
		} else {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// Host returns the identity of a process's host, which is empty if the process is unknown.
func (m *Mesh) Host(process int) string { return m.cardOf(process).Host }

// SharesMemory reports whether this process and another one may exchange data through memory: the other one is on this
// host, and neither of them forces TCP or RDMA.
func (m *Mesh) SharesMemory(process int) bool {
	theirs := m.Memory(process)
	return theirs != "" && theirs == m.Memory(m.me.Process)
}

// Memory returns the same string for any two processes that may share memory, and the empty one for a process that
// shares none.
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

// Encrypts reports whether data over TCP is encrypted.
func (m *Mesh) Encrypts() bool { return m.cfg.Encrypt }

// PID returns the number that the system has for a process of this host that is up, as it has reported it; 0: it is not
// known, or the process has none here.
func (m *Mesh) PID(process int) int {
	if p := m.peer(process); p != nil {
		return int(p.pid.Load())
	}
	return 0
}

// Address returns the first TCP address of a process, or the name of its socket on this host.
func (m *Mesh) Address(process int) string {
	c := m.cardOf(process)
	if len(c.Addresses) > 0 {
		return c.Addresses[0].String()
	}
	return c.Socket
}

// Conditions describes for people what each of processes does. It takes a tenth of a second.
func (m *Mesh) Conditions(processes []int) []string {
	pids, words := make([]int, len(processes)), make([]string, len(processes))
	for i, process := range processes {
		if p := m.peer(process); p != nil {
			pids[i] = int(p.pid.Load())
		}
	}
	for i, c := range observe(pids) {
		p, err := m.peer(processes[i]), m.Down(processes[i])
		switch {
		case err != nil:
			words[i] = err.Error()
		case p == nil:
			words[i] = "not connected"
		default:
			silent := time.Duration(m.now() - p.heard.Load())
			words[i] = fmt.Sprintf("its last heartbeat came %v ago", silent.Round(10*time.Millisecond))
		}
		if c != unknown {
			words[i] = string(c) + "; " + words[i]
		}
	}
	return words
}
