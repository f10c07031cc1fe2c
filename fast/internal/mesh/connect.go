package mesh

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Why a connection is refused, besides the reasons of package secure.
var (
	// ErrTaken: another process has the same number in the job, and was there first.
	ErrTaken = errors.New("another process has this number already")
	// ErrTicket: the ticket was not made by this job, or not for this number.
	ErrTicket = errors.New("wrong ticket")
	// ErrTicketUsed: each ticket is good once.
	ErrTicketUsed = errors.New("the ticket was used already")
)

// recognise returns err as the refusal that a server told in words.
func recognise(err error) error {
	for _, reason := range []error{ErrTaken, ErrTicketUsed, ErrTicket, wire.ErrExhausted} {
		if errors.Is(err, secure.ErrRefused) && strings.Contains(err.Error(), reason.Error()) {
			return fmt.Errorf("%w: %w", reason, err)
		}
	}
	return err
}

// dialControl makes the control connection to a process with a lower number.
func (m *Mesh) dialControl(ctx context.Context, c Card, h secure.Hello) error {
	conn, err := m.call(ctx, &c, h)
	if err != nil {
		return err
	}
	if _, err := conn.Write([]byte{confirmed}); err != nil {
		_ = conn.Close()
		return &wire.PeerError{Rank: c.Process, Err: wire.ErrDied}
	}
	m.attach(c.Process, conn, conn.NetConn())
	return nil
}

// confirmed is what the process that has dialled says first on a control connection: now both know that there is one.
// Without it, a connection that it gave up on at the last moment would look like its death.
const confirmed = 1

// check reports whether a process may have a connection.
func (m *Mesh) check(h secure.Hello, _ secure.Identity) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	x := m.members[h.From]
	switch {
	case x != nil && x.err != nil:
		return wire.ErrFenced
	case h.Purpose == secure.Join:
		return m.present(h)
	case x == nil || x.raw == nil || (h.Purpose == secure.Data && x.peer == nil):
		return fmt.Errorf("%w: process %d is not known here yet", secure.ErrBusy, h.From)
	case h.Purpose == secure.Data && h.Encrypt != m.cfg.Encrypt:
		return errors.New("data is to be encrypted by both processes or by none")
	case h.Purpose == secure.Data:
		return nil
	case h.Purpose != secure.Control || h.From < m.me.Process:
		return fmt.Errorf("process %d does not call process %d for this", h.From, m.me.Process)
	case h.Token != x.card.Token || x.peer != nil:
		return ErrTaken
	}
	return nil
}

// accepted takes a connection that a process has made.
func (m *Mesh) accepted(c *secure.Conn, h secure.Hello) {
	if h.Purpose == secure.Data {
		m.admitData(c, h)
		return
	}
	ok := m.confirm(c)
	if h.Purpose == secure.Join {
		m.redeem(h, ok)
	}
	if !ok || !m.attach(h.From, c, c.NetConn()) || h.From < m.me.Size {
		return
	}
	if h.Purpose == secure.Join {
		m.welcome(h.From)
	}
	m.Send(h.From, wire.Topic{Comm: meshComm, Kind: kindHello, Seq: uint32(m.me.Process)}, nil)
}

// confirmTime is how long that may take. Such connections are counted nowhere, so it is not for ever.
const confirmTime = 15 * time.Second

// confirm waits for the word of the process that has dialled. If there is none the connection is closed.
func (m *Mesh) confirm(c *secure.Conn) bool {
	stop := context.AfterFunc(m.leaving, func() { _ = c.Close() })
	defer stop()
	var b [1]byte
	err := c.SetDeadline(time.Now().Add(confirmTime))
	if err == nil {
		_, err = c.Read(b[:])
	}
	if err == nil {
		err = c.SetDeadline(time.Time{})
	}
	if err != nil || b[0] != confirmed {
		_ = c.Close()
		return false
	}
	return true
}
