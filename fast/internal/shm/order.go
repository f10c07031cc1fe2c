//go:build linux

package shm

import (
	"sync"
	"sync/atomic"

	"github.com/collgen/collgen/fast/internal/relatomic"
)

// Who has done something for another rank looks whether that sleeps, and who is about to sleep looks whether something
// was done: one of them has to see what the other one has stored. A processor makes sure of that if both store by a
// locked instruction, which waits until the other processor has let go of the word. A rank stores far more often than
// it sleeps. So where the system can have all processors make sure, a rank has it do that before it sleeps, and the
// others, as soon as they see that it does, just store.

// announce stores v into word, which l's peer looks at. The caller then looks whether the peer sleeps.
func (e *Endpoint) announce(l *link, word *atomic.Uint32, v uint32) {
	if e.orders && l.control.orders.Load() != 0 {
		relatomic.Store32(word, v)
	} else {
		word.Store(v)
	}
}

// order has this rank see what others have stored before they saw that it sleeps.
func order() { membarrier(globalExpedited) }

// orderCounts tells whether order reaches this process, if another one calls it, and others, if this one does.
var orderCounts = sync.OnceValue(func() bool { return membarrier(registerGlobalExpedited) })
