package tcp

import (
	"sync"
	"testing"
)

// hub makes the links that the endpoints of a test ask for, in the background, one for each pair of ranks.
type hub struct {
	t     testing.TB
	world world
	all   []*Endpoint

	mu     sync.Mutex
	joined map[[2]int]bool
	over   bool
	making sync.WaitGroup
}

func newHub(t testing.TB, w world, size int) *hub {
	h := &hub{t: t, world: w, joined: map[[2]int]bool{}}
	for rank := range size {
		h.all = append(h.all, New(rank, size, size, w.encrypted, func(peer int) { h.ask(rank, peer) }))
	}
	t.Cleanup(func() {
		h.mu.Lock()
		h.over = true
		h.mu.Unlock()
		h.making.Wait()
		for _, e := range h.all {
			_ = e.Close()
		}
	})
	return h
}

func (h *hub) ask(rank, peer int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.over {
		h.making.Go(func() { h.join(rank, peer) })
	}
}

// join makes the link between a and b, unless there is one.
func (h *hub) join(a, b int) {
	pair := [2]int{min(a, b), max(a, b)}
	h.mu.Lock()
	known := h.joined[pair]
	h.joined[pair] = true
	h.mu.Unlock()
	if known {
		return
	}
	ends := h.world.pair(h.t)
	h.all[a].Attach(b, ends[0])
	h.all[b].Attach(a, ends[1])
}
