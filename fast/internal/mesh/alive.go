package mesh

import "time"

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
