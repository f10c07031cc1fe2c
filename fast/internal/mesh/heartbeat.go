package mesh

import (
	"errors"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// runDetector runs the detector 16 times per heartbeat timeout until the mesh is closed. Each turn, it counts a
// heartbeat for the processes of this host that read the count. It sends one to the others of this host every fourth
// turn, and over TCP every second turn.
//
// This detects a process that is cut off in one direction in time. When what it sends is not acknowledged any more, TCP
// repeats only the first segment. A heartbeat or two later the other side hears nothing either, and notices that much
// later. On one host nothing is lost.
func (m *Mesh) runDetector() {
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
		if t := m.tally.Load(); t != nil {
			t.slot(m.me.Process).beat(v.late.Load())
		}
		for _, p := range peers {
			if !p.counted.Load() && due(last, turn, p.tcp != nil) {
				p.sendHeartbeat(v.late.Load())
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

// never is the turn before the first one.
const never = int64(-4)

// due reports whether a heartbeat has to be sent in a turn, given the previous one: every fourth turn, and over TCP
// every second. A process that wakes up late skips turns, possibly always the same ones. So due reports whether a
// fourth turn has passed since the last one, not whether this turn is a fourth one.
func due(last, turn int64, tcp bool) bool {
	every := int64(4)
	if tcp {
		every = 2
	}
	return last/every != turn/every
}

// nextTurn returns the number of the next turn, which is the next multiple of wait on the clock, and the time left to
// it. All processes of a host send heartbeats at the same moments, so that each is woken up once for those of all
// others: with many processes, waking up would otherwise take a good part of the processors. It also disturbs all ranks
// of a collective at once, instead of one after the other.
func nextTurn(now time.Time, wait time.Duration) (turn int64, left time.Duration) {
	since := now.UnixNano() % int64(wait)
	return now.UnixNano()/int64(wait) + 1, wait - time.Duration(since)
}

// announce tells a process that this one is alive.
func (m *Mesh) announce(p *peer) {
	if !m.sendCount(p) {
		p.sendHeartbeat(0)
	}
}

// sendCount sends p this process's count of heartbeats. It reports false if p has to get heartbeats instead.
func (m *Mesh) sendCount(p *peer) bool {
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

// onCount handles the file with p's count of heartbeats, which is missing if this process had no room for it.
func (m *Mesh) onCount(p *peer, files []int) error {
	err := errLost
	if len(files) > 0 {
		err = m.takeCount(p, files[0])
	}
	if err == nil || errors.Is(err, errBeats) {
		return err
	}
	m.cfg.Log.Debug("heartbeats cannot be read from shared memory", "of", p.process, "error", err)
	return p.send(newFrame(frameBlind, wire.Topic{}, nil, nil))
}

// takeCount maps and closes the file with p's count of heartbeats, which the detector reads from now on.
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
