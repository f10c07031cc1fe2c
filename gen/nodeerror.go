package gen

import (
	"fmt"
)

// NodeError is an error in an algorithm.
type NodeError struct {
	Algorithm string
	Node      int // index of the action in source order, or -1: not in an action
	Rank      int // or -1: whatever the rank
	Err       error
}

func (e *NodeError) Error() string {
	where := e.Algorithm
	if e.Node >= 0 {
		where += fmt.Sprintf(", action %d", e.Node)
	}
	if e.Rank >= 0 {
		where += fmt.Sprintf(", rank %d", e.Rank)
	}
	return where + ": " + e.Err.Error()
}

// Unwrap is the cause.
func (e *NodeError) Unwrap() error { return e.Err }
