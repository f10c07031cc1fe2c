package message

import (
	"slices"
	"sync"
)

// The limits of what all communicators of a process have under way to another process, in bytes. A control plane gives
// up a process that leaves much more than that unread.
const (
	sharedWindow = 2 << 20          // of announced messages, not acknowledged
	sharedCredit = 1 << 20          // of eager messages, not received
	sharedDue    = sharedWindow / 4 // of announced messages, received and not acknowledged
	sharedOwed   = sharedCredit / 4 // of eager messages, received and not returned as credit
)

// Budget is what the communicators of one process have under way to the other ones, together. The zero Budget is empty.
type Budget struct {
	mu sync.Mutex
	to map[int]*share // by process
}

// share is what is under way to one process.
type share struct {
	window, credit int
	waiting        []*Engine // to be woken when there is more of the window
	due            int       // what has come from the process, and was not acknowledged
	owed           int       // credit that is to be returned to the process
}

// at returns the share of a process. The budget is locked.
func (b *Budget) at(process int) *share {
	if b.to == nil {
		b.to = make(map[int]*share)
	}
	s := b.to[process]
	if s == nil {
		s = new(share)
		b.to[process] = s
	}
	return s
}

// reserveWindow takes n bytes of the window, and reports whether it could. If not, e will be woken.
func (b *Budget) reserveWindow(process, n int, e *Engine) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.at(process)
	if s.window+n > sharedWindow {
		if !slices.Contains(s.waiting, e) {
			s.waiting = append(s.waiting, e)
		}
		return false
	}
	s.window += n
	return true
}

// releaseWindow gives n bytes of the window back, and returns the engines to wake.
func (b *Budget) releaseWindow(process, n int) []*Engine {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.at(process)
	s.window -= n
	woken := s.waiting
	s.waiting = nil
	return woken
}

// reserveCredit takes n bytes of the credit, and reports whether it could.
func (b *Budget) reserveCredit(process, n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.at(process)
	if s.credit+n > sharedCredit {
		return false
	}
	s.credit += n
	return true
}

// releaseCredit gives n bytes of the credit back.
func (b *Budget) releaseCredit(process, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at(process).credit -= n
}

// oweAck counts n bytes that have come from a process, and reports whether too much of what has come is not
// acknowledged.
func (b *Budget) oweAck(process, n int) (much bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.at(process)
	s.due += n
	return s.due > sharedDue
}

// oweCredit counts credit of n bytes that is to be returned to a process, and reports whether that is too much.
func (b *Budget) oweCredit(process, n int) (much bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.at(process)
	s.owed += n
	return s.owed > sharedOwed
}
