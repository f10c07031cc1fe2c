package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// helloTime is from a connection to the end of its hello. Tests shorten it.
var helloTime = 15 * time.Second

// NewLocal opens the store of a job. Rank 0 returns at once. The others look for it until ctx ends, with
// *wire.TimeoutError.
func NewLocal(ctx context.Context, job Job) (*Local, error) {
	if job.Rank == 0 {
		return listenLocal(ctx, job)
	}
	l := &Local{}
	err := retry(ctx, func() error { return l.connect(ctx, job) }, localAgain)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// address returns the job's, on this host, among this user's.
func (j *Job) address() *net.UnixAddr {
	name := sha256.Sum256([]byte(j.Name))
	return &net.UnixAddr{Net: "unix", Name: fmt.Sprintf("@collgen-%d-%x", os.Geteuid(), name[:16])}
}

func listenLocal(ctx context.Context, job Job) (*Local, error) {
	var socket *net.UnixListener
	err := retry(ctx, func() (err error) {
		socket, err = net.ListenUnix("unix", job.address())
		return err
	}, func(error) bool { return false })
	if err != nil {
		return nil, fmt.Errorf("the local store: %w%s", err, job.occupant())
	}
	spare, err := openSpare()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the local store: %w", err), socket.Close())
	}
	h := newHost(context.Background(), socket, job.Size+strangers)
	refused := refusals{log: job.Log}
	h.running.Go(func() { h.accept(socket, &job, &refused, spare) })
	return &Local{Shared{h.memory, h.shut, refused.words}, h.memory.secret}, nil
}

// occupant returns who has the job's address already, in words.
func (j *Job) occupant() string {
	c, err := net.DialUnix("unix", nil, j.address())
	if err != nil {
		return ""
	}
	defer c.Close()
	p := peerOf(c)
	return fmt.Sprintf(": process %d of user %d is rank 0 of a job of the same name, %q", p.pid, p.uid, j.Name)
}

// accept has each connection served by its own goroutine, until l is closed. Where descriptors are short, those who
// come are told so, by the one that spare keeps.
func (h *host) accept(l *net.UnixListener, job *Job, refused *refusals, spare *os.File) {
	defer func() { _ = spare.Close() }()
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			h.start(c, func() { refused.add(h.welcome(c, job)) })
		case errors.Is(err, net.ErrClosed):
			return
		case !errors.Is(err, unix.EMFILE) && !errors.Is(err, unix.ENFILE):
			if pause(h.ctx, 10*time.Millisecond) != nil {
				return
			}
		default:
			err = fmt.Errorf("rank 0 has no room for a connection: %w", err)
			refused.add(err)
			_ = spare.Close()
			turnAway(l, err)
			if spare, _ = openSpare(); pause(h.ctx, 10*time.Millisecond) != nil {
				return
			}
		}
	}
}

// turnAway tells the next one who comes soon why it cannot be served.
func turnAway(l *net.UnixListener, why error) {
	_ = l.SetDeadline(time.Now().Add(10 * time.Millisecond))
	defer func() { _ = l.SetDeadline(time.Time{}) }()
	c, err := l.Accept()
	if err != nil {
		return
	}
	_ = c.SetDeadline(time.Now().Add(leaveTime))
	_, _ = c.Write(frame{kind: failed, value: []byte(why.Error())}.encode())
	_ = c.Close()
}

// openSpare opens a file that reserves a descriptor. Closing a nil *os.File does nothing.
func openSpare() (*os.File, error) { return os.Open(os.DevNull) }

// welcome serves a rank of the job, and tells why it sends away others.
func (h *host) welcome(c net.Conn, job *Job) error {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return errNotOurs
	}
	if err := peerOf(u).check(); err != nil {
		return err
	}
	stop := context.AfterFunc(h.ctx, func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(helloTime))
	f, err := readFrame(c, frameHead+localHello)
	stop() // who gets an answer is told of the end by Serve
	if err != nil || f.kind != hello || f.key != "" {
		return errNotOurs
	}
	answer := frame{id: f.id, kind: done, value: h.memory.secret()}
	refusal := job.check(f.value)
	if refusal != nil {
		answer.kind, answer.value = failed, []byte(refusal.Error())
	}
	_, err = c.Write(answer.encode())
	if err == nil && refusal == nil {
		_ = c.SetDeadline(time.Time{})
		_ = Serve(h.ctx, c, h.memory)
	}
	return refusal
}
