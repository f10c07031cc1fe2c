//go:build linux

package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// peer is the process at the other end of a connection, as the system says.
type peer struct{ pid, uid int }

func peerOf(c *net.UnixConn) peer {
	p := peer{-1, -1}
	raw, err := c.SyscallConn()
	if err != nil {
		return p
	}
	_ = raw.Control(func(fd uintptr) {
		if u, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			p = peer{int(u.Pid), int(u.Uid)}
		}
	})
	return p
}

// check refuses other users.
func (p peer) check() error {
	if p.uid != os.Geteuid() {
		return fmt.Errorf("process %d belongs to user %d, and not to this user, %d", p.pid, p.uid, os.Geteuid())
	}
	return nil
}

// write sends n and files, at most filesPerNote.
func (n note) write(c *net.UnixConn, fds []int) error {
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	_ = c.SetWriteDeadline(time.Now().Add(writeTime))
	_, _, err := c.WriteMsgUnix(n.encode(), rights, nil)
	return err
}

const (
	filesPerNote = 250 // the system takes 253
	writeTime    = 2 * time.Second
	lastWords    = 200 * time.Millisecond
)

// read receives a note and its files. At the end of the connection it fails with io.EOF.
func read(c *net.UnixConn) (note, []int, error) {
	b, rights := make([]byte, noteBytes+1), make([]byte, unix.CmsgSpace(4*filesPerNote))
	n, m, flags, _, err := c.ReadMsgUnix(b, rights)
	if errors.Is(err, unix.ECONNRESET) { // comes before what was sent, once
		n, m, flags, _, err = c.ReadMsgUnix(b, rights)
	}
	switch {
	case err != nil:
		return note{}, nil, err
	case n == 0:
		return note{}, nil, io.EOF
	}
	fds, err := parseRights(rights[:m])
	if err == nil && flags&unix.MSG_CTRUNC != 0 {
		err = errors.New("some files were lost on their way: there are too many open files")
	}
	var d note
	if err == nil {
		d, err = decodeNote(b[:n])
	}
	if err != nil {
		closeAll(fds)
		return note{}, nil, err
	}
	return d, fds, nil
}

// parseRights are the files in a control message.
func parseRights(b []byte) ([]int, error) {
	messages, err := unix.ParseSocketControlMessage(b)
	if err != nil {
		return nil, err
	}
	var fds []int
	for _, m := range messages {
		if len(m.Data)%4 != 0 { // ParseUnixRights would go out of range
			continue
		}
		if got, err := unix.ParseUnixRights(&m); err == nil {
			fds = append(fds, got...)
		}
	}
	return fds, nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

// isGone tells whether writing failed because nobody reads any more.
func isGone(err error) bool { return errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) }

// bound makes reading from c fail when ctx ends, or lastWords later if that is because its deadline has passed. The caller
// calls stop when it is done.
func bound(ctx context.Context, c *net.UnixConn) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			_ = c.SetReadDeadline(time.Now().Add(lastWords))
		} else {
			_ = c.SetReadDeadline(time.Unix(1, 0))
		}
	})
}
