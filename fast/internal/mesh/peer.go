package mesh

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
)

// peer is the control connection to another process.
type peer struct {
	process int
	conn    net.Conn
	files   *fdConn      // beneath conn, or nil
	bare    bool         // there is no TLS between the two
	pid     atomic.Int64 // of the process, if it is known; else 0
	tcp     *net.TCPConn // beneath conn, or nil
	since   func() int64 // the time in nanoseconds
	joined  func() bool  // whether all processes have said that they are connected to all
	pause   func()       // of tests: called before anything is read or written

	heard    atomic.Int64          // when anything was received last
	unmet    atomic.Bool           // another process has made the connection, and nothing was received yet
	handling atomic.Bool           // what was read is being handled
	broke    atomic.Bool           // reading has failed
	writing  atomic.Int64          // when the write in progress began, or 0
	late     atomic.Int64          // how late the process was with its heartbeats, as it says
	beats    atomic.Pointer[beats] // the process's count; nil: it sends heartbeats
	counted  atomic.Bool           // the process reads this one's count
	beaten   uint64                // the count in beats when the detector looked last
	taking   uint64                // bytes that another host had taken then, if any were being written
	watched                        // the detector's

	mu     sync.Mutex
	asleep bool      // it is dormant
	among  *dormants // those that it is one of, if it is dormant
	start  func()    // starts to read and write
	queue  []frame
	queued int  // bytes
	taken  bool // a frame is being written
	beat   bool
	delay  int64 // what the heartbeat says
	ended  bool
	cut    bool   // the connection is closed as soon as last is written
	last   *frame // to be written when the queue is empty
	failed error  // of writing
	wake   chan struct{}
}

const (
	maxQueued = 8 << 20 // bytes of messages that wait to be written
	lastWords = 200 * time.Millisecond
	goodbye   = 2 * time.Second // how long the other side may take to read the last frame and close
)

// Why a peer is not written to any more.
var errOverflow = errors.New("it takes messages too slowly")

var (
	// errGone: a process has published its card, and was not there any more.
	errGone = fmt.Errorf("%w: it does not listen any more", wire.ErrDied)
	// errUnmet: the other end of a connection that another process has made is closed. It may be that one which has
	// died.
	errUnmet = fmt.Errorf("%w: it was not heard of before the connection to it was closed", wire.ErrDied)
)

// send writes as much of a frame as the system takes at once, if nothing is before it and it needs no TLS, and queues
// the rest. It fails when too much is queued.
func (p *peer) send(f frame) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.queued+f.length() > maxQueued {
		closeFiles(f.files)
		if p.ended {
			return nil
		}
		return errOverflow
	}
	p.rouse()
	if p.writeNow(&f); f.length() > 0 {
		f.keep()
		p.queue = append(p.queue, f)
		p.queued += len(f.bytes)
		p.wakeWriter()
	}
	return nil
}

// writeNow writes as much of f as the system takes at once, if nothing is before it and it needs no TLS, and leaves the
// rest. Its caller holds p.mu.
func (p *peer) writeNow(f *frame) {
	if p.bare && !p.taken && len(p.queue) == 0 && len(f.files) == 0 {
		n := p.files.writeNow(f.bytes, f.body)
		f.written(n)
		f.begun = n > 0
	}
}

// sendHeartbeat sends a heartbeat with the delay of this process, unless another frame is queued.
func (p *peer) sendHeartbeat(late int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rouse()
	p.beat, p.delay = true, late
	p.wakeWriter()
}

func (p *peer) wakeWriter() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// end closes the connection after it has written last, if that is not nil. With now, queued messages are dropped and it
// closes at once; otherwise it waits until the other side has closed, at most for goodbye.
func (p *peer) end(last *frame, now bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut || (p.ended && !now) || p.asleep && p.endDormant(last) {
		return
	}
	p.rouse()
	p.ended, p.cut = true, now
	p.last = last
	limit := goodbye
	if now {
		limit = lastWords
		p.discard()
	} else if p.tcp != nil {
		_ = p.tcp.SetLinger(-1)
	}
	_ = p.conn.SetDeadline(time.Now().Add(limit))
	if last != nil {
		f := *last
		switch p.writeNow(&f); {
		case len(f.bytes) == 0:
			p.last = nil
		case f.begun:
			p.queue, p.queued, p.last = []frame{f}, len(f.bytes), nil
		}
	}
	p.wakeWriter()
}

// discard drops the frames of the queue of which nothing was written.
func (p *peer) discard() {
	first := 0
	if len(p.queue) > 0 && p.queue[0].begun {
		first = 1
	}
	for i := first; i < len(p.queue); i++ {
		f := &p.queue[i]
		closeFiles(f.files)
		p.queued -= len(f.bytes)
		f.free()
	}
	p.queue = p.queue[:first]
}

// flushed reports whether everything was written.
func (p *peer) flushed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed != nil || len(p.queue) == 0 && p.last == nil && !p.taken
}

// next waits for the next frame to write; ok is false after the last one.
func (p *peer) next() (f frame, ok bool) {
	for {
		p.mu.Lock()
		switch {
		case len(p.queue) > 0:
			f, ok = p.queue[0], true
			p.queue[0] = frame{}
			p.queue = p.queue[1:]
			p.queued -= len(f.bytes)
			p.beat = false
		case p.last != nil:
			f, ok, p.last = *p.last, true, nil
		case p.ended:
			p.taken = false
			p.mu.Unlock()
			return frame{}, false
		case p.beat:
			f, ok, p.beat = newFrame(frameBeat, wire.Topic{}, encodeLate(p.delay), nil), true, false
		}
		p.taken = ok
		p.mu.Unlock()
		if ok {
			return f, true
		}
		<-p.wake
	}
}

// write writes frames until the last one.
func (p *peer) write() {
	for f, ok := p.next(); ok; f, ok = p.next() {
		if len(f.files) > 0 {
			p.files.attach(f.files)
		}
		p.pause()
		p.writing.Store(p.since())
		_, err := p.conn.Write(f.bytes)
		p.writing.Store(0)
		f.free()
		if err != nil {
			p.giveUp(err)
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut {
		_ = p.conn.Close()
	}
}

// giveUp ends writing because of an error. Frames that the other side sent before are still read.
func (p *peer) giveUp(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed, p.ended = err, true
	p.last = nil
	p.discard()
	_ = p.conn.SetReadDeadline(time.Now().Add(lastWords))
}

// read calls take for every frame until take returns that it was the last, or something fails.
func (p *peer) read(take func(p *peer, h head, body []byte, files []int) (more bool, err error)) error {
	in := bufio.NewReaderSize(p, 512) // a larger body is read past it
	for {
		h, body, files, err := p.frame(in)
		if err != nil {
			return err
		}
		if more, err := take(p, h, body, files); !more {
			return err
		}
	}
}

// frame reads one frame.
func (p *peer) frame(in io.Reader) (h head, body []byte, files []int, err error) {
	var b [headBytes]byte
	if _, err := io.ReadFull(in, b[:]); err != nil {
		return h, nil, nil, err
	}
	if h, err = decodeHead(&b); err != nil {
		return h, nil, nil, err
	}
	body = wire.NewBody(int(h.length))
	if _, err := io.ReadFull(in, body); err != nil {
		return h, nil, nil, err
	}
	switch {
	case h.files == 0:
	case p.files == nil:
		err = errors.New("a message with files on a connection that passes none")
	default:
		files, err = p.files.take(int(h.files))
		if err == errLost { // the message is delivered, marked as without its files
			err = nil
		}
	}
	return h, body, files, err
}

// Read reads from the connection and notes that the other side is alive.
func (p *peer) Read(b []byte) (int, error) {
	p.handling.Store(false)
	n, err := p.conn.Read(b)
	p.pause()
	p.handling.Store(n > 0)
	if p.files != nil {
		p.files.taking.Store(false)
	}
	if n > 0 {
		p.heard.Store(p.since())
		if p.unmet.Load() {
			p.pid.Store(int64(p.files.process()))
			p.unmet.Store(false)
		}
		p.extendRead()
	}
	return n, err
}

// extendRead extends the read deadline of a connection whose writes fail, as long as data arrive. This process may be
// slow, and the last frame may say that it was given up.
func (p *peer) extendRead() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed != nil {
		_ = p.conn.SetReadDeadline(time.Now().Add(lastWords))
	}
}

// ready reports whether something has arrived that was not read yet, and whether the system takes more to send. Both
// are false where it does not tell.
func (p *peer) ready() (readable, writable bool) {
	poll := func(fd uintptr) {
		polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN | unix.POLLOUT}}
		if _, err := unix.Poll(polled, 0); err == nil {
			readable, writable = polled[0].Revents&unix.POLLIN != 0, polled[0].Revents&unix.POLLOUT != 0
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var c syscall.Conn
	switch {
	case p.asleep:
		poll(uintptr(p.files.fd))
		return readable, writable
	case p.files != nil && p.files.socket != nil:
		c = p.files
	case p.tcp != nil:
		c = p.tcp
	default:
		return false, false
	}
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(poll)
	}
	return readable, writable
}

// cause returns why a process is down whose connection failed with err, and a detail for the log.
func (p *peer) cause(err error) (detail string, down error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if errors.Is(err, os.ErrDeadlineExceeded) && p.failed != nil {
		err = p.failed
	}
	for _, lost := range []error{syscall.ETIMEDOUT, syscall.EHOSTUNREACH, syscall.ENETUNREACH} {
		if errors.Is(err, lost) {
			return err.Error(), fmt.Errorf("%w: %w", wire.ErrFrozen, lost)
		}
	}
	switch short := wire.Exhausted(err); {
	case errors.Is(short, wire.ErrExhausted):
		return err.Error(), short
	case p.unmet.Load() && !p.joined():
		return err.Error(), errUnmet
	case isConnEnd(err):
		return err.Error(), wire.ErrDied
	}
	return err.Error(), fmt.Errorf("%w: %w", wire.ErrDied, err)
}

// isConnEnd reports whether err is what reading from a process that has ended returns.
func isConnEnd(err error) bool {
	var number syscall.Errno
	return errors.As(err, &number) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
