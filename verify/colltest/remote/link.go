package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// stream carries a link: a connection, or two pipes.
type stream interface {
	io.ReadWriteCloser
	SetDeadline(time.Time) error
}

// link is the lines to and from one rank.
type link struct {
	stream
	lines *bufio.Reader

	calls     int // that were started or prepared
	comm, tag int // of the last call
}

func newLink(s stream) *link { return &link{stream: s, lines: bufio.NewReaderSize(s, 1<<16)} }

// during runs f, whose reads and writes of lines fail when ctx ends.
func (l *link) during(ctx context.Context, f func() error) error {
	stop := context.AfterFunc(ctx, func() { _ = l.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	err := f()
	if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// line reads a line of limited length, and returns it without its end.
func (l *link) line(most int) (string, error) {
	var b strings.Builder
	for {
		part, err := l.lines.ReadSlice('\n')
		if b.Len()+len(part) > most+1 {
			return "", fmt.Errorf("it wrote a line of more than %d bytes", most)
		}
		b.Write(part)
		switch {
		case err == nil:
			return strings.TrimSuffix(strings.TrimSuffix(b.String(), "\n"), "\r"), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return "", errGone
		default:
			return "", err
		}
	}
}

// errGone says that a rank has ended, or closed its side of the link.
var errGone = errors.New("the rank is gone")

// pipes is a stream over the standard input and output of a process.
type pipes struct{ in, out *os.File } // in: the process's input

func (p pipes) Read(b []byte) (int, error)  { return p.out.Read(b) }
func (p pipes) Write(b []byte) (int, error) { return p.in.Write(b) }

func (p pipes) Close() error { return errors.Join(p.in.Close(), p.out.Close()) }

// SetDeadline sets the deadline of both pipes.
func (p pipes) SetDeadline(t time.Time) error {
	return errors.Join(p.in.SetDeadline(t), p.out.SetDeadline(t))
}
