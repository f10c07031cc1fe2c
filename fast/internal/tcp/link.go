package tcp

import (
	"sync/atomic"

	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/internal/events"
)

// link is one rank's end of a connection to another rank.
type link struct {
	linkbase.Link
	socket Socket      // nil: there is none yet, or it was closed
	asked  bool        // for a connection
	linked atomic.Bool // there is, or was, one
	lack   error       // why no connection can be had, as far as is known
	// A connection that this process has no room to use stays open until the endpoint is released: the other rank,
	// which has it too, is to hear the reason before it finds it closed.
	useless arrival

	out output
	in  input

	trail *events.Trail
}

// end returns the error of a message that can no more be completed, because the link has ended.
func (l *link) end() error {
	switch {
	case l.Verdict != nil:
		return l.Verdict
	case l.in.over != nil:
		return l.Died("the link broke: %w", l.in.over)
	}
	return l.Died("the link broke: %w", l.out.over)
}
