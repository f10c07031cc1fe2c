package failure

import (
	"fmt"
	"sync"
)

// State is how a communicator is: Healthy, then at most one of Failed, Revoked and Aborted, and Closed in the end.
type State uint8

// The states of a communicator on one rank.
const (
	Healthy State = iota
	Failed        // a call failed, here or on another rank
	Revoked       // a rank has revoked it, for all
	Aborted       // this rank has aborted it
	Closed        // this rank has closed it
)

// String returns the state's name.
func (s State) String() string {
	names := [...]string{"Healthy", "Failed", "Revoked", "Aborted", "Closed"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Termination is how and why a communicator ended.
type Termination struct {
	State State
	Err   error
}

// Changes tells goroutines that wait of changes: a communicator has ended or was closed, or another rank has closed it.
type Changes struct {
	mu   sync.Mutex
	next chan struct{} // nil: nobody waits
}

// Next returns a channel that is closed at the next change.
func (c *Changes) Next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.next
}

// Announce says that there is a change.
func (c *Changes) Announce() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}
