package main

import "sync"

// table has the things that C programs know by integers. A number is never used again before 2^30 others of its place
// were, so that one of something that is gone is found out.
type table[T any] struct {
	kind   int64 // a bit of all of its numbers, which those of other tables do not have
	mu     sync.RWMutex
	places []place[T]
	free   []int32 // places that have nothing
}

type place[T any] struct {
	is    *T
	round uint32 // how often the place was used
}

// add returns the number of x, which is more than 0.
func (t *table[T]) add(x *T) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := int32(len(t.places))
	if n := len(t.free); n > 0 {
		at, t.free = t.free[n-1], t.free[:n-1]
	} else {
		t.places = append(t.places, place[T]{})
	}
	p := &t.places[at]
	p.is, p.round = x, (p.round+1)&(1<<30-1)
	return t.kind | int64(p.round)<<32 | int64(at+1)
}

// get returns what has that number; nil if nothing has.
func (t *table[T]) get(number int64) *T {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if at := t.at(number); at >= 0 {
		return t.places[at].is
	}
	return nil
}

// remove takes the number away from what has it, and returns that; nil if nothing has.
func (t *table[T]) remove(number int64) *T {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.at(number)
	if at < 0 {
		return nil
	}
	is := t.places[at].is
	t.places[at].is = nil
	t.free = append(t.free, int32(at))
	return is
}

// removeAll takes the numbers away from all for which f returns true.
func (t *table[T]) removeAll(f func(x *T) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for at := range t.places {
		if is := t.places[at].is; is != nil && f(is) {
			t.places[at].is = nil
			t.free = append(t.free, int32(at))
		}
	}
}

// at returns the place of what has that number, or -1.
func (t *table[T]) at(number int64) int64 {
	number ^= t.kind
	at := number&(1<<32-1) - 1
	if number <= 0 || at < 0 || at >= int64(len(t.places)) || t.places[at].is == nil ||
		int64(t.places[at].round) != number>>32 {
		return -1
	}
	return at
}
