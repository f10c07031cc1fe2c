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

// Client is a store that another process keeps. Many goroutines may use it at once.
type Client struct {
	conn      net.Conn
	connError func(error) error // returns the error of requests after the connection has failed
	slots     chan struct{}     // taken by the requests in flight, so that the server refuses none
	ended     chan struct{}     // closed when nothing more can arrive

	writing sync.Mutex

	mu      sync.Mutex
	last    uint32
	waiting map[uint32]chan frame
	err     error // why nothing more can arrive
}

// NewClient returns a client that uses conn, which Close closes. After conn has failed, requests fail with the error
// that connError makes of the failure.
func NewClient(conn net.Conn, connError func(error) error) *Client {
	c := &Client{conn: conn, connError: connError, slots: make(chan struct{}, maxPending/2), ended: make(chan struct{}),
		waiting: make(map[uint32]chan frame)}
	go c.readReplies()
	return c
}

// Set sets or replaces a value.
func (c *Client) Set(ctx context.Context, key string, value []byte) error {
	if err := Check(key, value); err != nil {
		return err
	}
	_, err := c.request(ctx, frame{kind: set, key: key, value: value})
	return err
}

// Get waits for a value.
func (c *Client) Get(ctx context.Context, key string) ([]byte, error) {
	if err := Check(key, nil); err != nil {
		return nil, err
	}
	return c.request(ctx, frame{kind: get, key: key})
}

// Delete removes a value, if there is one.
func (c *Client) Delete(ctx context.Context, key string) error {
	if err := Check(key, nil); err != nil {
		return err
	}
	_, err := c.request(ctx, frame{kind: remove, key: key})
	return err
}

// Close ends all requests with ErrClosed.
func (c *Client) Close() error {
	c.fail(ErrClosed)
	err := c.conn.Close()
	<-c.ended
	return err
}

// readReplies delivers replies to the requests that wait for them, until the connection ends.
func (c *Client) readReplies() {
	defer close(c.ended)
	for in := bufio.NewReader(c.conn); ; {
		f, err := readFrame(in, maxFrame)
		switch {
		case err != nil:
			c.fail(c.connError(err))
			return
		case f.kind == bye:
			c.fail(c.connError(ErrClosed))
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

// fail records why nothing more can arrive, if it is the first reason.
func (c *Client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
}

// request sends a request and waits for the reply, or until ctx ends. A goroutine writes the request, so that a server
// that reads nothing does not block the caller. The connection survives when ctx ends in the middle of a write.
func (c *Client) request(ctx context.Context, f frame) ([]byte, error) {
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, waitError(ctx, f.key)
	}
	reply, written := c.send(&f)
	select {
	case r := <-reply:
		<-c.slots
		return result(r)
	case <-c.ended:
		<-c.slots
		select {
		case r := <-reply: // it came just before the end
			return result(r)
		default:
			return nil, c.endError()
		}
	case <-ctx.Done():
		go func() {
			<-written
			c.cancel(f.id)
			<-c.slots
		}()
		return nil, waitError(ctx, f.key)
	}
}

// send numbers a request and starts to write it. The connection is closed if the write fails.
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
			c.awaitGoodbye()
			c.fail(c.connError(err))
			_ = c.conn.Close()
		}
	}()
	return reply, written
}

// awaitGoodbye waits a moment for what the server sent before it left: that explains more than a failed write.
func (c *Client) awaitGoodbye() {
	select {
	case <-c.ended:
	case <-time.After(goodbyeTimeout):
	}
}

// endError returns why nothing more can arrive.
func (c *Client) endError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// cancel tells the server that nobody waits for a reply any more.
func (c *Client) cancel(id uint32) {
	c.mu.Lock()
	delete(c.waiting, id)
	c.mu.Unlock()
	_ = c.write(frame{id: id, kind: cancelGet})
}

func (c *Client) write(f frame) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_ = c.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err := c.conn.Write(f.encode())
	return err
}

// result returns the value or error of a reply.
func result(r frame) ([]byte, error) {
	switch r.kind {
	case done:
		return r.value, nil
	case failed:
		return nil, errors.New("the store answers: " + printable(r.value))
	}
	return nil, fmt.Errorf("the store answers: %w", errFrame)
}

// printable returns text with a question mark for each character that might control a terminal.
func printable(text []byte) string {
	b := []rune(string(text[:min(len(text), 500)]))
	for i, r := range b {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			b[i] = '?'
		}
	}
	return string(b)
}
