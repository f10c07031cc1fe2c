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

// route is a way to a process: its socket on this host, or an address.
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

// routesTo returns the ways to the process of card c, the best first, at least one. To another host no loopback address
// leads, whatever the card says.
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

// foreign reports whether other hosts can use an address. Those that hold only on one link name an interface of one
// host.
func foreign(a netip.Addr) bool {
	return a.IsValid() && !a.IsUnspecified() && !a.IsLoopback() && !a.IsMulticast() && !a.IsLinkLocalUnicast() && a.Zone() == ""
}

// How long to wait before trying to connect again, first and at most; and how long a try may take before the handshake.
const (
	firstPause = time.Millisecond
	longPause  = 50 * time.Millisecond
	dialTime   = 2 * time.Second
)

// stubborn is how long a port has to be closed until its process is taken for dead. A socket goes with its process.
const stubborn = 2 * time.Second

// call connects to the process of card c. It tries until ctx ends, the process refuses, it is known to be gone, or this
// one has had no room for a connection for long.
func (m *Mesh) call(ctx context.Context, c *Card, h secure.Hello) (*secure.Conn, error) {
	routes, err := m.routesTo(c, h.Purpose)
	if err != nil {
		return nil, err
	}
	h.To = c.Process
	var absent, exhausted absence
	for wait := firstPause; ; wait = min(2*wait, longPause) {
		conn, nobody, err := m.tryInTurn(ctx, routes, h)
		switch {
		case err == nil:
			return conn, nil
		case exhausted.lasts(errors.Is(err, wire.ErrExhausted)) > stubborn:
			return nil, err
		case ctx.Err() != nil:
			return nil, fmt.Errorf("%w; the last attempt: %w", context.Cause(ctx), err)
		case refused(err):
			return nil, &wire.PeerError{Rank: c.Process, Err: recognise(err)}
		case absent.proved(routes, nobody):
			return nil, &wire.PeerError{Rank: c.Process, Err: fmt.Errorf("%w: %w", wire.ErrDied, err)}
		}
		sleep(ctx, wait/2+rand.N(wait)) // those that were turned away together do not come again together
	}
}

// absence is since when something is not there, such as who listened when a process published its card; the zero time:
// it is.
type absence struct{ since time.Time }

// lasts takes the result of another try, and is how long it has been absent now.
func (a *absence) lasts(absent bool) time.Duration {
	switch {
	case !absent:
		a.since = time.Time{}
		return 0
	case a.since.IsZero():
		a.since = time.Now()
	}
	return time.Since(a.since)
}

// proved takes the result of another try, and tells whether it is certain now that the process is gone.
func (a *absence) proved(routes []route, nobody bool) bool {
	lasts := a.lasts(nobody)
	return nobody && (routes[0].socket != "" || lasts > stubborn)
}

// refused reports whether trying again is of no use.
func refused(err error) bool {
	return !secure.Transient(err) && !errors.Is(err, secure.ErrNotCollgen)
}

// recognise returns err as the refusal that a server told in words.
func recognise(err error) error {
	for _, reason := range []error{ErrTaken, ErrTicketUsed, ErrTicket, wire.ErrExhausted} {
		if errors.Is(err, secure.ErrRefused) && strings.Contains(err.Error(), reason.Error()) {
			return fmt.Errorf("%w: %w", reason, err)
		}
	}
	return err
}

// sleep waits, or ends with ctx.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// maxDials returns how many control connections a process tries to make at the same time: what its processors can work
// at. If all processes of a large job tried all of theirs, a machine that is busy would finish the first of them late.
func maxDials() int { return max(2, runtime.GOMAXPROCS(0)) }

// holding is how long a try counts among these, so that processes that do not answer do not keep it from the others.
const holding = time.Second

// tryInTurn is try, for a control connection when not too many others are tried.
func (m *Mesh) tryInTurn(ctx context.Context, routes []route, h secure.Hello) (c *secure.Conn, nobody bool, err error) {
	if h.Purpose != secure.Data {
		select {
		case m.dials <- struct{}{}:
			release := sync.OnceFunc(func() { <-m.dials })
			defer release()
			defer time.AfterFunc(holding, release).Stop()
		case <-ctx.Done():
			return nil, false, errors.New("none, for others had not ended")
		}
	}
	return m.try(ctx, routes, h)
}

// routeTime is how long a route may take if there is another one: something else may answer there, or lose what is
// long.
const routeTime = 10 * time.Second

var errRoute = fmt.Errorf("%w: no answer for %v", secure.ErrBroken, routeTime)

// try tries all routes once. Of the errors it returns the one that says most: a refusal, or else the first; and whether
// nobody listens at any of them.
func (m *Mesh) try(ctx context.Context, routes []route, h secure.Hello) (c *secure.Conn, nobody bool, err error) {
	nobody = true
	for i, r := range routes {
		conn, failed := dial(ctx, r)
		m.server.Exhausted(failed, r)
		nobody = nobody && errors.Is(failed, syscall.ECONNREFUSED)
		if failed == nil {
			ctx, cancel := ctx, func() {}
			if i < len(routes)-1 {
				ctx, cancel = context.WithTimeoutCause(ctx, routeTime, errRoute)
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

// dial opens a connection, in which nothing is said yet.
func dial(ctx context.Context, r route) (c net.Conn, err error) {
	if r.socket != "" {
		c, err = dialLocal(ctx, r.socket)
	} else {
		d := net.Dialer{Timeout: dialTime}
		c, err = d.DialContext(ctx, r.Network(), r.String())
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", secure.ErrBroken, wire.Exhausted(err))
	}
	return c, nil
}

// deserted reports whether nobody listens at any of routes.
func deserted(ctx context.Context, routes []route) bool {
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

// confirmed is what the process that has dialled says first on a control connection: now both know that there is one.
// Without it, a connection that it gave up on at the last moment would look like its death.
const confirmed = 1

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
