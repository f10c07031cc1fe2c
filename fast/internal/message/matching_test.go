package message

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/collgen/collgen/spec"
)

// posted is a receive as the matcher needs it.
type posted struct {
	pattern_ pattern
	at       int
}

func (p *posted) pattern() pattern { return p.pattern_ }

// model is the rule of matching, written down in the simplest way: a list of all that happens, in which nothing is ever
// moved.
type model struct{ events []event }

type event struct {
	receive *posted
	message *envelope
	open    bool
}

// fits is the rule by which a receive takes a message, written once more.
func fits(p pattern, m *envelope) bool {
	switch {
	case p.source >= 0 && m.source != p.source:
		return false
	case p.tag >= 0 && m.tag != p.tag:
		return false
	}
	return true
}

// add adds an event, and returns the open one that it meets first, if there is one.
func (m *model) add(e event) *event {
	for i := range m.events {
		x := &m.events[i]
		if x.open && (e.message != nil && x.receive != nil && fits(x.receive.pattern_, e.message) ||
			e.receive != nil && x.message != nil && fits(e.receive.pattern_, x.message)) {
			x.open = false
			return x
		}
	}
	e.open = true
	m.events = append(m.events, e)
	return nil
}

// open returns the receives and the messages that are open, in order.
func (m *model) open() (receives []*posted, messages []*envelope) {
	for _, x := range m.events {
		switch {
		case !x.open:
		case x.receive != nil:
			receives = append(receives, x.receive)
		default:
			messages = append(messages, x.message)
		}
	}
	return receives, messages
}

// TestMatching compares the matcher with the model, over all that can happen: messages and receives of few sources and
// tags, so that many match, and receives and messages that are withdrawn.
func TestMatching(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m matcher[*posted]
		var want model
		draw := func(what string, least int) int { return rapid.IntRange(least, 2).Draw(t, what) }
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0, 1:
				e := &envelope{source: draw("source", 0), tag: draw("tag", 0), typ: spec.TypeUint8, number: uint64(i)}
				r, ok := m.arrive(e)
				if x := want.add(event{message: e}); ok != (x != nil) || ok && r != x.receive {
					t.Fatalf("%+v meets %+v, want %+v", e, r, x)
				}
			case 2:
				r := &posted{pattern{draw("source", Any), draw("tag", Any)}, i}
				first := m.first(r.pattern_)
				e := m.post(r)
				x := want.add(event{receive: r})
				if (e != nil) != (x != nil) || e != nil && e != x.message || first != e {
					t.Fatalf("%+v meets %+v, and before %+v, want %+v", r, e, first, x)
				}
			case 3:
				withdrawReceive(t, &m, &want)
			case 4:
				source := draw("lost", 0)
				m.arrived.removeAll(func(e *envelope) bool { return e.source == source })
				for i, x := range want.events {
					want.events[i].open = x.open && (x.message == nil || x.message.source != source)
				}
			}
			receives, messages := want.open()
			if p, a := elements(&m.posted), elements(&m.arrived); !slices.Equal(p, receives) || !slices.Equal(a, messages) {
				t.Fatalf("it has %v and %v, want %v and %v", p, a, receives, messages)
			}
			if receives == nil && len(m.posted.under) > 0 || messages == nil && len(m.arrived.under) > 0 {
				t.Fatalf("it is empty, and keeps %v and %v", m.posted.under, m.arrived.under)
			}
		}
	})
}

// elements returns what an index has, in order.
func elements[E comparable](x *index[E]) (all []E) {
	for _, n := range x.entries() {
		all = append(all, n.element)
	}
	return all
}

// counted is a receive that counts how often it is looked at.
type counted struct {
	at     pattern
	looked *int
}

func (c *counted) pattern() pattern {
	*c.looked++
	return c.at
}

// TestMatchingManyTags: of many receives with tags of their own, in whatever order the messages come, each is looked at
// a few times alone. The same is so for many messages.
func TestMatchingManyTags(t *testing.T) {
	const n = 2000
	var m matcher[*counted]
	looked := 0
	for tag := range n {
		m.post(&counted{pattern{0, tag}, &looked})
	}
	for tag := range n {
		e := &envelope{source: 0, tag: n - 1 - tag}
		if r, ok := m.arrive(e); !ok || r.at.tag != e.tag {
			t.Fatalf("tag %d meets %v", e.tag, r)
		}
		m.arrive(e)
	}
	for tag := range n {
		if e := m.post(&counted{pattern{Any, tag}, &looked}); e == nil || e.tag != tag {
			t.Fatalf("tag %d meets %v", tag, e)
		}
	}
	if looked > 4*n || m.posted.len()+m.arrived.len() > 0 {
		t.Errorf("%d receives were looked at %d times; %d and %d are left", 2*n, looked, m.posted.len(), m.arrived.len())
	}
}

// withdrawReceive withdraws one of the receives that are open.
func withdrawReceive(t *rapid.T, m *matcher[*posted], want *model) {
	receives, _ := want.open()
	if len(receives) == 0 {
		return
	}
	r := rapid.SampledFrom(receives).Draw(t, "withdrawn")
	if removed := m.posted.removeAll(func(x *posted) bool { return x == r }); !slices.Equal(removed, []*posted{r}) {
		t.Fatalf("%v was removed in place of %v", removed, r)
	}
	for i, x := range want.events {
		want.events[i].open = x.open && x.receive != r
	}
}
