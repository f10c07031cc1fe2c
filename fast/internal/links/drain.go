package links

import (
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// LastWord is how long a rank that closes waits for anything of what it has sent to arrive, unless it is told otherwise.
const LastWord = 2 * time.Second

// afterFailure is how long what was sent may take to arrive after a failure: little, because nobody can use it, and why it failed the
// others hear over the control plane as well.
const afterFailure = 100 * time.Millisecond

// Drain bounds the wait for what was sent before Close: it goes on as long as anything arrives.
type Drain struct {
	silence time.Duration // 0: what arrives does not prolong it
	left    int
	end     time.Time
}

// Drain is for the endpoint that is released now.
func (e *End) Drain() *Drain {
	switch {
	case e.doom != nil || e.Failed() != wire.ErrClosed:
		return &Drain{end: time.Now().Add(afterFailure)}
	case e.Silence > 0:
		return &Drain{silence: e.Silence, left: -1}
	}
	return &Drain{silence: LastWord, left: -1}
}

// GoesOn tells whether to wait on, where so many bytes, or whatever is counted, have not arrived.
func (d *Drain) GoesOn(left int) bool {
	now := time.Now()
	if d.silence > 0 && left != d.left {
		d.left, d.end = left, now.Add(d.silence)
	}
	return left > 0 && now.Before(d.end)
}

// Released takes note that everything was given back.
func (e *End) Released() { close(e.released) }

// Wait waits until the endpoint, which is closed, was released: all that it has sent has arrived, or never will.
func (e *Endpoint) Wait() { <-e.End.released }
