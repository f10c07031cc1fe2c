package main

import (
	"context"
	"io"

	"golang.org/x/sys/unix"
)

// messageLimits returns a message over TCP between two that sleep until it is there, and two that ask for it again and
// again.
func messageLimits(ctx context.Context) (all []limit, err error) {
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
		all = append(all, limit{Name: "tcp message", Where: way.name, Bytes: 8, Cores: 2, Value: seconds * 1e6, Unit: "us"})
	}
	return all, nil
}

// messages returns how long a message takes between two ends, in seconds.
func messages(ctx context.Context, ends *ends, spins bool) (float64, error) {
	for _, fd := range ends.fds {
		if err := unix.SetNonblock(fd, spins); err != nil {
			return 0, err
		}
	}
	return oneWay(ctx, [2]func(int) error{
		func(int) error {
			if err := sayTo(ends.fds[0]); err != nil {
				return err
			}
			return hearFrom(ends.fds[0])
		},
		func(int) error {
			if err := hearFrom(ends.fds[1]); err != nil {
				return err
			}
			return sayTo(ends.fds[1])
		},
	}, func() {}, ends.cut)
}

func sayTo(fd int) error {
	var message [8]byte
	_, err := unix.Write(fd, message[:])
	return err
}

func hearFrom(fd int) error {
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
