//go:build unix && !aix && !solaris

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
)

// maxLine is the length in bytes at which a line is cut, to bound the memory that a rank can make collrun use.
const maxLine = 16 << 20

// tailLines and tailBytes bound what is kept of the end of a rank's stderr for the report.
const (
	tailLines = 20
	tailBytes = 400 // of each line
)

// output is where the lines of all ranks come together.
type output struct {
	mu      sync.Mutex
	err     error // the first that a write gave
	streams sync.WaitGroup
}

// relay copies r to w by whole lines, each with prefix before it, until r ends. A last line without an end gets one.
// The last lines are kept in tail, if that is not nil.
func (o *output) relay(w io.Writer, r io.Reader, prefix string, keep *tail) {
	in := bufio.NewReaderSize(r, 64<<10)
	line := []byte(prefix)
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) && len(line) < maxLine {
			continue
		}
		if len(line) > len(prefix) {
			if line[len(line)-1] != '\n' {
				line = append(line, '\n')
			}
			o.write(w, line)
			keep.add(line, len(prefix))
			line = line[:len(prefix)]
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

func (o *output) write(w io.Writer, line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, err := w.Write(line); err != nil && o.err == nil {
		o.err = err
	}
}

// tail keeps the last lines of a stream, and the last one that says why a Go program crashed, which stacks follow.
type tail struct {
	lines   []string
	crash   string // "": none
	crashed int    // how many lines have come since
}

// add adds a line, whose text begins after a prefix of that many bytes.
func (t *tail) add(line []byte, prefix int) {
	if t == nil {
		return
	}
	text := line[prefix:]
	crash := bytes.HasPrefix(text, []byte("panic: ")) || bytes.HasPrefix(text, []byte("fatal error: "))
	if len(line) > tailBytes {
		line = append(line[:tailBytes:tailBytes], "…\n"...)
	}
	if len(t.lines) == tailLines {
		t.lines = t.lines[1:]
	}
	t.lines = append(t.lines, string(line))
	t.crashed++
	if crash {
		t.crash, t.crashed = string(line), 0
	}
}

// String returns the lines, after the one of the crash if that is not among them.
func (t *tail) String() string {
	all := strings.Join(t.lines, "")
	if t.crashed >= tailLines {
		all = t.crash + all
	}
	return all
}
