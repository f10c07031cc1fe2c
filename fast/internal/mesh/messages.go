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

// arrived takes a message that has come.
func (m *Mesh) arrived(n wire.Note) {
	m.inbox.Put(n, func() {
		m.giveUp([]int{n.From}, wire.ErrDied, "too many of its messages wait for a receiver")
	})
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

// Flush waits until the messages sent so far are on their way, so that they come even if this process ends at once, but
// not longer than atMost.
func (m *Mesh) Flush(atMost time.Duration) {
	m.mu.Lock()
	peers := m.peers()
	m.mu.Unlock()
	for end := time.Now().Add(atMost); len(peers) > 0 && time.Now().Before(end); {
		if peers[0].flushed() {
			peers = peers[1:]
		} else {
			time.Sleep(20 * time.Microsecond)
		}
	}
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

// Conditions returns what is known of what each of processes does, in words for people. It takes a tenth of a second.
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
			words[i] = fmt.Sprintf("its last heartbeat came %v ago", time.Duration(m.now()-p.heard.Load()).Round(10*time.Millisecond))
		}
		if c != unknown {
			words[i] = string(c) + "; " + words[i]
		}
	}
	return words
}
