package verbs

import (
	"errors"
	"slices"
	"sync"
)

// lifetime closes an object once, when no call uses it any more, and after the objects that were made with it.
type lifetime struct {
	tree    *tree
	closed  bool // no new use may begin
	gone    bool // it is destroyed
	uses    int  // calls into the library that use it; each may take a second
	destroy func() error
	needs   []*lifetime // what it was made with
	users   []*lifetime // what was made with it, in order
}

// tree protects the lifetimes of a context and of everything that belongs to it. It is never locked during a call into
// the library: a slow call only blocks those that close what it uses.
type tree struct {
	sync.Mutex
	changed sync.Cond // a use has ended, or an object is gone
}

func newTree() *tree {
	t := &tree{}
	t.changed.L = t
	return t
}

// begin makes an object with others, and starts its lifetime, unless one of the others is closed.
func (l *lifetime) begin(make func() error, destroy func() error, needs ...*lifetime) error {
	l.tree, l.closed, l.gone = needs[0].tree, true, true // until there is something to destroy
	return using(func() error {
		if err := make(); err != nil {
			return err
		}
		l.tree.Lock()
		defer l.tree.Unlock()
		l.closed, l.gone, l.destroy, l.needs = false, false, destroy, needs
		for _, n := range needs { // one that is being closed waits for make, and then closes l
			n.users = append(n.users, l)
		}
		return nil
	}, needs...)
}

// using calls f, unless one of these objects is closed. None of them is destroyed meanwhile.
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

// Close closes the object, and before that everything that was made with it, once no call uses them any more. It may be
// called again.
func (l *lifetime) Close() error {
	if l.tree == nil { // it never began
		return nil
	}
	l.tree.Lock()
	defer l.tree.Unlock()
	return l.end()
}

// end is Close with the tree locked. It unlocks the tree while it waits, and while it destroys something. There is no
// deadlock: an object waits only for those that were made with it.
func (l *lifetime) end() error {
	if l.closed { // perhaps another goroutine is closing it
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
	for len(l.users) > 0 { // each removes itself from the list
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
