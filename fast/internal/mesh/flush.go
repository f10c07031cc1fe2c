package mesh

import "time"

// Flush waits until the messages sent so far are on their way, so that they come even if this process ends at once, but
// not longer than atMost.
func (m *Mesh) Flush(atMost time.Duration) {
	m.mu.Lock()
	peers := m.peers()
	m.mu.Unlock()
	for end := time.Now().Add(atMost); len(peers) > 0 && time.Now().Before(end); {
		if peers[0].flushed() {
			peers = peers[1:]
		} else {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// flushed reports whether nothing is left to be written.
func (p *peer) flushed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended || (len(p.queue) == 0 && !p.taken)
}
