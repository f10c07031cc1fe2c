//go:build linux && cgo && !netgo

package verbs

// #include "library.h"
//
// #cgo noescape vb_drain
// #cgo nocallback vb_drain
//
// static struct vb_comp_channel *create_channel(struct vb_context *c) { return vb.create_comp_channel(c); }
// static int destroy_channel(struct vb_comp_channel *c) { return vb.destroy_comp_channel(c); }
import "C"

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Channel wakes a sleeping goroutine when an armed completion queue has a completion.
type Channel struct {
	context *Context
	handle  *C.struct_vb_comp_channel
	events  *eventFile
	take    func(uintptr) bool // made once, so that Wait allocates nothing
	lifetime
}

// CreateChannel makes a channel for completion queues.
func (c *Context) CreateChannel() (*Channel, error) {
	ch := &Channel{context: c}
	ch.take = func(uintptr) bool { return ch.Drain() > 0 }
	return ch, ch.begin(ch.create, ch.close, &c.lifetime)
}

func (ch *Channel) create() (err error) {
	c := ch.context
	if ch.handle, err = C.create_channel(c.handle); ch.handle == nil {
		return c.failed("create a completion channel", err)
	}
	if ch.events, err = newEventFile(int(ch.handle.fd), c.Device); err != nil {
		C.destroy_channel(ch.handle)
		return c.failed("watch a completion channel", err)
	}
	return nil
}

func (ch *Channel) close() error {
	ch.events.Close()
	return ch.context.result("destroy a completion channel", C.destroy_channel(ch.handle))
}

// Wait sleeps until an armed queue of the channel has a completion, and drains the channel. It returns
// os.ErrDeadlineExceeded at the deadline, and os.ErrClosed after Close.
func (ch *Channel) Wait() error { return ch.events.wait(ch.take) }

// Drain takes and acknowledges the events that there are, and returns their number. It does not wait.
func (ch *Channel) Drain() int { return int(C.vb_drain(ch.handle)) }

// SetDeadline sets the time at which Wait ends; the zero time means never.
func (ch *Channel) SetDeadline(t time.Time) error { return ch.events.SetDeadline(t) }

// eventFile is a descriptor of the library that a goroutine can wait for without holding a thread. It is a duplicate:
// the library closes its own.
type eventFile struct {
	file *os.File
	raw  syscall.RawConn
}

func newEventFile(fd int, name string) (*eventFile, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(dup), name)
	raw, err := file.SyscallConn()
	return &eventFile{file, raw}, err
}

// wait calls take whenever the file may have become readable, until it returns true.
func (f *eventFile) wait(take func(uintptr) bool) error {
	err := f.raw.Read(take)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return os.ErrClosed // by another name
	}
	return err
}

// SetDeadline sets the time at which wait ends with os.ErrDeadlineExceeded; the zero time means never.
func (f *eventFile) SetDeadline(t time.Time) error { return f.file.SetReadDeadline(t) }

// Close makes wait end with os.ErrClosed.
func (f *eventFile) Close() { _ = f.file.Close() }
