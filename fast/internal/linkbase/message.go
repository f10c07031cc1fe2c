package linkbase

import "github.com/collgen/collgen/fast/internal/wire"

// Outgoing is a send of the Exchange in progress.
type Outgoing struct {
	*wire.Send
	Mark  wire.Mark
	At    int  // bytes that were sent
	Begun bool // its first segment was made
}

// Incoming is a receive of the Exchange in progress.
type Incoming struct {
	*wire.Recv
	Mark  wire.Mark
	After *Outgoing // of a receive marked AfterSend: the send of the same memory
	At    int       // bytes that are in place
	Begun bool      // its first segment has come
}

// Fits returns how many of the next n bytes of the message, which have come, may go to their place.
func (m *Incoming) Fits(n int) int {
	if m.After != nil {
		n = min(n, m.After.At-m.At)
	}
	if m.Kernel != nil && m.At+n < len(m.Into) {
		n -= n % wire.Segment
	}
	return n
}

// Apply copies or reduces data, the next part of the message, to its place.
func (m *Incoming) Apply(data []byte) {
	to := m.At + len(data)
	into := m.Into[m.At:to:to]
	switch {
	case m.Kernel == nil:
		copy(into, data)
	case m.ReceivedFirst:
		m.Kernel(into, data, m.With[m.At:to:to])
	default:
		m.Kernel(into, m.With[m.At:to:to], data)
	}
}
