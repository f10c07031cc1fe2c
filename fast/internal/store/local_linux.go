package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// helloTime is from a connection to the end of its hello.
const helloTime = 2 * time.Second

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

// address is the job's, on this host, among this user's.
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
	h := newHost(context.Background(), socket, job.Size+strangers)
	var refused refusals
	h.running.Go(func() { h.accept(&job, &refused) })
	return &Local{Shared{h.memory, h.shut, refused.words}, h.memory.secret}, nil
}

// occupant is who has the job's address already, in words.
func (j *Job) occupant() string {
	c, err := net.DialUnix("unix", nil, j.address())
	if err != nil {
		return ""
	}
	defer c.Close()
	p := peerOf(c)
	return fmt.Sprintf(": process %d of user %d is rank 0 of a job of the same name, %q", p.pid, p.uid, j.Name)
}

// accept has each connection served by its own goroutine, until the listener is closed.
func (h *host) accept(job *Job, refused *refusals) {
	for {
		c, err := h.listener.Accept()
		switch {
		case err == nil:
			h.start(c, func() { refused.add(h.welcome(c, job)) })
		case errors.Is(err, net.ErrClosed):
			return
		case pause(h.ctx, 10*time.Millisecond) != nil: // after an error such as too many open files
			return
		}
	}
}

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
