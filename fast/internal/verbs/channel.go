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

import "time"

// Channel tells when an armed completion queue has something, to a goroutine that sleeps.
type Channel struct {
	context *Context
	handle  *C.struct_vb_comp_channel
	events  *eventFile
	take    func(uintptr) bool // made once, so that waiting allocates nothing
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

// Wait sleeps until a queue of the channel that was armed has something, and drains the channel. A deadline ends it
// with os.ErrDeadlineExceeded, Close with os.ErrClosed.
func (ch *Channel) Wait() error { return ch.events.wait(ch.take) }

// Drain takes the events that there are, acknowledges them, and answers how many there were. It does not wait.
func (ch *Channel) Drain() int { return int(C.vb_drain(ch.handle)) }

// SetDeadline has Wait end at a time; with the zero time, never.
func (ch *Channel) SetDeadline(t time.Time) error { return ch.events.SetDeadline(t) }
