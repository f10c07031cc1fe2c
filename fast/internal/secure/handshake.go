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

// bounded runs a handshake on conn, which takes at most Budget and ends with ctx. If it fails conn is closed, or else
// left without deadlines.
func bounded(ctx context.Context, conn net.Conn, handshake func() error) error {
	err := conn.SetDeadline(time.Now().Add(Budget))
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	if err == nil {
		err = handshake()
	}
	if !stop() && (err == nil || errors.Is(err, os.ErrDeadlineExceeded)) { // the deadline is spoilt, or will be
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

// config is for both sides. Who the other one is can be checked only by what it says it is, so it is not checked in
// TLS.
func config(own *tls.Certificate) *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{*own},
		ClientAuth:             tls.RequireAnyClientCert,
		InsecureSkipVerify:     true, // by TLS: Credentials.check does it
		SessionTicketsDisabled: true,
	}
}

// readFirst fills b with what begins with magic, and gives up as soon as it does not. It returns how much has come.
func readFirst(conn net.Conn, b []byte) (have int, err error) {
	for have < len(b) && err == nil {
		var n int
		n, err = conn.Read(b[have:])
		have += n
		if begin := b[:min(have, len(magic))]; string(begin) != magic[:len(begin)] {
			return have, fmt.Errorf("%w: it said %q", ErrNotCollgen, begin)
		}
	}
	if have == len(b) {
		return have, nil
	}
	return have, fmt.Errorf("%w, after %d bytes: %w", ErrBroken, have, err)
}

// Private is a connection that only this user's processes, and the system's administrator, can read, write or make:
// both sides have checked who is at the other end.
type Private interface{ Private() }

// isPrivate reports whether a handshake on conn goes without TLS.
func isPrivate(conn net.Conn, cred Credentials) bool {
	_, ok := conn.(Private)
	return ok && cred.mode() == modeSecret
}

// readMessage reads a message of size bytes, which in TLS has to be a record of its own.
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
		err = fmt.Errorf("a record that does not have %d bytes", size)
	}
	return b[:n], err
}
