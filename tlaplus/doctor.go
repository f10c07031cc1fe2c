package main

import (
	"fmt"
	"slices"

	"github.com/collgen/collgen/internal/events"
)

// doctored is checks of what did not happen: the trace of a call, of which one event was changed, has to be refused, and at
// the right line. The events keep the numbers of their lines.
func (t *traceOfCall) doctored(of string) (checks []*check, err error) {
	for rank, all := range t.ranks {
		for _, do := range []events.Kind{events.Put, events.Placed, events.Done, events.Reduce} {
			if first(all, do) < 1 {
				return nil, fmt.Errorf("rank %d has not written %q", rank, do)
			}
		}
	}
	for _, d := range []struct {
		what   string
		rank   int
		change func(all []events.Event) (changed []events.Event, refused uint64)
	}{
		{"without a put", 1, func(all []events.Event) ([]events.Event, uint64) {
			at := first(all, events.Put)
			peer := all[at].Part.Peer
			needs := slices.IndexFunc(all, func(e events.Event) bool {
				return e.Do == events.Done || e.Do == events.Sent && e.Part.Peer == peer
			})
			line := all[needs].N
			return slices.Delete(all, at, at+1), line
		}},
		{"without a reduction", 0, func(all []events.Event) ([]events.Event, uint64) {
			at := first(all, events.Reduce)
			line := all[at+1].N
			return slices.Delete(all, at, at+1), line
		}},
		{"with a placed twice", 2, func(all []events.Event) ([]events.Event, uint64) {
			at := first(all, events.Placed)
			return slices.Insert(all, at, all[at]), all[at].N
		}},
		{"done before the last is placed", 1, func(all []events.Event) ([]events.Event, uint64) {
			at := first(all, events.Done)
			all[at-1], all[at] = all[at], all[at-1]
			return all, all[at-1].N
		}},
		{"with a put to the wrong rank", 2, func(all []events.Event) ([]events.Event, uint64) {
			at := first(all, events.Put)
			part := *all[at].Part
			part.Peer = 2
			all[at].Part = &part
			return all, all[at].N
		}},
		{"without the last event of a rank that is waited for", 0, func(all []events.Event) ([]events.Event, uint64) {
			return all[:first(all, events.Put)], 0
		}},
	} {
		changed := *t
		changed.ranks = slices.Clone(t.ranks)
		all, line := d.change(slices.Clone(t.ranks[d.rank]))
		changed.ranks[d.rank] = all
		c, err := changed.check(fmt.Sprintf("%s, call 1 %s", of, d.what))
		if err != nil {
			return nil, err
		}
		rank := d.rank
		if line == 0 { // the next rank waits for its first message
			rank = 1
			line = firstFrom(changed.ranks[rank], d.rank)
		}
		c.want, c.refused = "Follows", fmt.Sprintf("rank %d, line %d", rank, line+1)
		checks = append(checks, c)
	}
	return checks, nil
}

// first is the place of the first event of a kind.
func first(all []events.Event, do events.Kind) int {
	return slices.IndexFunc(all, func(e events.Event) bool { return e.Do == do })
}

// firstFrom is the number of the first event that has come from rank.
func firstFrom(all []events.Event, rank int) uint64 {
	return all[slices.IndexFunc(all, func(e events.Event) bool { return e.Do == events.Placed && e.Part.Peer == rank })].N
}
