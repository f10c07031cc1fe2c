package mesh

import (
	"context"
	"fmt"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// dataTime is how long Dial tries at most.
const dataTime = time.Minute

// Dial connects to a process for the data of a communicator. It ends with ctx, after a minute, or when the process is
// down, with *wire.PeerError.
func (m *Mesh) Dial(ctx context.Context, process int, comm uint64) (wire.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, dataTime, fmt.Errorf("no connection for data within %v", dataTime))
	defer cancel()
	ctx, stop := m.whileUp(ctx, func(p int) bool { return p == process })
	defer stop()
	c := m.cardOf(process)
	c.Process = process
	conn, err := m.call(ctx, &c, secure.Hello{Purpose: secure.Data, Comm: comm, Encrypt: m.cfg.Encrypt})
	if err != nil {
		return wire.Conn{}, fmt.Errorf("connecting to process %d: %w", process, err)
	}
	raw, err := conn.Raw(m.cfg.Encrypt)
	if err != nil {
		_ = conn.Close()
	}
	return raw, err
}

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

// HandleConns has f called with each connection for data that a process makes for comm, those that are waiting
// included. The connections are f's. F must not block, and may be called from several goroutines.
func (m *Mesh) HandleConns(comm uint64, f func(from int, c wire.Conn)) {
	for _, v := range m.pending.handle(comm, f) {
		f(v.from, v.conn)
	}
}

// admitData takes a connection for data.
func (m *Mesh) admitData(c *secure.Conn, h secure.Hello) {
	raw, err := c.Raw(m.cfg.Encrypt)
	if err != nil {
		m.cfg.Log.Warn("a connection for data is of no use", "from", h.From, "error", err)
		_ = c.Close()
		return
	}
	if f := m.pending.enter(pendingConn{h.Comm, h.From, raw, time.Now()}); f != nil {
		f(h.From, raw)
	}
}
