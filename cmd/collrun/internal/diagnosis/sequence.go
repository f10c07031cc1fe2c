//go:build unix && !aix && !solaris

package diagnosis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/trace"
)

// sequence is calls that all their ranks make in the same order: the collectives of a communicator, or the messages
// from one of its ranks to another.
type sequence struct {
	sequenceID
	comm   string                          // the communicator's name
	calls  map[uint64]map[int]*trace.Entry // by number, then by process
	last   map[int]*trace.Entry            // the last call of each process that may take part; nil: it has made none
	failed time.Time                       // when the first call began that did not succeed; zero: all did
}

// sequenceID identifies a sequence.
type sequenceID struct {
	id         uint64 // of the communicator
	root, peer int    // the sender and the receiver; -1: the sequence of the collectives
}

// collective reports whether this is the sequence of the collectives.
func (n sequenceID) collective() bool { return n.peer < 0 }

func sequenceOf(e *trace.Entry) sequenceID {
	if e.Peer < 0 {
		return sequenceID{e.ID, -1, -1}
	}
	return sequenceID{e.ID, e.Root, e.Peer}
}

// sequencesOf groups all recorded calls by sequence.
func sequencesOf(j *Job) []*sequence {
	all := make(map[sequenceID]*sequence)
	for _, f := range j.recordings {
		for i := range f.Entries {
			e := &f.Entries[i]
			name := sequenceOf(e)
			if all[name] == nil {
				all[name] = j.newSequence(name, e.Comm)
			}
			all[name].add(f, e)
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *sequence) int {
		return cmp.Or(a.failureTime().Compare(b.failureTime()), cmp.Compare(a.id, b.id), cmp.Compare(a.root, b.root),
			cmp.Compare(a.peer, b.peer))
	})
}

// newSequence returns a sequence without calls.
func (j *Job) newSequence(name sequenceID, comm string) *sequence {
	s := &sequence{sequenceID: name, comm: comm}
	s.calls, s.last = make(map[uint64]map[int]*trace.Entry), make(map[int]*trace.Entry)
	members := j.members[name.id]
	for _, f := range j.recordings {
		rank, is := members[f.Rank]
		if is && (name.collective() || rank == name.root || rank == name.peer) {
			s.last[f.Rank] = nil
		}
	}
	return s
}

func (s *sequence) add(f recording, e *trace.Entry) {
	if s.calls[e.Seq] == nil {
		s.calls[e.Seq] = make(map[int]*trace.Entry)
	}
	s.calls[e.Seq][f.Rank] = e
	if was := s.last[f.Rank]; was == nil || was.Seq <= e.Seq {
		s.last[f.Rank] = e
	}
	if begun := f.at(e.Start); e.State != trace.Done && (s.failed.IsZero() || begun.Before(s.failed)) {
		s.failed = begun
	}
}

// failureTime returns when the first failed call began; a time in the far future if all succeeded.
func (s *sequence) failureTime() time.Time {
	if s.failed.IsZero() {
		return time.Unix(1<<40, 0)
	}
	return s.failed
}

// lastCall returns the highest number of a call.
func (s *sequence) lastCall() uint64 { return slices.Max(slices.Collect(maps.Keys(s.calls))) }

// call returns call number seq in words.
func (n sequenceID) call(seq uint64, comm string) string {
	if n.collective() {
		return fmt.Sprintf("call %d of %s", seq, comm)
	}
	return fmt.Sprintf("message %d from %d to %d of %s", seq, n.root, n.peer, comm)
}

// membersOf returns the ranks of processes in communicators, as far as they are known. A process that has made no call
// on a communicator is known to be a member only if the communicator has all processes of the job, in their order.
func membersOf(j *Job) map[uint64]map[int]int {
	all := make(map[uint64]map[int]int)
	others := make(map[uint64]bool) // communicators that do not have all processes
	for _, f := range j.recordings {
		for i := range f.Entries {
			e := &f.Entries[i]
			if all[e.ID] == nil {
				all[e.ID] = make(map[int]int)
			}
			all[e.ID][f.Rank] = e.Rank
			others[e.ID] = others[e.ID] || e.Size != j.size || e.Rank != f.Rank
		}
	}
	for id, members := range all {
		for _, f := range j.recordings {
			if !others[id] && f.Rank < j.size {
				members[f.Rank] = f.Rank
			}
		}
	}
	return all
}
