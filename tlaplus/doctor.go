package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/internal/events"
	"github.com/collgen/collgen/internal/events/edit"
)

// doctored returns checks of calls that did not happen. Each is the trace of the call with one mistake, which has to be
// refused at the right line. The events keep their numbers.
func (t *traceOfCall) doctored(of string) (checks []*check, err error) {
	for rank, all := range t.ranks {
		for _, do := range []events.Kind{events.Put, events.Placed, events.Done, events.Reduce} {
			if first(all, do) < 1 {
				return nil, fmt.Errorf("rank %d has not written %q", rank, do)
			}
		}
	}
	spareRank, spare := t.spare()
	if spareRank < 0 {
		return nil, errors.New("there is no put without which the others can be made")
	}
	for _, d := range []struct {
		what   string
		rank   int
		change func(all []events.Event) (changed []events.Event, refused uint64)
	}{
		{"without a put", spareRank, func(all []events.Event) ([]events.Event, uint64) {
			peer := all[spare].Part.Peer
			needs := slices.IndexFunc(all, func(e events.Event) bool {
				return e.Do == events.Done || e.Do == events.Sent && e.Part.Peer == peer
			})
			return edit.Drop(all, spare), all[needs].N
		}},
		{"without a reduction", 0, func(all []events.Event) ([]events.Event, uint64) {
			at := first(all, events.Reduce)
			return edit.Drop(all, at), all[at+1].N
		}},
		{"with a placed twice", 2, func(all []events.Event) ([]events.Event, uint64) {
			at := first(all, events.Placed)
			return edit.Double(all, at), all[at].N
		}},
		{"done before the last is placed", 1, func(all []events.Event) ([]events.Event, uint64) {
			at := first(all, events.Done)
			return edit.Swap(all, at-1), all[at].N
		}},
		{"with a put to the wrong rank", 2, func(all []events.Event) ([]events.Event, uint64) {
			at := first(all, events.Put)
			return edit.Change(all, at, func(e *events.Event) { e.Part.Peer = 2 }), all[at].N
		}},
		{"without the last event of a rank that is waited for", 0, func(all []events.Event) ([]events.Event, uint64) {
			return all[:last(all, events.Put)], 0
		}},
	} {
		changed := *t
		changed.ranks = slices.Clone(t.ranks)
		all, line := d.change(t.ranks[d.rank])
		changed.ranks[d.rank] = all
		c, err := changed.check(fmt.Sprintf("%s, call 1 %s", of, d.what))
		if err != nil {
			return nil, err
		}
		rank := d.rank
		if line == 0 { // the rank for which the put was waits for it
			rank = t.ranks[d.rank][len(all)].Part.Peer
			line = firstFrom(changed.ranks[rank], d.rank)
		}
		checks = append(checks, c.refusing(rank, line+1))
	}
	return checks, nil
}

// refusing returns c, which has to refuse its trace at that line.
func (c *check) refusing(rank int, line uint64) *check {
	c.want, c.refused = "Follows", fmt.Sprintf("rank %d, line %d", rank, line)
	return c
}

// spare returns a put, by its rank and its place, without which all other puts can be made: the ranks that do not need
// it go on as they did, however early they took what others had sent. Of a real run, the put that was made last is one;
// the rank is -1 if there is none.
func (t *traceOfCall) spare() (rank, at int) {
	for rank, all := range t.ranks {
		for at := range all {
			if all[at].Do != events.Put {
				continue
			}
			without := slices.Clone(t.ranks)
			without[rank] = slices.Delete(slices.Clone(all), at, at+1)
			made := true
			for r, n := range reached(without) {
				made = made && n > last(without[r], events.Put)
			}
			if made {
				return rank, at
			}
		}
	}
	return -1, 0
}

// reached returns how many of its events each rank can take, which waits for what others put.
func reached(ranks [][]events.Event) []int {
	n := make([]int, len(ranks))
	there := map[[2]int]int{} // bytes, by sender and receiver
	for goesOn := true; goesOn; {
		goesOn = false
		for r, all := range ranks {
			for ; n[r] < len(all); n[r]++ {
				e := &all[n[r]]
				if e.Do == events.Put {
					there[[2]int{r, e.Part.Peer}] += e.Part.Bytes
				}
				if e.Do == events.Placed {
					way := [2]int{e.Part.Peer, r}
					if there[way] < e.Part.Bytes {
						break
					}
					there[way] -= e.Part.Bytes
				}
				goesOn = true
			}
		}
	}
	return n
}

// first returns the place of the first event of a kind.
func first(all []events.Event, do events.Kind) int {
	return slices.IndexFunc(all, func(e events.Event) bool { return e.Do == do })
}

// last returns the place of the last event of a kind; -1: there is none.
func last(all []events.Event, do events.Kind) int {
	at := len(all) - 1
	for at >= 0 && all[at].Do != do {
		at--
	}
	return at
}

// firstFrom returns the number of the first event that has come from rank.
func firstFrom(all []events.Event, rank int) uint64 {
	return all[slices.IndexFunc(all, func(e events.Event) bool { return e.Do == events.Placed && e.Part.Peer == rank })].N
}
