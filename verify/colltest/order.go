package colltest

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/collgen/collgen/spec"
)

// unit is trials that a rank makes before it waits for any call. In which order is free for each rank if anyOrder is
// true; a batch begins as one.
type unit struct {
	trials   []int
	batch    bool
	anyOrder bool
	frees    []int // communicators that are freed after it
}

// units divides the trials of p: what is next to each other and batched is a batch. Messages with different tags, or
// with tags on different communicators, that do not block can begin in any order, also in a batch. So can two calls of
// which the first is started, if they are on different communicators, or one of them is a message with a tag and the
// other is no message.
func (p *performance) units() (units []unit) {
	random := rand.New(rand.NewPCG(p.c.Order, 0))
	for i := 0; i < len(p.trials); {
		n, batch, anyOrder := p.batch(i), false, false
		switch {
		case n > 0:
			batch, anyOrder = true, p.c.Order != 0 && p.messages(i) == n
		case p.c.Order == 0:
			n = 1
		default:
			if n = p.messages(i); n > 1 {
				anyOrder = true
			} else if n = 1; p.independent(i) && random.IntN(2) == 0 {
				n, anyOrder = 2, true
			}
		}
		u := unit{batch: batch, anyOrder: anyOrder}
		for range n {
			u.trials = append(u.trials, i)
			i++
		}
		units = append(units, u)
	}
	last := map[int]*unit{}
	for k := range units {
		for _, i := range units[k].trials {
			if comm := p.trials[i].step.Comm; comm > 0 && p.c.Comms[comm-1].Between {
				last[comm] = &units[k]
			}
		}
	}
	for _, comm := range slices.Sorted(maps.Keys(last)) {
		last[comm].frees = append(last[comm].frees, comm)
	}
	return units
}

// made returns the communicators in between, by the first trial on them.
func (p *performance) made() []int {
	before, is := make([]int, len(p.trials)), map[int]bool{}
	for i, t := range p.trials {
		if comm := t.step.Comm; comm > 0 && p.c.Comms[comm-1].Between && !is[comm] {
			before[i], is[comm] = comm, true
		}
	}
	return before
}

// batch returns how many trials from i on are one batch.
func (p *performance) batch(i int) (n int) {
	for _, t := range p.trials[i:] {
		if t.step.Mode != Batched {
			break
		}
		n++
	}
	return n
}

func isMessage(t *trial) bool { return t.step.Primitive == spec.Send.Name }

// messages returns how many trials from i on are messages that do not block, with different tags, or with tags
// on different communicators: all of one batch, or none of any. At most one communicator is made between them.
func (p *performance) messages(i int) (n int) {
	type channel struct{ comm, tag int }
	used, first, makes := map[channel]bool{}, p.trials[i].step.Mode, 0
	comm, oneComm, tagged := p.trials[i].step.Comm, true, true
	for k, t := range p.trials[i:] {
		mode := t.step.Mode
		if p.makes[i+k] > 0 {
			makes++
		}
		oneComm, tagged = oneComm && t.step.Comm == comm, tagged && t.step.Tag > 0
		if mode == Blocking || (mode == Batched) != (first == Batched) || !isMessage(t) ||
			used[channel{t.step.Comm, t.step.Tag}] || makes > 1 || !oneComm && !tagged {
			break
		}
		used[channel{t.step.Comm, t.step.Tag}] = true
		n++
	}
	return n
}

// independent reports whether trial i is started and can change places with the next one: one is on another
// communicator, or one of them is a message with a tag and the other is no message. A communicator that is made before
// one of them can do so with a message with a tag.
func (p *performance) independent(i int) bool {
	if i+1 == len(p.trials) {
		return false
	}
	s, next := p.trials[i].step, p.trials[i+1].step
	apart := func(s, other *Step) bool { return s.Tag > 0 && other.Primitive != spec.Send.Name }
	isFree := s.Comm != next.Comm || apart(s, next) || apart(next, s)
	if p.makes[i] > 0 || p.makes[i+1] > 0 {
		isFree = p.makes[i] == 0 && s.Tag > 0 || p.makes[i+1] == 0 && next.Tag > 0
	}
	return s.Mode == Started && isFree && next.Mode != Batched && next.Mode != Persistent
}

// order returns the trials of u in the order of a rank.
func (u *unit) order(random *rand.Rand) []int {
	all := slices.Clone(u.trials)
	if u.anyOrder {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	return all
}
