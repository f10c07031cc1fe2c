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
	writeTime  = time.Minute // for one frame
	leaveTime  = 100 * time.Millisecond
	maxPending = 256 // gets of one connection that wait at the same time
)

// session is one client's connection to the process that has the Memory.
type session struct {
	m    *Memory
	conn net.Conn

	mu      sync.Mutex
	pending map[uint32]context.CancelFunc // the gets that wait
	gets    sync.WaitGroup
	writing sync.Mutex
}

// Serve answers the requests that come over conn, whose other end was authenticated, until it breaks, ctx ends or
// nonsense comes. It closes conn. A client that says nothing costs nothing but its connection, so there is no limit to
// how long it may be silent.
func Serve(ctx context.Context, conn net.Conn, m *Memory) error {
	s := &session{m: m, conn: conn, pending: make(map[uint32]context.CancelFunc)}
	gets, cancel := context.WithCancel(ctx)
	left := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		s.leave()
		close(left)
	})
	defer func() {
		cancel()
		_ = conn.Close()
		s.gets.Wait()
		if !stop() {
			<-left
		}
	}()
	for in := bufio.NewReader(conn); ; {
		f, err := readFrame(in, maxFrame)
		if err == nil {
			err = s.take(gets, f)
		}
		if err != nil {
			return err
		}
	}
}

// leave tells the client that nothing more comes.
func (s *session) leave() {
	late := time.AfterFunc(leaveTime, func() { _ = s.conn.Close() }) // there may be many who wait to write
	defer late.Stop()
	_ = s.conn.SetWriteDeadline(time.Now().Add(leaveTime)) // for who is writing now
	_ = s.write(frame{kind: bye}, leaveTime)
	_ = s.conn.Close()
}

// take carries out one request. A get does not hold up what comes after it.
func (s *session) take(ctx context.Context, f frame) error {
	switch f.kind {
	case set:
		return s.answer(f.id, nil, s.m.Set(ctx, f.key, f.value))
	case remove:
		return s.answer(f.id, nil, s.m.Delete(ctx, f.key))
	case get:
		return s.startGet(ctx, f)
	case forget:
		s.end(f.id)
		return nil
	}
	return errFrame
}

func (s *session) startGet(ctx context.Context, f frame) error {
	ctx, ok := s.begin(ctx, f.id)
	if !ok {
		return s.answer(f.id, nil, errors.New("too many requests at once, or two of one number"))
	}
	s.gets.Go(func() {
		value, err := s.m.Get(ctx, f.key)
		leaving := ctx.Err() != nil
		if s.end(f.id) && !leaving { // else nobody waits for it
			_ = s.answer(f.id, value, err)
		}
	})
	return nil
}

// begin makes the context of a get, which its end cancels.
func (s *session) begin(ctx context.Context, id uint32) (context.Context, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending[id] != nil || len(s.pending) >= maxPending {
		return nil, false
	}
	ctx, s.pending[id] = context.WithCancel(ctx)
	return ctx, true
}

// end ends the get of that number, and tells whether there was one.
func (s *session) end(id uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	cancel := s.pending[id]
	if cancel != nil {
		cancel()
		delete(s.pending, id)
	}
	return cancel != nil
}

func (s *session) answer(id uint32, value []byte, err error) error {
	if err != nil {
		return s.write(frame{id: id, kind: failed, value: []byte(err.Error())}, writeTime)
	}
	return s.write(frame{id: id, kind: done, value: value}, writeTime)
}

func (s *session) write(f frame, within time.Duration) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_ = s.conn.SetWriteDeadline(time.Now().Add(within))
	_, err := s.conn.Write(f.encode())
	return err
}
