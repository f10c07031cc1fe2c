package limits

import (
	"context"
	"io"
	"net"
	"os"

	"github.com/collgen/collgen/cmd/collperf/internal/machine"
	"github.com/collgen/collgen/internal/figures"
	"golang.org/x/sys/unix"
)

// ends are both ends of a connection within this host. As in package fast, they do not block and are not paced.
type ends struct {
	fds   [2]int
	conns [2]*net.TCPConn
	files [2]*os.File // duplicates, which own fds
}

func newEnds() (*ends, error) {
	a, b, err := loopback()
	if err != nil {
		return nil, err
	}
	e := &ends{conns: [2]*net.TCPConn{a, b}}
	for i, c := range e.conns {
		if e.files[i], err = c.File(); err != nil {
			e.release()
			return nil, err
		}
		e.fds[i] = int(e.files[i].Fd())
		_ = unix.SetsockoptString(e.fds[i], unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno")
		if err := unix.SetNonblock(e.fds[i], true); err != nil {
			e.release()
			return nil, err
		}
	}
	return e, nil
}

// cut ends the connection in both directions, so that whoever waits at one end fails.
func (e *ends) cut() {
	for _, c := range e.conns {
		_ = c.CloseWrite()
	}
}

func (e *ends) release() {
	for i, c := range e.conns {
		_ = c.Close()
		_ = e.files[i].Close() // nil is allowed
	}
}

// messageLimits measures a message over TCP, between two sides that sleep until it arrives, and between two that poll.
func messageLimits(ctx context.Context) (all []Limit, err error) {
	ends, err := newEnds()
	if err != nil {
		return nil, err
	}
	defer ends.release()
	for _, way := range []struct {
		name  string
		spins bool
	}{{"loopback, blocking", false}, {"loopback, spinning", true}} {
		seconds, err := messages(ctx, ends, way.spins)
		if err != nil {
			return all, err
		}
		all = append(all, Limit{Name: "tcp message", Where: way.name, Bytes: 8, Cores: 2, Value: seconds * 1e6, Unit: "us"})
	}
	return all, nil
}

// messages returns how long a message takes, in seconds.
func messages(ctx context.Context, ends *ends, spins bool) (float64, error) {
	for _, fd := range ends.fds {
		if err := unix.SetNonblock(fd, spins); err != nil {
			return 0, err
		}
	}
	return oneWay(ctx, [2]func(int) error{
		func(int) error {
			if err := sendTo(ends.fds[0]); err != nil {
				return err
			}
			return receiveFrom(ends.fds[0])
		},
		func(int) error {
			if err := receiveFrom(ends.fds[1]); err != nil {
				return err
			}
			return sendTo(ends.fds[1])
		},
	}, func() {}, ends.cut)
}

func sendTo(fd int) error {
	var message [8]byte
	_, err := unix.Write(fd, message[:])
	return err
}

func receiveFrom(fd int) error {
	var message [8]byte
	for {
		n, err := unix.Read(fd, message[:])
		if n == 0 && err == nil {
			return io.ErrUnexpectedEOF
		}
		if err != unix.EAGAIN {
			return err
		}
	}
}

// maxWrite is how many bytes one system call writes at most. Less costs more packets, more is no faster.
const maxWrite = 1 << 20

// exchangeLimits measures messages over TCP that two sides send each other at the same time, polling. An all-reduce of
// two ranks needs at least that, besides the adding. Longer messages take a multiple of the longest one here.
func exchangeLimits(ctx context.Context) (all []Limit, err error) {
	ends, err := newEnds()
	if err != nil {
		return nil, err
	}
	defer ends.release()
	m, err := machine.NewMemory(4 * maxWrite)
	if err != nil {
		return nil, err
	}
	defer m.Free()
	fill(m.Data, 1)
	var sides [2]func(int) error
	for _, bytes := range []int{8, 1 << 10, 64 << 10, maxWrite} {
		for i, fd := range ends.fds {
			out, in := m.Data[2*i*maxWrite:][:bytes], m.Data[(2*i+1)*maxWrite:][:bytes]
			sides[i] = func(int) error { return exchange(fd, out, in) }
		}
		seconds, err := inStep(ctx, sides, func() {}, ends.cut)
		if err != nil {
			return all, err
		}
		all = append(all, Limit{Name: "tcp exchange", Where: "loopback, " + figures.Size(bytes).String(), Bytes: bytes,
			Cores: 2,
			Value: seconds * 1e6, Unit: "us"})
	}
	return all, nil
}

// exchange sends out and receives in.
func exchange(fd int, out, in []byte) error {
	for len(out)+len(in) > 0 {
		if len(out) > 0 {
			n, err := unix.Write(fd, out)
			if err != nil && err != unix.EAGAIN {
				return err
			}
			out = out[max(n, 0):]
		}
		if len(in) > 0 {
			n, err := unix.Read(fd, in)
			if err != nil && err != unix.EAGAIN {
				return err
			}
			if n == 0 {
				return io.ErrUnexpectedEOF
			}
			in = in[max(n, 0):]
		}
	}
	return nil
}
