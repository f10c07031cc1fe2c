package main

import (
	"context"
	"io"

	"github.com/collgen/collgen/internal/figures"
	"golang.org/x/sys/unix"
)

// mostCrossing is the most bytes that are written by one system call. Less costs more packets, more is no faster.
const mostCrossing = 1 << 20

// crossingLimits returns messages over TCP that two send each other at the same time, asking for the other's again and
// again: what an all-reduce of two ranks needs at least, without the adding. Longer ones take as many times the
// longest.
func crossingLimits(ctx context.Context) (all []limit, err error) {
	ends, err := newEnds()
	if err != nil {
		return nil, err
	}
	defer ends.release()
	m, err := newMemory(4 * mostCrossing)
	if err != nil {
		return nil, err
	}
	defer m.free()
	fillWith(m.data, 1)
	var sides [2]func(int) error
	for _, bytes := range []int{8, 1 << 10, 64 << 10, mostCrossing} {
		for i, fd := range ends.fds {
			out, in := m.data[2*i*mostCrossing:][:bytes], m.data[(2*i+1)*mostCrossing:][:bytes]
			sides[i] = func(int) error { return cross(fd, out, in) }
		}
		seconds, err := inStep(ctx, sides, func() {}, ends.cut)
		if err != nil {
			return all, err
		}
		all = append(all, limit{Name: "tcp exchange", Where: "loopback, " + figures.Size(bytes).String(), Bytes: bytes, Cores: 2,
			Value: seconds * 1e6, Unit: "us"})
	}
	return all, nil
}

// cross sends out and receives in.
func cross(fd int, out, in []byte) error {
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
