package verbs

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// thing is an object of a tree, which knows whether it is in use, and what was made with it.
type thing struct {
	lifetime
	used, users atomic.Int32
	gone        atomic.Bool
}

// newThing makes one with others.
func newThing(t *testing.T, needs ...*thing) (*thing, error) {
	x := &thing{}
	all := make([]*lifetime, len(needs))
	for i, n := range needs {
		all[i] = &n.lifetime
	}
	return x, x.begin(func() error {
		for _, n := range needs {
			n.users.Add(1)
		}
		return nil
	}, func() error {
		if x.gone.Swap(true) || x.used.Load() > 0 || x.users.Load() > 0 {
			t.Errorf("an object is destroyed that is gone, in use, or needed: %v", x)
		}
		for _, n := range needs {
			n.users.Add(-1)
		}
		return nil
	}, all...)
}

// newRoot returns the first object of a tree.
func newRoot() *thing {
	x := &thing{}
	x.tree, x.destroy = newTree(), func() error { return nil }
	return x
}

// use makes a call that lasts until f has ended.
func (x *thing) use(f func()) error {
	return using(func() error {
		x.used.Add(1)
		defer x.used.Add(-1)
		f()
		return nil
	}, &x.lifetime)
}

// TestUsed: while one object is in use, others come and go, and it is destroyed when it no longer is.
func TestUsed(t *testing.T) {
	root := newRoot()
	slow, err := newThing(t, root)
	if err != nil {
		t.Fatal(err)
	}
	there, goOn, closed := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() { _ = slow.use(func() { close(there); <-goOn }) }()
	<-there
	other, err := newThing(t, root)
	if err = errors.Join(err, other.use(func() {}), other.Close()); err != nil {
		t.Errorf("while another one is in use: %v", err)
	}
	for range 2 {
		go func() { closed <- root.Close() }()
	}
	for root.use(func() {}) == nil || slow.use(func() {}) == nil { // until it is being closed
	}
	if _, err := newThing(t, root); !errors.Is(err, ErrClosed) {
		t.Errorf("made of what is being closed: %v", err)
	}
	if slow.gone.Load() {
		t.Error("it was destroyed while in use")
	}
	close(goOn)
	if err := errors.Join(<-closed, <-closed); err != nil || !slow.gone.Load() {
		t.Errorf("%v, and it is gone: %v", err, slow.gone.Load())
	}
}

// TestLifetimes has goroutines make, use and close the objects of a tree in any order.
func TestLifetimes(t *testing.T) {
	for range 20 {
		root := newRoot()
		made := make([][]*thing, 4)
		var all sync.WaitGroup
		for g := range made {
			mine := []*thing{root}
			all.Go(func() {
				for range 200 {
					x := mine[rand.IntN(len(mine))]
					switch rand.IntN(3) {
					case 0:
						if y, err := newThing(t, x, mine[0]); err == nil {
							mine = append(mine, y)
						}
					case 1:
						_ = x.use(func() {})
					case 2:
						if x != root || rand.IntN(100) == 0 {
							_ = x.Close()
						}
					}
				}
				made[g] = mine
			})
		}
		all.Wait()
		if err := root.Close(); err != nil {
			t.Error(err)
		}
		for _, x := range slices.Concat(made...) {
			if x != root && !x.gone.Load() {
				t.Error("an object is left")
			}
		}
	}
}
