package verbs

import (
	"errors"
	"slices"
	"sync"
)

// lifetime has an object closed once, when no call uses it any more, and after those that were made with it.
type lifetime struct {
	tree    *tree
	closed  bool // nobody begins to use it any more
	gone    bool // and it is destroyed
	uses    int  // calls that are in the library with it, where each may take a second
	destroy func() error
	needs   []*lifetime // what it was made with
	users   []*lifetime // what was made with it, in that order
}

// tree protects the lifetimes of a context and of all that belongs to it. It is never locked while the library is
// called: what takes long holds up nobody but those who close what it uses.
type tree struct {
	sync.Mutex
	changed sync.Cond // a use has ended, or an object is gone
}

func newTree() *tree {
	t := &tree{}
	t.changed.L = t
	return t
}

// begin starts the lifetime of an object that is made with others, unless one of these is closed.
func (l *lifetime) begin(make func() error, destroy func() error, needs ...*lifetime) error {
	l.tree, l.closed, l.gone = needs[0].tree, true, true // until there is something to destroy
	return using(func() error {
		if err := make(); err != nil {
			return err
		}
		l.tree.Lock()
		defer l.tree.Unlock()
		l.closed, l.gone, l.destroy, l.needs = false, false, destroy, needs
		for _, n := range needs { // one that is being closed waits for this, and then closes l
			n.users = append(n.users, l)
		}
		return nil
	}, needs...)
}

// using calls f, during which none of these objects is destroyed, unless one is closed.
func using(f func() error, all ...*lifetime) error {
	t := all[0].tree
	t.Lock()
	if slices.ContainsFunc(all, func(l *lifetime) bool { return l.closed }) {
		t.Unlock()
		return ErrClosed
	}
	for _, l := range all {
		l.uses++
	}
	t.Unlock()
	defer func() {
		t.Lock()
		defer t.Unlock()
		for _, l := range all {
			l.uses--
		}
		t.changed.Broadcast()
	}()
	return f()
}

// Close closes the object, and before it all that was made with it, when the calls that use them are over. It may be
// called again.
func (l *lifetime) Close() error {
	if l.tree == nil { // it never began
		return nil
	}
	l.tree.Lock()
	defer l.tree.Unlock()
	return l.end()
}

// end is Close with the tree locked, which is unlocked while it waits, and while something is destroyed. What waits for
// each other is one object for those that were made with it, and never the other way.
func (l *lifetime) end() error {
	if l.closed { // by somebody else, perhaps, who is about it
		for !l.gone {
			l.tree.changed.Wait()
		}
		return nil
	}
	l.closed = true
	for l.uses > 0 {
		l.tree.changed.Wait()
	}
	var errs []error
	for len(l.users) > 0 { // each leaves the list
		errs = append(errs, l.users[len(l.users)-1].end())
	}
	l.tree.Unlock()
	errs = append(errs, l.destroy())
	l.tree.Lock()
	for _, n := range l.needs {
		n.users = slices.DeleteFunc(n.users, func(u *lifetime) bool { return u == l })
	}
	l.gone = true
	l.tree.changed.Broadcast()
	return errors.Join(errs...)
}
