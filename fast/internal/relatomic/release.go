// Package relatomic has words of memory that one goroutine writes and others read: who sees a value that was stored
// sees what was stored before it, too. That is all that is promised. Package sync/atomic promises more, one order of
// all its operations, and on amd64 takes a locked instruction for each store; where a word only says that something is
// over, a plain one does, in a fifth of the time.
package relatomic

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Store stores v into a word that is used in other ways, too. Loads that come after it may be done before it is seen.
func Store(p *atomic.Uint64, v uint64) { store(p, v) }

// Uint64 is a number, at first 0.
type Uint64 struct{ v atomic.Uint64 }

// Load returns the number that was stored last.
func (x *Uint64) Load() uint64 { return x.v.Load() }

// Store stores v. Loads that come after it may be done before it is seen.
func (x *Uint64) Store(v uint64) { store(&x.v, v) }

// Flag is set by one goroutine at a time, and at first by none.
type Flag struct{ v atomic.Uint64 }

// Set sets x, and is true if it was not set: of several goroutines that call it at once, for one.
func (x *Flag) Set() bool { return x.v.CompareAndSwap(0, 1) }

// Unset is for who has set x. Loads that come after it may be done before it is seen.
func (x *Flag) Unset() { store(&x.v, 0) }

// Store32 is Store for a word of half the length.
func Store32(p *atomic.Uint32, v uint32) { store32(p, v) }

// Await reports whether the word at p becomes v while it is looked at a number of times, with a pause of the processor
// between two looks, in which another thread of its core has all of it.
func Await(p *atomic.Uint32, v uint32, looks int) bool { return await(p, v, looks) }

// Fetch has what is at p, and what lies around it, brought nearer to this processor, while that does something else.
func Fetch[T any](p *T) { fetch(unsafe.Pointer(p)) }

// Mutex is a lock for what takes little time: who waits for it only lets other goroutines run, and asks again.
type Mutex struct{ held Flag }

// Lock waits until nobody holds m, and holds it.
func (m *Mutex) Lock() {
	for !m.held.Set() {
		runtime.Gosched()
	}
}

// Unlock is for who holds m.
func (m *Mutex) Unlock() { m.held.Unset() }

// FetchOwned is Fetch of what this processor is going to write, so that it need not wait for others to let go of it
// then.
func FetchOwned[T any](p *T) { fetchOwned(unsafe.Pointer(p)) }
