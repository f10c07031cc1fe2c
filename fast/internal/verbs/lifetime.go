package verbs

import (
	"errors"
	"slices"
	"sync"
)

// lifetime has an object closed once, after those that were made with it.
type lifetime struct {
	tree    *sync.Mutex // of the context and all that belongs to it
	closed  bool
	destroy func() error
	needs   []*lifetime // what it was made with
	users   []*lifetime // what was made with it, in that order
}

// begin starts the lifetime of an object that is made with others, unless one of these is closed.
func (l *lifetime) begin(make func() error, destroy func() error, needs ...*lifetime) error {
	l.tree = needs[0].tree
	l.tree.Lock()
	defer l.tree.Unlock()
	l.closed = true // until there is something to destroy
	for _, n := range needs {
		if n.closed {
			return ErrClosed
		}
	}
	if err := make(); err != nil {
		return err
	}
	l.closed, l.destroy, l.needs = false, destroy, needs
	for _, n := range needs {
		n.users = append(n.users, l)
	}
	return nil
}

// Close closes the object, and before it all that was made with it. It may be called again.
func (l *lifetime) Close() error {
	if l.tree == nil { // it never began
		return nil
	}
	l.tree.Lock()
	defer l.tree.Unlock()
	return l.end()
}

func (l *lifetime) end() error {
	if l.closed {
		return nil
	}
	var errs []error
	for len(l.users) > 0 { // each leaves the list
		errs = append(errs, l.users[len(l.users)-1].end())
	}
	l.closed = true
	for _, n := range l.needs {
		n.users = slices.DeleteFunc(n.users, func(u *lifetime) bool { return u == l })
	}
	return errors.Join(append(errs, l.destroy())...)
}
