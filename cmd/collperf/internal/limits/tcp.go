package limits

import (
	"context"
	"io"
	"net"
)

// streamPiece is how many bytes of a stream are written and read at once.
const streamPiece = 256 << 10

// tcpLimits measures a stream over a connection within this host.
func tcpLimits(ctx context.Context) ([]Limit, error) {
	a, b, err := loopback()
	if err != nil {
		return nil, err
	}
	defer a.Close()
	defer b.Close()
	stream, err := best(ctx, func(n int) error { return streams(ctx, a, b, n) })
	if err != nil {
		return nil, err
	}
	return []Limit{{Name: "tcp stream", Where: "loopback", Bytes: streamPiece, Cores: 2,
		Value: streamPiece / stream / 1e9, Unit: "GB/s"}}, nil
}

// loopback returns both ends of a connection.
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
func streams(ctx context.Context, a, b net.Conn, n int) error {
	move := [2]func(piece []byte) (int, error){a.Write, func(piece []byte) (int, error) { return io.ReadFull(b, piece) }}
	cut := func() {
		_ = a.Close()
		_ = b.Close()
	}
	return bothSides(ctx, cut, func(i int) error {
		piece := make([]byte, streamPiece)
		for range n {
			if _, err := move[i](piece); err != nil {
				return err
			}
		}
		return nil
	})
}
