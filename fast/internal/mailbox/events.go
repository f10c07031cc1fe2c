package mailbox

import "sync"

// events calls functions one at a time and in the order in which they were posted. So what a process said comes before
// the news that it is down, and handlers need no locks of their own.
type events struct {
	start   func(func()) // calls a function, in whatever goroutine
	mu      sync.Mutex
	queue   []func()
	running bool
}

// post has f called.
func (e *events) post(f func()) {
	e.mu.Lock()
	e.queue = append(e.queue, f)
	idle := !e.running
	e.running = true
	e.mu.Unlock()
	if idle {
		e.start(e.run)
	}
}

// run calls what was posted, until there is no more.
func (e *events) run() {
	for f := e.next(); f != nil; f = e.next() {
		f()
	}
}

// next returns the next function to call; after the last one nobody is calling.
func (e *events) next() func() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.queue) == 0 {
		e.running, e.queue = false, nil
		return nil
	}
	f := e.queue[0]
	e.queue[0] = nil
	e.queue = e.queue[1:]
	return f
}
