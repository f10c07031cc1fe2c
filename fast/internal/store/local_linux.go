package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// helloTimeout limits the time from a connection to the end of its hello. Tests shorten it.
var helloTimeout = 15 * time.Second

// NewLocal opens the store of a job. Rank 0 returns at once. The others look for it until ctx ends, with
// *wire.TimeoutError.
func NewLocal(ctx context.Context, job Job) (*Local, error) {
	if job.Rank == 0 {
		return listenLocal(ctx, job)
	}
	l := &Local{}
	err := retry(ctx, func() error { return l.connect(ctx, job) }, isLocalTransient)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// address returns the job's address on this host, for this user.
func (j *Job) address() *net.UnixAddr {
	name := sha256.Sum256([]byte(j.Name))
	return &net.UnixAddr{Net: "unix", Name: fmt.Sprintf("@collgen-%d-%x", os.Geteuid(), name[:16])}
}

// listenLocal opens the store on rank 0.
func listenLocal(ctx context.Context, job Job) (*Local, error) {
	var socket *net.UnixListener
	err := retry(ctx, func() (err error) {
		socket, err = net.ListenUnix("unix", job.address())
		return err
	}, func(error) bool { return false })
	if err != nil {
		return nil, fmt.Errorf("the local store: %w%s", err, job.describeOwner())
	}
	reserve, err := openReserve()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the local store: %w", err), socket.Close())
	}
	h := newHost(context.Background(), socket, job.Size+extraClients)
	refused := refusals{log: job.Log}
	h.running.Go(func() { h.accept(socket, &job, &refused, reserve) })
	return &Local{Shared{h.memory, h.close, refused.list}, h.memory.secret}, nil
}

// describeOwner returns which process has the job's address already, as the end of a message.
func (j *Job) describeOwner() string {
	c, err := net.DialUnix("unix", nil, j.address())
	if err != nil {
		return ""
	}
	defer c.Close()
	p := peerOf(c)
	return fmt.Sprintf(": process %d of user %d is rank 0 of a job of the same name, %q", p.pid, p.uid, j.Name)
}

// mostUntold is how often a client that waits may not be accepted at all before the waits in the store fail.
const mostUntold = 100

// accept serves each connection in a goroutine of its own until l is closed. When descriptors are short, it uses the
// one in reserve to tell clients so. Where another part of the process has taken that one, no client can be told: then
// all waits for values fail, so that this process does not wait for those of the client.
func (h *host) accept(l *net.UnixListener, job *Job, refused *refusals, reserve *os.File) {
	defer func() { _ = reserve.Close() }()
	for untold := 0; ; {
		c, err := l.Accept()
		switch {
		case err == nil:
			h.start(c, func() { refused.add(h.serveRank(c, job)) })
		case errors.Is(err, net.ErrClosed):
			return
		case !errors.Is(err, unix.EMFILE) && !errors.Is(err, unix.ENFILE):
			if sleep(h.ctx, 10*time.Millisecond) != nil {
				return
			}
		default:
			err = fmt.Errorf("rank 0 has no room for a connection: %w", err)
			refused.add(err)
			_ = reserve.Close()
			if untold++; turnAway(l, err) || !isAwaited(l) {
				untold = 0
			}
			if untold == mostUntold {
				untold = 0
				h.memory.failWaits(wire.Exhausted(err))
			}
			if reserve, _ = openReserve(); sleep(h.ctx, 10*time.Millisecond) != nil {
				return
			}
		}
	}
}

// turnAway tells a client that is waiting that it is refused with reason. It reports whether there was a descriptor for
// that.
func turnAway(l *net.UnixListener, reason error) bool {
	_ = l.SetDeadline(time.Now().Add(10 * time.Millisecond))
	defer func() { _ = l.SetDeadline(time.Time{}) }()
	c, err := l.Accept()
	if err != nil {
		return errors.Is(err, os.ErrDeadlineExceeded)
	}
	_ = c.SetDeadline(time.Now().Add(goodbyeTimeout))
	_, _ = c.Write(frame{kind: failed, value: []byte(reason.Error())}.encode())
	_ = c.Close()
	return true
}

// isAwaited reports whether a client waits to be accepted.
func isAwaited(l *net.UnixListener) (is bool) {
	if raw, err := l.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			_, err := unix.Poll(polled, 0)
			is = err == nil && polled[0].Revents&unix.POLLIN != 0
		})
	}
	return is
}

// openReserve opens a file to reserve a descriptor. Closing a nil *os.File is harmless.
func openReserve() (*os.File, error) { return os.Open(os.DevNull) }

// serveRank serves a rank of the job. It returns why it refuses a client, which is told too.
func (h *host) serveRank(c net.Conn, job *Job) error {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return errForeign
	}
	if err := peerOf(u).check(); err != nil {
		return err
	}
	stop := context.AfterFunc(h.ctx, func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(helloTimeout))
	f, err := readFrame(c, frameHead+localHello)
	stop() // from here on, Serve says goodbye
	if err != nil || f.kind != hello || f.key != "" {
		return errForeign
	}
	reply := frame{id: f.id, kind: done, value: h.memory.secret()}
	refusal := job.check(f.value)
	if refusal != nil {
		reply.kind, reply.value = failed, []byte(refusal.Error())
	}
	_, err = c.Write(reply.encode())
	if err == nil && refusal == nil {
		_ = c.SetDeadline(time.Time{})
		_ = Serve(h.ctx, c, h.memory)
	}
	return refusal
}

// refusals keeps the last few different reasons why the local store refused a process.
type refusals struct {
	log  *slog.Logger // gets a warning for each of the first few; may be nil
	mu   sync.Mutex
	last []string
}

const maxRefusals = 4

func (r *refusals) add(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(r.last, err.Error()) {
		return
	}
	if r.log != nil && len(r.last) < maxRefusals {
		r.log.Warn("a process was refused", "error", err)
	}
	r.last = append(r.last, err.Error())
	r.last = r.last[max(0, len(r.last)-maxRefusals):]
}

func (r *refusals) list() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.last)
}

// connect tries once to connect to rank 0.
func (l *Local) connect(ctx context.Context, job Job) error {
	c, err := net.DialUnix("unix", nil, job.address())
	if err != nil {
		return fmt.Errorf("the local store: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(helloTimeout))
	secret, err := requestSecret(c, job)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = c.Close()
		return fmt.Errorf("the local store: %w", err)
	}
	_ = c.SetDeadline(time.Time{})
	client := NewClient(c, rankZeroError)
	l.Shared, l.secret = Shared{client, client.Close, nil}, hide(secret)
	return nil
}

// requestSecret checks who owns rank 0, sends the hello and returns the job's secret.
func requestSecret(c *net.UnixConn, job Job) (secret []byte, err error) {
	if err := peerOf(c).check(); err != nil {
		return nil, err
	}
	if _, err := c.Write(frame{kind: hello, value: job.encode()}.encode()); err != nil {
		return nil, err
	}
	f, err := readFrame(c, maxFrame)
	switch {
	case err != nil:
		return nil, err
	case f.kind == failed:
		return nil, fmt.Errorf("rank 0 refuses rank %d: %s", job.Rank, printable(f.value))
	case f.kind != done || len(f.value) != SecretBytes:
		return nil, errForeign
	}
	return f.value, nil
}

// isLocalTransient reports whether rank 0 may not have started yet, or may be too busy.
func isLocalTransient(err error) bool {
	for _, e := range []error{unix.ECONNREFUSED, unix.EAGAIN, unix.EPIPE, unix.ECONNRESET, io.EOF, io.ErrUnexpectedEOF,
		os.ErrDeadlineExceeded} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// rankZeroError returns the error of requests after the connection to rank 0 failed with err.
func rankZeroError(err error) error {
	if errors.Is(err, ErrClosed) {
		return &wire.PeerError{Rank: 0, Err: fmt.Errorf("%w before all ranks were connected (its %w)", wire.ErrAborted, err)}
	}
	return &wire.PeerError{Rank: 0, Err: fmt.Errorf("%w before all ranks were connected (%w)", wire.ErrDied, err)}
}

// peer is the process at the other end of a connection, as the system reports it.
type peer struct{ pid, uid int }

func peerOf(c *net.UnixConn) peer {
	p := peer{-1, -1}
	raw, err := c.SyscallConn()
	if err != nil {
		return p
	}
	_ = raw.Control(func(fd uintptr) {
		if u, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			p = peer{int(u.Pid), int(u.Uid)}
		}
	})
	return p
}

// check returns an error if the process belongs to another user.
func (p peer) check() error {
	return secure.CheckUser(p.pid, p.uid, os.Geteuid())
}
