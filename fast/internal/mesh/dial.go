package mesh

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// route is a way to reach a process: its socket on this host, or an address.
type route struct {
	socket  string
	address netip.AddrPort
}

// Network and String make it a net.Addr.
func (r route) Network() string {
	if r.socket != "" {
		return "unix"
	}
	return "tcp"
}

func (r route) String() string {
	if r.socket != "" {
		return "@" + r.socket
	}
	return r.address.String()
}

// routesTo returns at least one route to the process of card c, the best first. It ignores loopback addresses of other
// hosts.
func (m *Mesh) routesTo(c *Card, p secure.Purpose) (routes []route, err error) {
	local := c.Host == m.cfg.Host
	if local && c.Socket != "" && m.card.Socket != "" && p != secure.Data {
		return []route{{socket: c.Socket}}, nil
	}
	for _, a := range c.Addresses {
		if foreign(a.Addr()) || (local && a.Addr().IsLoopback()) {
			routes = append(routes, route{address: a})
		}
	}
	if len(routes) == 0 {
		err := fmt.Errorf("it has no address that this host, %s, can reach: %v", m.cfg.Host, c.Addresses)
		return nil, &wire.PeerError{Rank: c.Process, Err: err}
	}
	return routes, nil
}

// foreign reports whether other hosts can use an address. Link-local addresses need the name of an interface, which
// differs between hosts.
func foreign(a netip.Addr) bool {
	return a.IsValid() && !a.IsUnspecified() && !a.IsLoopback() && !a.IsMulticast() && !a.IsLinkLocalUnicast() &&
		a.Zone() == ""
}

// How long to wait before trying to connect again, and how long a try may take before the handshake.
const (
	minRetryDelay = time.Millisecond
	maxRetryDelay = 50 * time.Millisecond
	dialTimeout   = 2 * time.Second
)

// deadAfter is how long a port has to be closed until its process is taken for dead. An abstract socket disappears with
// its process, so it needs no such time.
const deadAfter = 2 * time.Second

// call connects to the process of card c. It tries until ctx ends, the process refuses or is known to be gone, or this
// process has lacked descriptors or memory for deadAfter.
func (m *Mesh) call(ctx context.Context, c *Card, h secure.Hello) (*secure.Conn, error) {
	routes, err := m.routesTo(c, h.Purpose)
	if err != nil {
		return nil, err
	}
	h.To = c.Process
	var absent, exhausted absence
	for wait := minRetryDelay; ; wait = min(2*wait, maxRetryDelay) {
		conn, nobody, err := m.tryInTurn(ctx, routes, h)
		switch {
		case err == nil:
			return conn, nil
		case exhausted.update(errors.Is(err, wire.ErrExhausted)) > deadAfter:
			return nil, err
		case ctx.Err() != nil:
			return nil, fmt.Errorf("%w; the last attempt: %w", context.Cause(ctx), err)
		case refused(err):
			return nil, &wire.PeerError{Rank: c.Process, Err: recognise(err)}
		case absent.proved(routes, nobody):
			return nil, &wire.PeerError{Rank: c.Process, Err: fmt.Errorf("%w: %w", wire.ErrDied, err)}
		}
		sleep(ctx, wait/2+rand.N(wait)) // randomly, so that processes refused together do not retry together
	}
}

// absence tracks since when something has been absent, such as the listener that a card names. Since is zero while it
// is present.
type absence struct{ since time.Time }

// update records the result of another try. It returns how long the thing has been absent.
func (a *absence) update(absent bool) time.Duration {
	switch {
	case !absent:
		a.since = time.Time{}
		return 0
	case a.since.IsZero():
		a.since = time.Now()
	}
	return time.Since(a.since)
}

// proved records the result of another try. It reports whether the process is certain to be gone.
func (a *absence) proved(routes []route, nobody bool) bool {
	lasts := a.update(nobody)
	return nobody && (routes[0].socket != "" || lasts > deadAfter)
}

// refused reports whether trying again is useless.
func refused(err error) bool {
	return !secure.Transient(err) && !errors.Is(err, secure.ErrNotCollgen)
}

// recognise returns err wrapped in the error that its text names.
func recognise(err error) error {
	for _, reason := range []error{ErrTaken, ErrTicketUsed, ErrTicket, wire.ErrExhausted} {
		if errors.Is(err, secure.ErrRefused) && strings.Contains(err.Error(), reason.Error()) {
			return fmt.Errorf("%w: %w", reason, err)
		}
	}
	return err
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// maxDials returns how many control connections a process dials at once: as many as its processors can work on. If all
// processes of a large job dialled all at once, a busy machine would finish the first ones late.
func maxDials() int { return max(2, runtime.GOMAXPROCS(0)) }

// dialSlotTime is how long a try holds a slot, so that processes that do not answer do not block the others.
const dialSlotTime = time.Second

// tryInTurn calls try. For a control connection, it first waits for a slot.
func (m *Mesh) tryInTurn(ctx context.Context, routes []route, h secure.Hello) (c *secure.Conn, nobody bool, err error) {
	if h.Purpose != secure.Data {
		select {
		case m.dials <- struct{}{}:
			release := sync.OnceFunc(func() { <-m.dials })
			defer release()
			defer time.AfterFunc(dialSlotTime, release).Stop()
		case <-ctx.Done():
			return nil, false, errors.New("none, because too many others were in progress")
		}
	}
	return m.try(ctx, routes, h)
}

// routeTimeout limits a try of a route if there is another one: some other program may answer there, or the path may
// lose long packets.
const routeTimeout = 10 * time.Second

var errRoute = fmt.Errorf("%w: no answer for %v", secure.ErrBroken, routeTimeout)

// try tries all routes once. If all fail, it returns a refusal if there is one and the first error otherwise, and
// whether nobody listens on any route.
func (m *Mesh) try(ctx context.Context, routes []route, h secure.Hello) (c *secure.Conn, nobody bool, err error) {
	nobody = true
	for i, r := range routes {
		conn, failed := dial(ctx, r)
		m.server.Exhausted(failed, r)
		nobody = nobody && errors.Is(failed, syscall.ECONNREFUSED)
		if failed == nil {
			ctx, cancel := ctx, func() {}
			if i < len(routes)-1 {
				ctx, cancel = context.WithTimeoutCause(ctx, routeTimeout, errRoute)
			}
			defer cancel()
			if c, failed = secure.Client(ctx, conn, m.cfg.Credentials, m.me, h); failed == nil {
				return c, false, nil
			}
		}
		if err == nil || (refused(failed) && !refused(err)) {
			err = failed
		}
	}
	return nil, nobody, err
}

// dial opens a connection, without a handshake.
func dial(ctx context.Context, r route) (c net.Conn, err error) {
	if r.socket != "" {
		c, err = dialLocal(ctx, r.socket)
	} else {
		d := net.Dialer{Timeout: dialTimeout}
		c, err = d.DialContext(ctx, r.Network(), r.String())
	}
	if err != nil {
		return nil, dialError(ctx, err)
	}
	return c, nil
}

// errDial is the error of a try that has reached dialTimeout.
var errDial = fmt.Errorf("%w: no connection within %v", secure.ErrBroken, dialTimeout)

// dialError returns the error of a connection that could not be opened because of err. The error of a Dialer whose own
// time is over is context.DeadlineExceeded too, although ctx goes on and the next try may succeed.
func dialError(ctx context.Context, err error) error {
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return errDial
	}
	return fmt.Errorf("%w: %w", secure.ErrBroken, wire.Exhausted(err))
}

// nobodyListens reports whether nobody listens on any of routes.
func nobodyListens(ctx context.Context, routes []route) bool {
	nobody := true
	for _, r := range routes {
		conn, err := dial(ctx, r)
		if err == nil {
			_ = conn.Close()
		}
		nobody = nobody && errors.Is(err, syscall.ECONNREFUSED)
	}
	return nobody
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

// confirmed is the first byte on a control connection, sent by the process that has dialled, so that both know that the
// connection exists. Without it, giving up a connection at the last moment would look like the death of the process.
const confirmed = 1

// dataTimeout is how long Dial tries at most.
const dataTimeout = time.Minute

// Dial makes a data connection to a process for a communicator. It fails when ctx ends, after a minute, or with
// *wire.PeerError when the process is down.
func (m *Mesh) Dial(ctx context.Context, process int, comm uint64) (wire.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, dataTimeout, fmt.Errorf("no connection for data within %v", dataTimeout))
	defer cancel()
	ctx, stop := m.whileUp(ctx, func(p int) bool { return p == process })
	defer stop()
	c := m.cardOf(process)
	c.Process = process
	conn, err := m.call(ctx, &c, secure.Hello{Purpose: secure.Data, Comm: comm, Encrypt: m.cfg.Encrypt})
	if err != nil {
		if down := m.Down(process); down != nil { // which counts more than what it answers, if it does
			err = &wire.PeerError{Rank: process, Err: down}
		}
		return wire.Conn{}, fmt.Errorf("connecting to process %d: %w", process, err)
	}
	raw, err := conn.Raw(m.cfg.Encrypt)
	if err != nil {
		_ = conn.Close()
	}
	return raw, err
}
