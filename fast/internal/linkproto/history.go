package linkproto

import "github.com/collgen/collgen/fast/internal/wire"

// Kept is how many calls a rank can tell another one that it has begun.
const Kept = 16

// History is the calls that a rank has begun last.
type History struct {
	calls [Kept]wire.Call
	begun uint64
}

// Begin adds c.
func (h *History) Begin(c *wire.Call) {
	h.calls[h.begun%Kept] = *c
	h.begun++
}

// Begun returns how many calls were begun.
func (h *History) Begun() uint64 { return h.begun }

// Calls returns those that are still known, in no order.
func (h *History) Calls() []wire.Call { return h.calls[:min(h.begun, Kept)] }
