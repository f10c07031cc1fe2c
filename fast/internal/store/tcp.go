package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
)

// maxClients bounds the connections of a store that does not know the size of the job.
const maxClients = 1 << 16

// NewTCP opens the store of a job at an address, host:port, that is the same on all ranks. Rank 0 has it, and listens
// there, unless somebody does already or it is not an address of rank 0's host: then it is one that ServeTCP keeps.
// Those who connect to it look for it until ctx ends, with *wire.TimeoutError. Errors of package secure are those of a
// process that is refused.
func NewTCP(ctx context.Context, address string, cred secure.Credentials, job Job) (*Shared, error) {
	t := &tcp{address, cred, job}
	if job.Rank > 0 {
		return t.follow(ctx)
	}
	return t.lead(ctx)
}

// ServeTCP keeps the store of a job of whatever size at l until ctx ends, and closes l.
func ServeTCP(ctx context.Context, l net.Listener, cred secure.Credentials, job Job) error {
	h := newHost(ctx, l, maxClients)
	server := secure.NewServer(cred, secure.Identity{Job: job.Name, Epoch: job.Epoch, Process: secure.StoreProcess})
	server.Log = job.Log
	err := h.serve(server)
	_ = h.shut()
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

// tcp is what is said of a store before it is opened.
type tcp struct {
	address string
	cred    secure.Credentials
	job     Job
}

// identity returns that of a process of the job.
func (t *tcp) identity(process int) secure.Identity {
	return secure.Identity{Job: t.job.Name, Epoch: t.job.Epoch, Process: process, Size: t.job.Size}
}

// lead returns rank 0's way. Whoever listens already may be a store, or an earlier attempt at the job that is about to
// end.
func (t *tcp) lead(ctx context.Context) (*Shared, error) {
	var s *Shared
	err := retry(ctx, func() error {
		l, err := listenHere(ctx, t.address)
		switch {
		case l != nil:
			s = t.host(l)
		case err == nil || errors.Is(err, syscall.EADDRINUSE):
			s, err = t.connect(ctx)
		}
		return err
	}, tcpAgain)
	return s, err
}

func (t *tcp) host(l net.Listener) *Shared {
	h := newHost(context.Background(), l, t.job.Size+strangers)
	server := secure.NewServer(t.cred, t.identity(secure.StoreProcess))
	server.Log = t.job.Log
	h.running.Go(func() { _ = h.serve(server) })
	return &Shared{h.memory, h.shut, server.Refusals}
}

// follow returns the other ranks' way.
func (t *tcp) follow(ctx context.Context) (s *Shared, err error) {
	err = retry(ctx, func() error {
		s, err = t.connect(ctx)
		return err
	}, tcpAgain)
	return s, err
}

// dialTime bounds connecting in one attempt, so that there is another one if an address does not answer at first.
const dialTime = 5 * time.Second

// connect connects once.
func (t *tcp) connect(ctx context.Context) (*Shared, error) {
	d := net.Dialer{Timeout: dialTime}
	c, err := d.DialContext(ctx, "tcp", t.address)
	if err != nil {
		return nil, fmt.Errorf("the store: %w", err)
	}
	h := secure.Hello{To: secure.StoreProcess, Purpose: secure.Store}
	conn, err := secure.Client(ctx, c, t.cred, t.identity(t.job.Rank), h)
	if err != nil {
		return nil, fmt.Errorf("the store at %s: %w", t.address, err)
	}
	client := NewClient(conn, t.lost)
	return &Shared{client, client.Close, nil}, nil
}

func (t *tcp) lost(err error) error {
	return fmt.Errorf("the store at %s, which rank 0 has unless it runs on its own, has ended: %w", t.address, err)
}

// tcpAgain reports whether the store may not be there yet, or not be known by its name yet, or have too much to do now.
func tcpAgain(err error) bool {
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
