//go:build linux

package rendezvous

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

const (
	handshakeTime  = 2 * time.Second // from a connection to its hello
	latecomersTime = time.Second     // from a failure to rank 0's end
	strangers      = 16              // connections beyond those of the job that may be in their handshake
	refusalsKept   = 4
)

// arrival is a rank that has said hello.
type arrival struct {
	hello
	conn *net.UnixConn
	peer peer
}

// lead is rank 0's part of Join.
func lead(ctx context.Context, job Job) (*Meeting, error) {
	d, l, err := openAndListen(ctx, &job)
	if err != nil {
		return nil, err
	}
	defer d.close()
	m := &Meeting{job: job, members: make([]*net.UnixConn, job.Size), missing: job.Size - 1, events: make(chan event, job.Size)}
	err = m.gather(ctx, l)
	err = errors.Join(err, d.remove()) // as long as somebody listens on the socket, it is not another's
	_ = l.Close()
	if err != nil {
		m.Fail(err)
		m.Close()
		return nil, err
	}
	return m, nil
}

// openAndListen opens the directory and makes the socket. A directory that another job has just removed is made again.
func openAndListen(ctx context.Context, job *Job) (*directory, *net.UnixListener, error) {
	for attempt := 1; ; attempt++ {
		d, err := openDirectory(job, true)
		if err == nil {
			var l *net.UnixListener
			if l, err = d.listen(ctx); err == nil {
				return d, l, nil
			}
			d.close()
		}
		if !errors.Is(err, os.ErrNotExist) || attempt == 100 || pause(ctx, time.Millisecond) != nil {
			return nil, nil, err
		}
	}
}

// gather accepts ranks until all are there. If one of them fails before, the others have some time to come and hear of it.
func (m *Meeting) gather(ctx context.Context, l *net.UnixListener) error {
	accepting, stop := context.WithCancel(ctx)
	arrivals := make(chan arrival)
	go accept(accepting, l, m.job.Size+strangers, arrivals)
	defer stop()
	var failed error
	var latecomers <-chan time.Time
	for m.missing > 0 {
		select {
		case a := <-arrivals:
			m.admit(a)
		case ev := <-m.events:
			if failed == nil {
				failed, latecomers = ev.tooEarly(), time.After(latecomersTime)
			}
		case <-latecomers:
			return failed
		case <-ctx.Done():
			return cmp.Or(failed, m.incomplete(ctx))
		}
		if failed != nil {
			m.Fail(failed)
		}
	}
	return failed
}

// tooEarly is the error of a rank that says something before it has its files.
func (ev event) tooEarly() error {
	if err := ev.failure(); err != nil {
		return err
	}
	return &failure{ev.rank, "is ready before it has its files"}
}

// incomplete is the error of a job that is not complete when ctx ends.
func (m *Meeting) incomplete(ctx context.Context) error {
	waiting := make([]bool, len(m.members))
	for rank, c := range m.members {
		waiting[rank] = rank > 0 && c == nil
	}
	if len(m.refusals) == 0 {
		return timeout(ctx, waiting)
	}
	return fmt.Errorf("%w; refused: %s", timeout(ctx, waiting), strings.Join(m.refusals, "; "))
}

// accept starts handshakes until l is closed, at most limit at a time.
func accept(ctx context.Context, l *net.UnixListener, limit int, arrivals chan<- arrival) {
	pending := make(chan bool, limit)
	for {
		c, err := l.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // such as too many open files
			if pause(ctx, 10*time.Millisecond) != nil {
				return
			}
			continue
		}
		select {
		case pending <- true:
			go func() {
				shake(ctx, c, arrivals)
				<-pending
			}()
		default: // a rank tries again
			_ = c.Close()
		}
	}
}

// shake hears who connects. What is not a rank of this user's gets no answer.
func shake(ctx context.Context, c *net.UnixConn, arrivals chan<- arrival) {
	a := arrival{conn: c, peer: peerOf(c)}
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	_ = c.SetDeadline(time.Now().Add(handshakeTime))
	b := make([]byte, helloBytes+1)
	n, err := c.Read(b)
	if err == nil {
		err = a.peer.check()
	}
	if err == nil {
		a.hello, err = decodeHello(b[:n])
	}
	if err == nil && stop() {
		_ = c.SetDeadline(time.Time{})
		select {
		case arrivals <- a:
			return
		case <-ctx.Done():
		}
	}
	_ = c.Close()
}

// admit accepts a rank, or says why not.
func (m *Meeting) admit(a arrival) {
	if why := m.objection(a); why != "" {
		if len(m.refusals) < refusalsKept {
			m.refusals = append(m.refusals, fmt.Sprintf("process %d as rank %d: %s", a.peer.pid, a.rank, why))
		}
		_ = note{kind: refused, text: why}.write(a.conn, nil)
		_ = a.conn.Close()
		return
	}
	if (note{kind: accepted}).write(a.conn, nil) != nil { // gone already
		_ = a.conn.Close()
		return
	}
	m.members[a.rank] = a.conn
	m.missing--
	go func() {
		n, fds, err := read(a.conn)
		closeAll(fds)
		m.events <- event{a.rank, n, err}
	}()
}

// objection says why a cannot be accepted, if so.
func (m *Meeting) objection(a arrival) string {
	switch {
	case a.job != m.job.hash():
		return "it belongs to another job"
	case a.size != m.job.Size:
		return fmt.Sprintf("it says that there are %d ranks, and rank 0 knows of %d", a.size, m.job.Size)
	case m.members[a.rank] != nil:
		return fmt.Sprintf("process %d is rank %d already", peerOf(m.members[a.rank]).pid, a.rank)
	}
	return ""
}
