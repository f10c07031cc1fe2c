package main

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
)

// streamPiece is what a stream is written by, and read into.
const streamPiece = 256 << 10

// tcpLimits are of a connection within this host: a stream one way.
func tcpLimits(ctx context.Context) ([]limit, error) {
	a, b, err := loopback()
	if err != nil {
		return nil, err
	}
	defer a.Close()
	defer b.Close()
	stream, err := best(ctx, func(n int) error { return streams(a, b, n) })
	if err != nil {
		return nil, err
	}
	return []limit{{Name: "tcp stream", Where: "loopback", Bytes: streamPiece, Cores: 2,
		Value: streamPiece / stream / 1e9, Unit: "GB/s"}}, nil
}

// loopback is both ends of a connection.
func loopback() (a, b *net.TCPConn, err error) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	if a, err = net.DialTCP("tcp", nil, l.Addr().(*net.TCPAddr)); err != nil {
		return nil, nil, err
	}
	if b, err = l.AcceptTCP(); err != nil {
		a.Close()
		return nil, nil, err
	}
	return a, b, nil
}

// streams sends n pieces from a to b.
func streams(a, b net.Conn, n int) error {
	var both sync.WaitGroup
	var errs [2]error
	both.Go(func() {
		piece := make([]byte, streamPiece)
		for i := 0; i < n && errs[0] == nil; i++ {
			_, errs[0] = a.Write(piece)
		}
	})
	both.Go(func() {
		piece := make([]byte, streamPiece)
		for i := 0; i < n && errs[1] == nil; i++ {
			_, errs[1] = io.ReadFull(b, piece)
		}
	})
	both.Wait()
	return errors.Join(errs[:]...)
}
