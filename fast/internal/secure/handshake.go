package secure

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// withBudget runs a handshake on conn, which takes at most Budget and ends with ctx. If the handshake fails, conn is
// closed; otherwise it is left without deadlines.
func withBudget(ctx context.Context, conn net.Conn, handshake func() error) error {
	err := conn.SetDeadline(time.Now().Add(Budget))
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	if err == nil {
		err = handshake()
	}
	// ctx has ended, and AfterFunc spoils the deadline
	if !stop() && (err == nil || errors.Is(err, os.ErrDeadlineExceeded)) {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err != nil {
		_ = conn.Close()
	}
	return err
}

// tlsConfig returns the configuration of either side. TLS does not verify the peer, because it does not know yet which
// process the peer claims to be.
func tlsConfig(own *tls.Certificate) *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{*own},
		ClientAuth:             tls.RequireAnyClientCert,
		InsecureSkipVerify:     true, // Credentials.check verifies the peer
		SessionTicketsDisabled: true,
	}
}

// readFirst fills b with a message that has to begin with magic, and fails at the first byte that differs. It returns
// how many bytes have arrived.
func readFirst(conn net.Conn, b []byte) (have int, err error) {
	for have < len(b) && err == nil {
		var n int
		n, err = conn.Read(b[have:])
		have += n
		if prefix := b[:min(have, len(magic))]; string(prefix) != magic[:len(prefix)] {
			return have, fmt.Errorf("%w: it sent %q", ErrNotCollgen, prefix)
		}
	}
	if have == len(b) {
		return have, nil
	}
	return have, fmt.Errorf("%w, after %d bytes: %w", ErrBroken, have, err)
}

// Private is a connection that only this user's processes and the system's administrator can make, read or write. Both
// sides have checked the user of the process at the other end.
type Private interface{ Private() }

// isPrivate reports whether a handshake on conn uses no TLS.
func isPrivate(conn net.Conn, cred Credentials) bool {
	_, ok := conn.(Private)
	return ok && cred.mode() == modeSecret
}

// readMessage reads a message of size bytes. In TLS, the message has to be a record by itself.
func readMessage(conn net.Conn, size int) ([]byte, error) {
	t, ok := conn.(*tls.Conn)
	if !ok {
		b := make([]byte, size)
		n, err := io.ReadFull(conn, b)
		return b[:n], err
	}
	b := make([]byte, size+1)
	n, err := t.Read(b)
	if n > 0 && n != size {
		err = fmt.Errorf("a record without exactly %d bytes", size)
	}
	return b[:n], err
}
