package mesh

import (
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// vigil finds out who does not answer any more. Times are in nanoseconds.
type vigil struct {
	freeze int64 // how long a process may be silent
	last   int64 // when it looked last
}

// blocked is how long writing may make no progress, at least: what the network loses costs some time.
const blocked = int64(2 * time.Second)

// look is who of peers has been silent, or has not read, for too long. If this process itself was stopped for more than
// half of that time, all have another chance, because what they said meanwhile may just not be read yet.
func (v *vigil) look(now int64, peers []*peer) (silent []int) {
	stalled := now-v.last > v.freeze/2
	v.last = now
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

// watchOver sends heartbeats, in an eighth of the time after which a process is given up, and looks after all peers, twice
// as often, until the mesh is closed.
//
// So who is cut off in one direction is heard of in time. When what it sends is not acknowledged any more, TCP goes on to
// send the first of it alone; a heartbeat or two later the other side hears nothing either, and knows it that much later.
func (m *Mesh) watchOver() {
	v := vigil{freeze: int64(m.cfg.Freeze), last: m.now()}
	for turn := 0; ; turn++ {
		m.mu.Lock()
		peers, wait := m.peers(), m.shortest/16
		m.mu.Unlock()
		m.giveUp(v.look(m.now(), peers), wire.ErrFrozen, "no answer")
		for _, p := range peers {
			if turn%2 == 0 {
				p.pulse()
			}
		}
		m.lobby.expire(time.Now())
		select {
		case <-m.leaving.Done():
			return
		case <-m.hurry:
			turn = -1
		case <-time.After(wait):
		}
		m.cfg.pause()
	}
}

// keepUp has heartbeats sent often enough for a process that gives others up after freeze. It is called with m.mu held.
func (m *Mesh) keepUp(freeze time.Duration) {
	if freeze >= m.shortest {
		return
	}
	m.shortest = freeze
	select {
	case m.hurry <- struct{}{}:
	default:
	}
}
