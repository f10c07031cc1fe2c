package spec

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// declaredOp is an operator of a program's own, of which no more is known than this.
type declaredOp struct {
	name        string
	takes       Type
	commutative bool
}

// firstDeclared and MaxDeclared bound the operators that are declared: with these, an Op has 7 bits.
const (
	firstDeclared = 64
	MaxDeclared   = 64
)

var (
	declaring sync.Mutex
	declared  [MaxDeclared]atomic.Pointer[declaredOp]
)

// DeclareOp returns a new operator on elements of type t. What it does is not specified. It fails if an operator has
// that name, or MaxDeclared were declared before.
func DeclareOp(name string, t Type, commutative bool) (Op, error) {
	declaring.Lock()
	defer declaring.Unlock()
	for _, o := range Ops() {
		if o.String() == name {
			return 0, fmt.Errorf("an op is called %s already", name)
		}
	}
	for i := range declared {
		switch d := declared[i].Load(); {
		case d == nil:
			declared[i].Store(&declaredOp{name, t, commutative})
			return Op(firstDeclared + i), nil
		case d.name == name:
			return 0, fmt.Errorf("this process has declared an op %s already: declare it once, in a package variable", name)
		}
	}
	return 0, fmt.Errorf("%d ops were declared, and there is no room for more", MaxDeclared)
}

// Declared reports whether DeclareOp has returned o.
func (o Op) Declared() bool { return o.declared() != nil }

func (o Op) declared() *declaredOp {
	if o < firstDeclared || o >= firstDeclared+MaxDeclared {
		return nil
	}
	return declared[o-firstDeclared].Load()
}

// declaredOps returns all operators that were declared.
func declaredOps() (all []Op) {
	for i := range declared {
		if declared[i].Load() != nil {
			all = append(all, Op(firstDeclared+i))
		}
	}
	return all
}
