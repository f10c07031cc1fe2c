package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
	"unicode"
)

// Client is a store that another process keeps. It may be used by many goroutines at once.
type Client struct {
	conn  net.Conn
	lost  func(error) error // the error of requests when the connection has failed
	slots chan struct{}     // taken by the requests in flight, so that the server refuses none
	ended chan struct{}     // closed when nothing more comes

	writing sync.Mutex

	mu      sync.Mutex
	last    uint32
	waiting map[uint32]chan frame
	err     error // why nothing more comes
}

// NewClient returns the client's end of conn, which Close closes. What conn's failure means for those who wait, lost
// says.
func NewClient(conn net.Conn, lost func(error) error) *Client {
	c := &Client{conn: conn, lost: lost, slots: make(chan struct{}, maxPending/2), ended: make(chan struct{}),
		waiting: make(map[uint32]chan frame)}
	go c.listen()
	return c
}

// Set sets or replaces a value.
func (c *Client) Set(ctx context.Context, key string, value []byte) error {
	if err := Check(key, value); err != nil {
		return err
	}
	_, err := c.ask(ctx, frame{kind: set, key: key, value: value})
	return err
}

// Get waits for a value.
func (c *Client) Get(ctx context.Context, key string) ([]byte, error) {
	if err := Check(key, nil); err != nil {
		return nil, err
	}
	return c.ask(ctx, frame{kind: get, key: key})
}

// Delete removes a value, if there is one.
func (c *Client) Delete(ctx context.Context, key string) error {
	if err := Check(key, nil); err != nil {
		return err
	}
	_, err := c.ask(ctx, frame{kind: remove, key: key})
	return err
}

// Close gives up all requests, with ErrClosed.
func (c *Client) Close() error {
	c.fail(ErrClosed)
	err := c.conn.Close()
	<-c.ended
	return err
}

// listen hands replies to those who wait for them, until the connection ends.
func (c *Client) listen() {
	defer close(c.ended)
	for in := bufio.NewReader(c.conn); ; {
		f, err := readFrame(in, maxFrame)
		switch {
		case err != nil:
			c.fail(c.lost(err))
			return
		case f.kind == bye:
			c.fail(c.lost(ErrClosed))
			return
		}
		c.mu.Lock()
		reply := c.waiting[f.id]
		delete(c.waiting, f.id)
		c.mu.Unlock()
		if reply != nil {
			reply <- f
		}
	}
}

// fail keeps the first reason why nothing more comes.
func (c *Client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
}

// ask sends a request and waits for the reply, or until ctx ends. What has to be written then is written behind its
// back, so that a server which reads nothing holds nobody, and a context that ends in the middle of a request costs no
// connection.
func (c *Client) ask(ctx context.Context, f frame) ([]byte, error) {
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ended(ctx, f.key)
	}
	reply, written := c.send(&f)
	select {
	case r := <-reply:
		<-c.slots
		return result(r)
	case <-c.ended:
		<-c.slots
		select {
		case r := <-reply: // came just before
			return result(r)
		default:
			return nil, c.failure()
		}
	case <-ctx.Done():
		go func() {
			<-written
			c.abandon(f.id)
			<-c.slots
		}()
		return nil, ended(ctx, f.key)
	}
}

// send numbers a request and has it written. A connection to which nothing can be written is given up.
func (c *Client) send(f *frame) (reply chan frame, written chan struct{}) {
	reply, written = make(chan frame, 1), make(chan struct{})
	c.mu.Lock()
	c.last++
	f.id = c.last
	c.waiting[f.id] = reply
	c.mu.Unlock()
	request := *f
	go func() {
		defer close(written)
		if err := c.write(request); err != nil {
			c.hear()
			c.fail(c.lost(err))
			_ = c.conn.Close()
		}
	}()
	return reply, written
}

// hear waits a moment for what the server has said before it went: it tells more than that nothing can be written.
func (c *Client) hear() {
	select {
	case <-c.ended:
	case <-time.After(leaveTime):
	}
}

// failure returns why nothing more comes.
func (c *Client) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// abandon tells the server that nobody waits any more.
func (c *Client) abandon(id uint32) {
	c.mu.Lock()
	delete(c.waiting, id)
	c.mu.Unlock()
	_ = c.write(frame{id: id, kind: forget})
}

func (c *Client) write(f frame) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_ = c.conn.SetWriteDeadline(time.Now().Add(writeTime))
	_, err := c.conn.Write(f.encode())
	return err
}

// result returns what a reply says.
func result(r frame) ([]byte, error) {
	switch r.kind {
	case done:
		return r.value, nil
	case failed:
		return nil, errors.New("the store answers: " + printable(r.value))
	}
	return nil, fmt.Errorf("the store answers: %w", errFrame)
}

// printable returns text with a question mark for all that a terminal might take for a command.
func printable(text []byte) string {
	b := []rune(string(text[:min(len(text), 500)]))
	for i, r := range b {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			b[i] = '?'
		}
	}
	return string(b)
}
