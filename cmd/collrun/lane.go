//go:build unix && !aix && !solaris

package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/collgen/collgen/fast"
)

// lane is calls that have one order on all ranks that make them: the collectives of a communicator, or the messages
// from one of its ranks to another.
type lane struct {
	laneName
	comm  string                              // the communicator's name
	calls map[uint64]map[int]*fast.TraceEntry // by number, then by process
	last  map[int]*fast.TraceEntry            // of each process that could be in the lane; nil: it has made no call
	wrong time.Time                           // when the first call began that did not end well; zero: all did
}

// laneName tells lanes apart.
type laneName struct {
	id         uint64 // of the communicator
	root, peer int    // the sender and the receiver in it; -1: the lane of the collectives
}

// collective reports whether the lane is that of the collectives.
func (n laneName) collective() bool { return n.peer < 0 }

func nameOfLane(e *fast.TraceEntry) laneName {
	if e.Peer < 0 {
		return laneName{e.ID, -1, -1}
	}
	return laneName{e.ID, e.Root, e.Peer}
}

// lanesOf sorts all that was recorded into lanes.
func lanesOf(h *history) []*lane {
	all := make(map[laneName]*lane)
	for _, f := range h.flights {
		for i := range f.Entries {
			e := &f.Entries[i]
			name := nameOfLane(e)
			if all[name] == nil {
				all[name] = h.newLane(name, e.Comm)
			}
			all[name].add(f, e)
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *lane) int {
		return cmp.Or(a.end().Compare(b.end()), cmp.Compare(a.id, b.id), cmp.Compare(a.root, b.root), cmp.Compare(a.peer, b.peer))
	})
}

// newLane returns a lane without calls.
func (h *history) newLane(name laneName, comm string) *lane {
	l := &lane{laneName: name, comm: comm}
	l.calls, l.last = make(map[uint64]map[int]*fast.TraceEntry), make(map[int]*fast.TraceEntry)
	members := h.members[name.id]
	for _, f := range h.flights {
		rank, is := members[f.Rank]
		if is && (name.collective() || rank == name.root || rank == name.peer) {
			l.last[f.Rank] = nil
		}
	}
	return l
}

func (l *lane) add(f flight, e *fast.TraceEntry) {
	if l.calls[e.Seq] == nil {
		l.calls[e.Seq] = make(map[int]*fast.TraceEntry)
	}
	l.calls[e.Seq][f.Rank] = e
	if was := l.last[f.Rank]; was == nil || was.Seq <= e.Seq {
		l.last[f.Rank] = e
	}
	if begun := f.at(e.Start); e.State != fast.TraceDone && (l.wrong.IsZero() || begun.Before(l.wrong)) {
		l.wrong = begun
	}
}

// end returns when the lane came to its end; one in which all went well, never.
func (l *lane) end() time.Time {
	if l.wrong.IsZero() {
		return time.Unix(1<<40, 0)
	}
	return l.wrong
}

// most returns the highest number of a call.
func (l *lane) most() uint64 { return slices.Max(slices.Collect(maps.Keys(l.calls))) }

// call is call number seq of the lane in words.
func (n laneName) call(seq uint64, comm string) string {
	if n.collective() {
		return fmt.Sprintf("call %d of %s", seq, comm)
	}
	return fmt.Sprintf("message %d from %d to %d of %s", seq, n.root, n.peer, comm)
}

// membersOf returns the ranks that processes have in communicators, as far as it is known: who has made no call on a
// communicator is known to be in it only if it has all processes of the job, in their order.
func membersOf(h *history) map[uint64]map[int]int {
	all := make(map[uint64]map[int]int)
	others := make(map[uint64]bool) // that do not have all processes
	for _, f := range h.flights {
		for i := range f.Entries {
			e := &f.Entries[i]
			if all[e.ID] == nil {
				all[e.ID] = make(map[int]int)
			}
			all[e.ID][f.Rank] = e.Rank
			others[e.ID] = others[e.ID] || e.Size != h.size || e.Rank != f.Rank
		}
	}
	for id, members := range all {
		for _, f := range h.flights {
			if !others[id] && f.Rank < h.size {
				members[f.Rank] = f.Rank
			}
		}
	}
	return all
}
