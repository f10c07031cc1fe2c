package agree

import (
	"slices"
	"testing"
)

// TestCutLink has two members take each other for dead whose link is cut, while all others reach both: the others go on
// with the lower one, and the higher one is told.
func TestCutLink(t *testing.T) {
	for _, cut := range [][2]int{{0, 1}, {1, 2}, {0, 3}, {2, 3}} {
		low, high := cut[0], cut[1]
		s := newSimulation(4, 0, 0, 2, flaw{})
		s.tell(low, high)
		s.tell(high, low)
		for p := range s.machines {
			s.do(action{"start", p, 0})
		}
		for len(s.packets) > 0 {
			kind := "deliver"
			if p := s.packets[0]; p.from == low && p.to == high || p.from == high && p.to == low {
				kind = "lose"
			}
			s.do(action{kind, 0, 0})
		}
		if err := s.check(); err != nil {
			t.Error(s.failure(err))
		}
		for p, m := range s.machines {
			if !m.decided || !slices.Equal(m.value.Gone.Members(), []int{high}) {
				t.Errorf("link between %v: member %d has %v (decided: %v)", cut, p, m.value, m.decided)
			}
		}
	}
}

// TestLeave has a member leave: it is gone, but not dead.
func TestLeave(t *testing.T) {
	m := NewMachine(3, 0)
	m.Start(Flags, 6, 0)
	m.Take(1, Message{Kind: Left})
	m.Gone(2, true)
	v, ok := m.Decision()
	if !ok || v.Flags != 6 || v.Gone.Len() != 2 || !slices.Equal(v.Dead.Members(), []int{2}) {
		t.Errorf("got %v, %v", v, ok)
	}
}

// TestWaiting names the members that are waited for.
func TestWaiting(t *testing.T) {
	follower := NewMachine(4, 2)
	follower.Start(Flags, 0, 0)
	if got := follower.Waiting(); !slices.Equal(got, []int{0}) {
		t.Errorf("a follower waits for %v", got)
	}
	m := NewMachine(4, 0)
	m.Start(Flags, 0, 0)
	m.Take(2, Message{Kind: State, Value: newValue(4)})
	m.Gone(3, true)
	if got := m.Waiting(); !slices.Equal(got, []int{1}) {
		t.Errorf("a coordinator waits for %v", got)
	}
}

// TestOther finds members that agree on something else.
func TestOther(t *testing.T) {
	m := NewMachine(3, 0)
	m.Start(Flags, 1, 0)
	for member, call := range map[int]Call{1: Flags, 2: Shrink} {
		v := newValue(3)
		v.First[call] = uint32(member) + 1
		m.Take(member, Message{Kind: State, Value: v})
	}
	m.Take(1, Message{Kind: Adopted})
	m.Take(2, Message{Kind: Adopted})
	v, ok := m.Decision()
	if member, call, other := v.Other(Flags); !ok || !other || member != 2 || call != Shrink {
		t.Errorf("got member %d, %v, %v of %v", member, call, other, v)
	}
	if member, call, other := v.Other(Shrink); !other || member != 0 || call != Flags {
		t.Errorf("got member %d, %v, %v of %v", member, call, other, v)
	}
}
