package agree

import "slices"

// Call is what a member wants of an agreement. Members that agree on different things find out.
type Call uint8

// The calls.
const (
	Flags Call = iota
	Shrink
	Grow
	Invite // Grow too, of a member that has invited others
	calls
)

// String returns the name of the call as users know it.
func (c Call) String() string {
	names := [...]string{"Agree", "Shrink", "Grow", "Grow"}
	if c < calls {
		return names[c]
	}
	return "unknown"
}

// Value is what members agree on.
type Value struct {
	Flags uint64 // the AND of the members' flags
	// Gone are the members that the others go on without, and Dead those of them that did not leave by themselves. A
	// member that is in neither has given its flags.
	Gone, Dead Set
	// First is by call the lowest member that made it, plus 1; 0: nobody.
	First [calls]uint32
}

func newValue(size int) Value {
	return Value{Flags: ^uint64(0), Gone: newSet(size), Dead: newSet(size)}
}

// Other returns a call by another name than mine, and a member that made it, if there is one.
func (v *Value) Other(mine Call) (member int, call Call, ok bool) {
	for c, first := range v.First {
		if first > 0 && Call(c).String() != mine.String() {
			return int(first) - 1, Call(c), true
		}
	}
	return 0, 0, false
}

// take adds the flags and calls of another member's value.
func (v *Value) take(w *Value) {
	v.Flags &= w.Flags
	for c, first := range w.First {
		if first > 0 && (v.First[c] == 0 || first < v.First[c]) {
			v.First[c] = first
		}
	}
}

func (v Value) clone() Value {
	v.Gone, v.Dead = slices.Clone(v.Gone), slices.Clone(v.Dead)
	return v
}
