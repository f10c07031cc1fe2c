package store

import (
	"bufio"
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

const (
	writeTimeout   = time.Minute            // of one frame
	goodbyeTimeout = 100 * time.Millisecond // of the last frame
	maxPending     = 256                    // gets of one connection that wait at the same time
)

// session is a client's connection, on the process that keeps the Memory.
type session struct {
	m    *Memory
	conn net.Conn

	mu      sync.Mutex
	pending map[uint32]context.CancelFunc // the gets that wait
	gets    sync.WaitGroup
	writing sync.Mutex
}

// Serve answers the requests on conn, whose other end was authenticated, until conn breaks, ctx ends or an invalid
// request arrives. It closes conn. A client may be silent for any time, because an idle client costs only its
// connection.
func Serve(ctx context.Context, conn net.Conn, m *Memory) error {
	s := &session{m: m, conn: conn, pending: make(map[uint32]context.CancelFunc)}
	gets, cancel := context.WithCancel(ctx)
	gone := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		s.sayGoodbye()
		close(gone)
	})
	defer func() {
		cancel()
		_ = conn.Close()
		s.gets.Wait()
		if !stop() {
			<-gone
		}
	}()
	for in := bufio.NewReader(conn); ; {
		f, err := readFrame(in, maxFrame)
		if err == nil {
			err = s.handle(gets, f)
		}
		if err != nil {
			return err
		}
	}
}

// sayGoodbye tells the client that the store is closed, and closes the connection.
func (s *session) sayGoodbye() {
	late := time.AfterFunc(goodbyeTimeout, func() { _ = s.conn.Close() }) // many writers may be queued before this one
	defer late.Stop()
	_ = s.conn.SetWriteDeadline(time.Now().Add(goodbyeTimeout)) // of the write in progress
	_ = s.write(frame{kind: bye}, goodbyeTimeout)
	_ = s.conn.Close()
}

// handle carries out a request. A get does not delay the requests after it.
func (s *session) handle(ctx context.Context, f frame) error {
	switch f.kind {
	case set:
		return s.reply(f.id, nil, s.m.Set(ctx, f.key, f.value))
	case remove:
		return s.reply(f.id, nil, s.m.Delete(ctx, f.key))
	case get:
		return s.startGet(ctx, f)
	case cancelGet:
		s.endGet(f.id)
		return nil
	}
	return errFrame
}

func (s *session) startGet(ctx context.Context, f frame) error {
	ctx, ok := s.beginGet(ctx, f.id)
	if !ok {
		return s.reply(f.id, nil, errors.New("too many requests at once, or two with one id"))
	}
	s.gets.Go(func() {
		value, err := s.m.Get(ctx, f.key)
		cancelled := ctx.Err() != nil
		if s.endGet(f.id) && !cancelled { // else nobody waits for it
			_ = s.reply(f.id, value, err)
		}
	})
	return nil
}

// beginGet returns the context of a get, which endGet cancels. It fails if there are too many gets or two with one id.
func (s *session) beginGet(ctx context.Context, id uint32) (context.Context, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending[id] != nil || len(s.pending) >= maxPending {
		return nil, false
	}
	ctx, s.pending[id] = context.WithCancel(ctx)
	return ctx, true
}

// endGet ends the get with an id. It reports whether there was one.
func (s *session) endGet(id uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	cancel := s.pending[id]
	if cancel != nil {
		cancel()
		delete(s.pending, id)
	}
	return cancel != nil
}

func (s *session) reply(id uint32, value []byte, err error) error {
	if err != nil {
		return s.write(frame{id: id, kind: failed, value: []byte(err.Error())}, writeTimeout)
	}
	return s.write(frame{id: id, kind: done, value: value}, writeTimeout)
}

func (s *session) write(f frame, timeout time.Duration) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_ = s.conn.SetWriteDeadline(time.Now().Add(timeout))
	_, err := s.conn.Write(f.encode())
	return err
}
