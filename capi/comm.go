package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"github.com/collgen/collgen/fast"
)

// comm is a communicator of a C program.
type comm struct {
	*fast.Comm
	starts sync.Mutex // calls are started one at a time

	inviting sync.Mutex
	ticket   string // that was made and its caller had no room for; "": none

	mu      sync.Mutex
	closing bool
	batches []*batch
	memory  map[uintptr]*allocation // by address; nil: it is closed
}

// started is a call that goes on by itself.
type started interface {
	Wait(ctx context.Context) error
	Test() (over bool, err error)
	Over() bool
	OnOver(f func(err error))
	Err() error
}

// work is a started call.
type work struct {
	started
	of    *comm
	stop  func()    // of its context
	tell  func()    // writes what a receive has got; nil: nothing is to be written
	heeds sync.Once // its end is made known
}

// ends is told that a call is over, for those that wait for any of several.
var ends struct {
	mu   sync.Mutex
	next chan struct{} // closed at the next end; nil: nobody waits
}

// nextEnd returns a channel that is closed when one of the calls is over which heed their end.
func nextEnd() <-chan struct{} {
	ends.mu.Lock()
	defer ends.mu.Unlock()
	if ends.next == nil {
		ends.next = make(chan struct{})
	}
	return ends.next
}

// heed has the end of w made known.
func (w *work) heed() {
	w.OnOver(func(error) {
		ends.mu.Lock()
		defer ends.mu.Unlock()
		if ends.next != nil {
			close(ends.next)
			ends.next = nil
		}
	})
}

var (
	comms = table[comm]{}
	works = table[work]{kind: 1 << 62}
)

// commOf returns the communicator of that number.
func commOf(number int64) (*comm, error) {
	if c := comms.get(number); c != nil {
		return c, nil
	}
	return nil, refuse("no communicator has the number %d", number)
}

// workOf returns the started call of that number.
func workOf(number int64) (*work, error) {
	if w := works.get(number); w != nil {
		return w, nil
	}
	return nil, refuse("no started call has the number %d", number)
}

// add returns the number of a communicator.
func add(c *fast.Comm) int64 { return comms.add(&comm{Comm: c, memory: map[uintptr]*allocation{}}) }

// closeComm leaves a communicator. Nothing knows it or its started calls any more then. It can be given up meanwhile.
func closeComm(number int64) error {
	c, err := commOf(number)
	if err != nil {
		return err
	}
	c.mu.Lock()
	second := c.closing
	c.closing = true
	c.mu.Unlock()
	if second {
		return refuse("communicator %d is being closed", number)
	}
	for c.endBatch() == nil {
	}
	err = c.Close()
	comms.remove(number)
	c.forgetMemory()
	works.removeAll(func(w *work) bool {
		if w.of == c {
			_ = w.Wait(noLimit) // messages may still be copied
			w.stop()
		}
		return w.of == c
	})
	return err
}

// start starts a call.
func (c *comm) start(timeout int64, call fast.Call, opts []fast.Option) (int64, error) {
	ctx, stop := within(timeout)
	c.starts.Lock()
	h := fast.Start(ctx, c.Comm, call, opts...)
	c.starts.Unlock()
	if h.Over() { // perhaps refused
		if err := h.Err(); err != nil {
			stop()
			return 0, err
		}
	}
	return works.add(&work{started: h, of: c, stop: stop}), nil
}

// result returns how a call went, which is over, and forgets it.
func (w *work) result(number int64) error {
	if works.remove(number) != nil && w.tell != nil {
		w.tell()
	}
	w.stop()
	return w.Err()
}

// wait waits for a started call, and reports whether it is over. It waits for ever if timeout is less than 0.
func wait(number, timeout int64) (over bool, err error) {
	w, err := workOf(number)
	if err != nil {
		return true, err
	}
	if timeout == 0 {
		over, _ = w.Test()
	} else {
		ctx, stop := within(timeout)
		_ = w.Wait(ctx) // the error of the call comes below
		stop()
		over = w.Over()
	}
	if !over {
		return false, nil
	}
	return true, w.result(number)
}

// maxWorks is how many calls can be waited for at once.
const maxWorks = 1 << 20

// waitAny waits until one of some calls is over. Those that are 0 are passed over; at is their number if all are.
func waitAny(numbers []int64, timeout int64) (at int, over bool, err error) {
	some := make([]*work, len(numbers))
	for i, number := range numbers {
		if number == 0 {
			continue
		}
		if some[i], err = workOf(number); err != nil {
			return i, true, err
		}
		if timeout != 0 {
			some[i].heeds.Do(some[i].heed)
		}
	}
	ctx, stop := within(timeout)
	defer stop()
	for {
		next, none := nextEnd(), true
		for i, w := range some {
			if w == nil {
				continue
			}
			none = false
			if over, _ := w.Test(); over {
				return i, true, w.result(numbers[i])
			}
		}
		switch {
		case none:
			return len(numbers), true, nil
		case timeout == 0 || ctx.Err() != nil:
			return len(numbers), false, nil
		}
		select {
		case <-next:
		case <-ctx.Done():
		}
	}
}

// batch is a Batch whose end is another call.
type batch struct {
	end  chan struct{}
	over chan error
}

// beginBatch has what is started begin at endBatch.
func (c *comm) beginBatch() error {
	b, begun := &batch{make(chan struct{}), make(chan error, 1)}, make(chan struct{})
	go func() {
		b.over <- c.Batch(func() error {
			close(begun)
			<-b.end
			return nil
		})
	}()
	select {
	case <-begun:
	case err := <-b.over: // it was refused
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batches = append(c.batches, b)
	return nil
}

// endBatch ends the batch that was begun last.
func (c *comm) endBatch() error {
	c.mu.Lock()
	n := len(c.batches)
	if n == 0 {
		c.mu.Unlock()
		return refuse("no batch was begun on it")
	}
	b := c.batches[n-1]
	c.batches = c.batches[:n-1]
	c.mu.Unlock()
	close(b.end)
	return <-b.over
}

// limited returns the context of an operation that ends by itself after a while if it has no deadline: timeout 0 has
// none, and a negative one means for ever.
func limited(timeout int64) (ctx context.Context, stop func()) {
	if timeout < 0 {
		timeout = int64(100 * 365 * 24 * time.Hour)
	}
	return within(timeout)
}

// allocation is memory of Alloc. It may be Go's own.
type allocation struct {
	buf []byte
	pin runtime.Pinner
}

// keep returns the address of what was allocated, by which it will be freed. It is not NULL for no bytes either.
func (c *comm) keep(b []byte) (*byte, error) {
	a, at := &allocation{buf: b}, unsafe.SliceData(b)
	if len(b) == 0 {
		at = new(byte) // of no bytes, several may have one address
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.memory == nil { // Close has freed b
		return nil, fmt.Errorf("collgen_alloc: %w", fast.ErrClosed)
	}
	a.pin.Pin(at)
	c.memory[uintptr(unsafe.Pointer(at))] = a
	return at, nil
}

// release frees what was allocated at an address.
func (c *comm) release(at uintptr) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.memory[at]
	if a == nil {
		return refuse("nothing was allocated at %#x", at)
	}
	if err := fast.Free(c.Comm, a.buf); err != nil {
		return err
	}
	a.pin.Unpin()
	delete(c.memory, at)
	return nil
}

// forgetMemory forgets what was allocated, which Close has freed.
func (c *comm) forgetMemory() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.memory {
		a.pin.Unpin()
	}
	c.memory = nil
}

// invite returns a ticket: a new one, or the one that the caller before had no room for. That is the result of fits.
func (c *comm) invite(ctx context.Context, fits func(ticket string) error) error {
	c.inviting.Lock()
	defer c.inviting.Unlock()
	if c.ticket == "" {
		ticket, err := c.Invite(ctx)
		if err != nil {
			return err
		}
		c.ticket = ticket
	}
	err := fits(c.ticket)
	if err == nil {
		c.ticket = ""
	}
	return err
}
