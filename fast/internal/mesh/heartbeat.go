package mesh

import (
	"errors"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// watchOver looks after all peers, 16 times in the time after which a process is given up, until the mesh is closed.
// Each time it counts a heartbeat, for the processes of this host that read the count. To the others of this host it
// sends one every fourth time, and over TCP every second time.
//
// So who is cut off in one direction is heard of in time. When what it sends is not acknowledged any more, TCP goes on
// to send the first of it alone; a heartbeat or two later the other side hears nothing either, and knows it that much
// later. On one host nothing is lost.
func (m *Mesh) watchOver() {
	v := &m.detector
	v.last.Store(m.now())
	for turn, last := int64(0), never; ; {
		m.mu.Lock()
		peers := m.peers()
		m.mu.Unlock()
		for c, processes := range v.look(m.now(), peers) {
			m.giveUp(processes, v.cause(c), c.because())
		}
		if m.beats != nil {
			m.beats.beat(v.late.Load())
		}
		for _, p := range peers {
			if !p.counted.Load() && due(last, turn, p.tcp != nil) {
				p.pulse(v.late.Load())
			}
		}
		m.pending.expire(time.Now())
		next, left := nextTurn(time.Now(), m.cfg.HeartbeatTimeout/turns)
		select {
		case <-m.leaving.Done():
			return
		case <-time.After(left):
			last, turn = turn, next
		}
		m.cfg.pause()
	}
}

// never stands for the turn before the first one, and is before all others.
const never = int64(-4)

// due reports whether it is time for a heartbeat at a turn, the one before being last: every fourth time, and over TCP
// every second time. A process that wakes up late leaves out turns, always the same ones if it is always late; so what
// counts is not whether this turn is the fourth, but whether there has been one since the last.
func due(last, turn int64, tcp bool) bool {
	every := int64(4)
	if tcp {
		every = 2
	}
	return last/every != turn/every
}

// nextTurn returns which multiple of wait the clock shows next, and when. As all processes of a host turn to their
// peers at the same moments, each is woken up once for the heartbeats of all others, which would otherwise take a good
// part of the processors where there are many processes; and all collectives are disturbed at once, instead of one rank
// after the other.
func nextTurn(now time.Time, wait time.Duration) (turn int64, left time.Duration) {
	since := now.UnixNano() % int64(wait)
	return now.UnixNano()/int64(wait) + 1, wait - time.Duration(since)
}

// greet lets a process know that this one lives.
func (m *Mesh) greet(p *peer) {
	if !m.showBeats(p) {
		p.pulse(0)
	}
}

// showBeats has p read this process's count of heartbeats. It is false if it is to get heartbeats instead.
func (m *Mesh) showBeats(p *peer) bool {
	if m.beats == nil || p.files == nil {
		return false
	}
	copies, err := copyFiles([]int{m.beats.file})
	if err != nil {
		m.cfg.Log.Debug("heartbeats are not counted in shared memory", "for", p.process, "error", err)
		return false
	}
	p.counted.Store(true)
	return p.send(newFrame(frameCount, wire.Topic{}, nil, copies)) == nil
}

// follow reads the count of p's heartbeats, in a file, if it came and this process has room for it.
func (m *Mesh) follow(p *peer, files []int) error {
	var kept []int
	err := errLost
	if len(files) > 0 {
		if m.introducing.Load() && pairRoom() >= 2*m.me.Size { // there is room to keep one for each process
			kept, _ = copyFiles(files)
		}
		err = m.takeCount(p, files[0])
	}
	if err != nil {
		closeFiles(kept)
		kept = nil
	}
	m.greeted(p, kept)
	if err == nil || errors.Is(err, errBeats) {
		return err
	}
	m.cfg.Log.Debug("heartbeats cannot be read from shared memory", "of", p.process, "error", err)
	return p.send(newFrame(frameBlind, wire.Topic{}, nil, nil))
}

// takeCount reads the count of p's heartbeats from now on, in a file, which it closes.
func (m *Mesh) takeCount(p *peer, file int) error {
	b, err := openBeats(file)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.counts = append(m.counts, b)
	m.mu.Unlock()
	if !p.beats.CompareAndSwap(nil, b) {
		return errBeats
	}
	return nil
}

// greeted takes the first word of a process, and the file in which it counts its heartbeats, if it has sent one and
// this process may have to pass it on.
func (m *Mesh) greeted(p *peer, count []int) {
	if !m.introducing.Load() {
		closeFiles(count)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.count != nil {
		closeFiles(count)
		return
	}
	p.count = append([]int{}, count...)
	m.broadcast()
}

// keepNoCounts closes the files in which others count their heartbeats.
func (m *Mesh) keepNoCounts() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.introducing.Store(false)
	for _, x := range m.members {
		if x.peer != nil {
			closeFiles(x.peer.count)
			x.peer.count = nil
		}
	}
}
