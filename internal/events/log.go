package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Log is the file of one process. Its methods may be called from any goroutine; those of a nil Log do nothing.
type Log struct {
	mu    sync.Mutex
	file  *os.File
	lines *json.Encoder
	n     uint64
	err   error // the first error of a write, after which nothing is written
}

// errOff is returned in a program that cannot write events.
var errOff = errors.New("this program was built without -tags collgen_events")

// Check returns an error if this program cannot write events.
func Check() error {
	if !On {
		return errOff
	}
	return nil
}

// Create creates the file of h's process in dir, and dir itself if necessary. It returns an error if the file exists.
func Create(dir string, h Header) (*Log, error) {
	if err := Check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, FileName(h.Process)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	h.Format = Format
	l := &Log{file: f, lines: json.NewEncoder(f)}
	if err := l.lines.Encode(h); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

// FileName returns the name of a process's file.
func FileName(process int) string { return fmt.Sprintf("rank-%d.events", process) }

// write writes e as the next event. Each line is one write to the file, so that none is lost if the process is killed.
func (l *Log) write(e *Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil || l.err != nil {
		return
	}
	e.N = l.n + 1
	if l.err = l.lines.Encode(e); l.err == nil {
		l.n = e.N
	}
}

// Close closes the file. It returns the first error of all writes. Later events are not written.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return l.err
	}
	err := errors.Join(l.err, l.file.Close())
	l.file = nil
	return err
}
