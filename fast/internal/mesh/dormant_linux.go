package mesh

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// dormants waits for something to arrive at any of a mesh's dormant peers, with an epoll file that is itself in Go's
// network poller.
type dormants struct {
	stir  func(*peer)
	start func(func()) // calls a function in a goroutine
	mu    sync.Mutex
	file  *os.File // nil: not made yet, or closed
	fd    int
	peers map[int]*peer // by descriptor
}

// once has epoll report each event once.
const once = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLONESHOT

// open makes the epoll file, if there is none. Its caller holds d.mu.
func (d *dormants) open() bool {
	if d.file != nil {
		return true
	}
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return false
	}
	_ = unix.SetNonblock(fd, true)
	d.file, d.fd, d.peers = os.NewFile(uintptr(fd), "epoll"), fd, make(map[int]*peer)
	file := d.file
	d.start(func() { d.run(file) })
	return true
}

// add reports false if the system cannot wait for p.
func (d *dormants) add(p *peer) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	fd := p.files.fd
	if !d.open() || unix.EpollCtl(d.fd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: once, Fd: int32(fd)}) != nil {
		return false
	}
	d.peers[fd] = p
	return true
}

// rearm waits again for p, of which an event was reported.
func (d *dormants) rearm(p *peer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fd := p.files.fd
	if d.file != nil && d.peers[fd] == p {
		_ = unix.EpollCtl(d.fd, unix.EPOLL_CTL_MOD, fd, &unix.EpollEvent{Events: once, Fd: int32(fd)})
	}
}

// remove forgets p, before its descriptor is used otherwise or closed.
func (d *dormants) remove(p *peer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if fd := p.files.fd; d.file != nil && d.peers[fd] == p {
		delete(d.peers, fd)
		_ = unix.EpollCtl(d.fd, unix.EPOLL_CTL_DEL, fd, nil)
	}
}

// run calls stir with each peer for which something has arrived, until file is closed.
func (d *dormants) run(file *os.File) {
	raw, err := file.SyscallConn()
	var events [64]unix.EpollEvent
	for err == nil {
		n := 0
		err = raw.Read(func(fd uintptr) bool {
			n, _ = unix.EpollWait(int(fd), events[:], 0)
			return n > 0
		})
		for _, e := range events[:max(n, 0)] {
			d.mu.Lock()
			p := d.peers[int(e.Fd)]
			d.mu.Unlock()
			if p != nil {
				d.stir(p)
			}
		}
	}
}

// close closes the peers that are left, and ends run.
func (d *dormants) close() {
	d.mu.Lock()
	file, peers := d.file, d.peers
	d.file, d.peers = nil, nil
	d.mu.Unlock()
	for _, p := range peers {
		p.end(nil, true)
	}
	if file != nil {
		_ = file.Close()
	}
}
