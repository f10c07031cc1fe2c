package mesh

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// vigil finds out who does not answer any more. Times are in nanoseconds.
type vigil struct {
	freeze int64        // how long a process may be silent
	last   atomic.Int64 // when it looked last
	woke   atomic.Int64 // when it found last that this process itself had been stopped; 0: never
}

// stalled tells whether this process was stopped until just now. Others may have given it up, and ended since, all of which it
// reads now at once.
func (v *vigil) stalled(now int64) bool {
	woke := v.woke.Load()
	return now-v.last.Load() > v.freeze/2 || woke > 0 && now-woke < int64(hearsay)
}

// blocked is how long writing may make no progress, at least: what the network loses costs some time.
const blocked = int64(2 * time.Second)

// look is who of peers has been silent, or has not read, for too long. If this process itself was stopped for more than
// half of that time, all have another chance, because what they said meanwhile may just not be read yet.
func (v *vigil) look(now int64, peers []*peer) (silent []int) {
	stalled := now-v.last.Load() > v.freeze/2
	if stalled {
		v.woke.Store(now)
	}
	v.last.Store(now)
	for _, p := range peers {
		writing := p.writing.Load()
		switch {
		case stalled:
			p.heard.Store(now)
			p.writing.CompareAndSwap(writing, min(writing, 1)*now) // still 0 if nothing is being written
		case now-p.heard.Load() > v.freeze, writing > 0 && now-writing > max(v.freeze, blocked):
			silent = append(silent, p.process)
		}
	}
	return silent
}

// frozen is the error of who has been silent, or has not read, for too long.
func (v *vigil) frozen() error {
	return fmt.Errorf("%w: it has sent no heartbeat, or read nothing, for %v", wire.ErrFrozen, time.Duration(v.freeze))
}

// watchOver looks after all peers, 16 times in the time after which a process is given up, until the mesh is closed. Every
// second time it sends heartbeats, and to the processes of this host every fourth time.
//
// So who is cut off in one direction is heard of in time. When what it sends is not acknowledged any more, TCP goes on to
// send the first of it alone; a heartbeat or two later the other side hears nothing either, and knows it that much later.
// On one host nothing is lost.
func (m *Mesh) watchOver() {
	v := &m.vigil
	v.last.Store(m.now())
	for turn, last := int64(0), never; ; {
		m.mu.Lock()
		peers := m.peers()
		m.mu.Unlock()
		m.giveUp(v.look(m.now(), peers), v.frozen(), "no answer")
		for _, p := range peers {
			if due(last, turn, p.tcp != nil) {
				p.pulse()
			}
		}
		m.lobby.expire(time.Now())
		next, left := nextTurn(time.Now(), m.cfg.Freeze/16)
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

// due tells whether it is time for a heartbeat at a turn, the one before being last: every fourth time, and over TCP every
// second time. A process that wakes up late leaves out turns, always the same ones if it is always late; so what counts is
// not whether this turn is the fourth, but whether there has been one since the last.
func due(last, turn int64, tcp bool) bool {
	every := int64(4)
	if tcp {
		every = 2
	}
	return last/every != turn/every
}

// nextTurn is which multiple of wait the clock shows next, and when. As all processes of a host turn to their peers at the
// same moments, each is woken up once for the heartbeats of all others, which would otherwise take a good part of the
// processors where there are many processes; and all collectives are disturbed at once, instead of one rank after the other.
func nextTurn(now time.Time, wait time.Duration) (turn int64, left time.Duration) {
	since := now.UnixNano() % int64(wait)
	return now.UnixNano()/int64(wait) + 1, wait - time.Duration(since)
}
