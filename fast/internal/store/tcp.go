package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
)

// maxClients limits the connections of a store that does not know the size of the job.
const maxClients = 1 << 16

// NewTCP opens the store of a job at an address, host:port, that is the same on all ranks. Rank 0 keeps the store and
// listens there, unless somebody already does or the address belongs to another host: then ServeTCP keeps the store.
// The others look for it until ctx ends, with *wire.TimeoutError. A process that is refused gets an error of package
// secure.
func NewTCP(ctx context.Context, address string, cred secure.Credentials, job Job) (*Shared, error) {
	t := &tcp{address, cred, job}
	open := t.connect
	if job.Rank == 0 {
		open = t.listenOrConnect
	}
	var s *Shared
	err := retry(ctx, func() (err error) {
		s, err = open(ctx)
		return err
	}, isTCPTransient)
	return s, err
}

// ServeTCP keeps the store of a job of any size at l until ctx ends, and closes l.
func ServeTCP(ctx context.Context, l net.Listener, cred secure.Credentials, job Job) error {
	h := newHost(ctx, l, maxClients)
	server := secure.NewServer(cred, secure.Identity{Job: job.Name, Epoch: job.Epoch, Process: secure.StoreProcess})
	server.Log = job.Log
	err := h.serve(server)
	_ = h.close()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// serve accepts clients until the host's context ends.
func (h *host) serve(s *secure.Server) error {
	check := func(hello secure.Hello, _ secure.Identity) error {
		if hello.Purpose != secure.Store {
			return fmt.Errorf("%w: this is a store", secure.ErrRefused)
		}
		return nil
	}
	return s.Serve(h.ctx, h.listener, check, func(c *secure.Conn, _ secure.Hello) {
		h.start(c, func() { _ = Serve(h.ctx, c, h.memory) })
	})
}

// tcp has the arguments of NewTCP.
type tcp struct {
	address string
	cred    secure.Credentials
	job     Job
}

// identity returns the identity of a process of the job.
func (t *tcp) identity(process int) secure.Identity {
	return secure.Identity{Job: t.job.Name, Epoch: t.job.Epoch, Process: process, Size: t.job.Size}
}

// listenOrConnect opens the store on rank 0. If somebody listens at the address already, that may be a store, or an
// earlier attempt at the job that is about to end.
func (t *tcp) listenOrConnect(ctx context.Context) (*Shared, error) {
	l, err := listenHere(ctx, t.address)
	switch {
	case l != nil:
		return t.host(l), nil
	case err == nil || errors.Is(err, syscall.EADDRINUSE):
		return t.connect(ctx)
	}
	return nil, err
}

// host keeps the store at l.
func (t *tcp) host(l net.Listener) *Shared {
	h := newHost(context.Background(), l, t.job.Size+extraClients)
	server := secure.NewServer(t.cred, t.identity(secure.StoreProcess))
	server.Log = t.job.Log
	h.running.Go(func() { _ = h.serve(server) })
	return &Shared{h.memory, h.close, server.Refusals}
}

// dialTimeout limits connecting in one attempt, so that another one follows if an address does not answer at first.
const dialTimeout = 5 * time.Second

// connect tries once to connect to the store.
func (t *tcp) connect(ctx context.Context) (*Shared, error) {
	d := net.Dialer{Timeout: dialTimeout}
	c, err := d.DialContext(ctx, "tcp", t.address)
	if err != nil {
		return nil, fmt.Errorf("the store: %w", err)
	}
	h := secure.Hello{To: secure.StoreProcess, Purpose: secure.Store}
	conn, err := secure.Client(ctx, c, t.cred, t.identity(t.job.Rank), h)
	if err != nil {
		return nil, fmt.Errorf("the store at %s: %w", t.address, err)
	}
	client := NewClient(conn, t.connError)
	return &Shared{client, client.Close, nil}, nil
}

// connError returns the error of requests after the connection to the store failed with err.
func (t *tcp) connError(err error) error {
	return fmt.Errorf("the store at %s, which rank 0 keeps unless it runs separately, has ended: %w", t.address, err)
}

// isTCPTransient reports whether the store, or its host's name, may not exist yet, or the store may be too busy.
func isTCPTransient(err error) bool {
	var unknown *net.DNSError
	if secure.Transient(err) || errors.As(err, &unknown) {
		return true
	}
	for _, e := range []error{syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ETIMEDOUT, syscall.EHOSTUNREACH,
		syscall.ENETUNREACH, syscall.EPIPE, io.EOF} {
		if errors.Is(err, e) {
			return true
		}
	}
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// listenHere listens at an address if it is one of this host. It returns nil and no error if it is another host's.
func listenHere(ctx context.Context, address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return nil, fmt.Errorf("the store's address is %q, want host:port", address)
	}
	own, err := ownAddress(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("the store: %w", err)
	}
	if own == nil {
		return nil, nil
	}
	var c net.ListenConfig
	l, err := c.Listen(ctx, "tcp", net.JoinHostPort(*own, port))
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		return nil, nil
	}
	return l, err
}

// ownAddress returns the address to listen on for clients that connect to host, or nil if that is another host. A
// host's own name often resolves to a loopback address on the host itself, but not on others. In that case it returns
// the empty address, which means all.
func ownAddress(ctx context.Context, host string) (*string, error) {
	addresses, err := resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	isName := host != "localhost" && !isAddress(host)
	for _, a := range addresses {
		switch {
		case a.IsLoopback() && isName:
			return new(string), nil
		case a.IsLoopback(), slices.ContainsFunc(own, func(o net.Addr) bool { return hasAddress(o, a) }):
			address := a.String()
			return &address, nil
		}
	}
	return nil, nil
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// hasAddress reports whether the interface address o is a.
func hasAddress(o net.Addr, a netip.Addr) bool {
	n, ok := o.(*net.IPNet)
	return ok && n.IP.Equal(net.IP(a.AsSlice()))
}

// resolve returns the addresses of a host. It works for this host's name even if no resolver knows it.
func resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if name, nameErr := os.Hostname(); err != nil && nameErr == nil && strings.EqualFold(name, host) {
		return []netip.Addr{netip.IPv6Loopback()}, nil
	}
	for i, a := range addresses {
		addresses[i] = a.Unmap()
	}
	return addresses, err
}
