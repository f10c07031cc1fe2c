package replay_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/internal/events"
	"github.com/collgen/collgen/internal/events/edit"
	"github.com/collgen/collgen/verify/replay"
)

// doctored returns files in which process at has other events, which are numbered again.
func doctored(files []*events.File, at int, others []events.Event) []*events.File {
	all := slices.Clone(files)
	f := *all[at]
	f.Events = slices.Clone(others)
	for n := range f.Events {
		f.Events[n].N = uint64(n + 1)
	}
	all[at] = &f
	return all
}

// changes returns all changes of one detail that make an event like e wrong.
func changes(e *events.Event) map[string]func(*events.Event) {
	all := map[string]func(*events.Event){}
	change := func(name string, f func(e *events.Event)) { all[name] = f }
	switch {
	case e.Part != nil && e.Do != events.Freed:
		change("a byte too many", func(e *events.Event) { e.Part.Bytes++ })
		change("a byte later", func(e *events.Event) { e.Part.At++ })
		change("another rank", func(e *events.Event) { e.Part.Peer = 7 })
		if e.Do == events.Put && e.Part.Via != events.Memory && e.Part.Via != events.Frame {
			change("another segment", func(e *events.Event) { e.Part.Segment++ })
		}
		if e.Do == events.Placed {
			change("another segment", func(e *events.Event) { e.Part.Segment++ })
			change("another way", func(e *events.Event) { e.Part.Via = events.Process })
		}
	case e.Do == events.Freed:
		change("another segment", func(e *events.Event) { e.Part.Segment++ })
	case e.Local != nil:
		change("another place", func(e *events.Event) { e.Local.Into.At++ })
		if len(e.Local.From) > 1 {
			change("operands swapped", func(e *events.Event) { slices.Reverse(e.Local.From) })
		}
	case e.Do == events.Begin:
		change("another call", func(e *events.Event) { e.Call.Seq++ })
		change("another schedule", func(e *events.Event) { e.Call.Schedule++ })
		if e.Call.Count > 1 {
			change("another count", func(e *events.Event) { e.Call.Count++ })
		}
		if e.Call.InBlocks != nil {
			change("a block beyond the buffer", func(e *events.Event) { e.Call.InBlocks[0].At += e.Call.In + 1 })
			change("a block longer than the buffer", func(e *events.Event) { e.Call.OutBlocks[0].Bytes += e.Call.Out + 1 })
			change("a block too few", func(e *events.Event) { e.Call.InBlocks = e.Call.InBlocks[1:] })
			change("a block too many", func(e *events.Event) { e.Call.OutBlocks = append(e.Call.OutBlocks, events.Block{}) })
		} else {
			change("a block of blocks", func(e *events.Event) { e.Call.InBlocks = []events.Block{{}} })
		}
	case e.Do == events.Step:
		changedSends(e, change)
		changedRecvs(e, change)
	}
	return all
}

// changedSends changes each thing about a send of a step.
func changedSends(e *events.Event, change func(string, func(*events.Event))) {
	for i := range e.Sends {
		is := fmt.Sprintf("send %d: ", i)
		change(is+"missing", func(e *events.Event) { e.Sends = slices.Delete(e.Sends, i, i+1) })
		change(is+"to another rank", func(e *events.Event) { e.Sends[i].Peer = 7 })
		change(is+"of another call", func(e *events.Event) { e.Sends[i].Call ^= 1 })
		change(is+"other data", func(e *events.Event) { e.Sends[i].Data.Bytes++ })
		if e.Sends[i].Data.Bytes > 0 {
			change(is+"data elsewhere", func(e *events.Event) { e.Sends[i].Data.At++ })
			change(is+"data of another buffer", func(e *events.Event) { e.Sends[i].Data.Buf = "other" })
		}
	}
}

// changedRecvs changes each thing about a receive of a step.
func changedRecvs(e *events.Event, change func(string, func(*events.Event))) {
	for i := range e.Recvs {
		is := fmt.Sprintf("receive %d: ", i)
		of := func(name string, f func(r *events.Recv)) {
			change(is+name, func(e *events.Event) { f(&e.Recvs[i]) })
		}
		change(is+"missing", func(e *events.Event) { e.Recvs = slices.Delete(e.Recvs, i, i+1) })
		of("of another rank", func(r *events.Recv) { r.Peer = 7 })
		of("of another call", func(r *events.Recv) { r.Call ^= 1 })
		of("longer", func(r *events.Recv) { r.Into.Bytes++ })
		of("after a send", func(r *events.Recv) { r.AfterSend = !r.AfterSend })
		of("lent", func(r *events.Recv) { r.Lend = !r.Lend })
		of("received first", func(r *events.Recv) { r.ReceivedFirst = !r.ReceivedFirst })
		if e.Recvs[i].Into.Bytes > 0 {
			of("into another place", func(r *events.Recv) { r.Into.At++ })
			of("into another buffer", func(r *events.Recv) { r.Into.Buf = "other" })
		}
		if e.Recvs[i].With == nil {
			of("reduced", func(r *events.Recv) { r.With = &events.Place{} })
			continue
		}
		of("not reduced", func(r *events.Recv) { r.With = nil })
		of("with more", func(r *events.Recv) { r.With.Bytes++ })
		if e.Recvs[i].With.Bytes > 0 {
			of("with another place", func(r *events.Recv) { r.With.At++ })
		}
	}
}

// another returns a way that is not that one.
func another(via events.Via) events.Via {
	if via == events.Slot {
		return events.Full
	}
	return events.Slot
}

// TestDoctored drops, doubles and changes every event of real runs; each has to be refused, and what is wrong at its
// line, at that line.
func TestDoctored(t *testing.T) {
	for _, w := range []way{inproc, shm, tcp} {
		t.Run(w.name, func(t *testing.T) {
			files := read(t, w.run(t, 3, "few"))
			if _, err := replay.Replay(files, catalogue.Algorithms()); err != nil {
				t.Fatal(err)
			}
			tried := 0
			for at, f := range files {
				for i := range f.Events {
					e := &f.Events[i]
					if i%3 != at && os.Getenv(replayVar) != "all" {
						continue // the ranks do much the same
					}
					if slices.Contains([]events.Kind{events.Tell, events.Heard, events.Closed}, e.Do) {
						continue // nothing follows from them, where no rank fails
					}
					if slices.Contains([]events.Kind{events.Wrote, events.Came, events.Framed}, e.Do) {
						continue // they are not looked at
					}
					line := i + 2
					tried++
					refused(t, doctored(files, at, edit.Drop(f.Events, i)), e, "dropped", "")
					refused(t, doctored(files, at, edit.Double(f.Events, i)), e, "doubled", fmt.Sprintf("rank-%d.events, line %d:", at,
						line+1))
					if e.Do == events.Put { // only its receiver says by which way it came
						other := edit.Change(f.Events, i, func(e *events.Event) { e.Part.Via = another(e.Part.Via) })
						refused(t, doctored(files, at, other), e, "another way", "")
					}
					for what, change := range changes(e) {
						tried++
						refused(t, doctored(files, at, edit.Change(f.Events, i, change)), e, what, fmt.Sprintf("rank-%d.events, line %d:",
							at, line))
					}
				}
			}
			t.Logf("%d doctored traces are refused", tried)
		})
	}
}

// refused expects an error that begins so. A part that has a byte too many may be one that is waited for.
func refused(t *testing.T, files []*events.File, e *events.Event, what, want string) {
	t.Helper()
	_, err := replay.Replay(files, catalogue.Algorithms())
	var wrong *replay.Error
	switch {
	case err == nil:
		t.Errorf("%s %s: not seen: %+v", e.Do, what, *e)
	case want != "" && (!errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), want)):
		t.Errorf("%s %s: %v\nwant %s", e.Do, what, err, want)
	}
}

// TestSwapped: events of one rank in another order are refused, unless they do not depend on each other.
func TestSwapped(t *testing.T) {
	files := read(t, inproc.run(t, 2, "few"))
	seen := 0
	for at, f := range files {
		for i := range len(f.Events) - 1 {
			a, b := f.Events[i], f.Events[i+1]
			if _, err := replay.Replay(doctored(files, at, edit.Swap(f.Events, i)), catalogue.Algorithms()); err != nil {
				seen++
			} else if !independent(&a) && !independent(&b) && (a.Do != events.Begin || b.Do != events.Begin) {
				t.Errorf("%s before %s: not seen", b.Do, a.Do)
			}
		}
	}
	if seen == 0 {
		t.Error("no order matters")
	}
}

// independent reports whether e may come before or after others: parts of different messages, and what ranks say to
// each other.
func independent(e *events.Event) bool {
	return e.Part != nil || slices.Contains([]events.Kind{events.Tell, events.Heard, events.Closed}, e.Do)
}

// TestIncomplete: a trace in which a process is missing, has written nothing, or never was a rank, is refused.
func TestIncomplete(t *testing.T) {
	files := read(t, inproc.run(t, 3, "few"))
	cut := func(at, from int) []*events.File { return doctored(files, at, files[at].Events[:from]) }
	alone, other := &events.File{Header: events.Header{Format: events.Format, Size: 4}}, *files[1]
	other.Size++
	for _, c := range []struct {
		what, want string
		files      []*events.File
	}{
		{"nothing", "there are no files", nil},
		{"a header alone of several processes", "began with 4 processes, and there is no rank-1.events",
			[]*events.File{alone}},
		{"headers alone", "there are no events", []*events.File{{Header: events.Header{Format: events.Format, Size: 1}}}},
		{"a file less", "there is no rank-2.events", files[:2]},
		{"a file twice", "two files of process 0", []*events.File{files[0], files[0], files[1], files[2]}},
		{"another job's file", "rank-1.events is of a job of 4 processes", []*events.File{files[0], &other, files[2]}},
		{"a rank that wrote nothing", "", cut(2, 0)},
		{"a rank that joined and wrote no more", "", cut(2, 1)},
	} {
		_, err := replay.Replay(c.files, catalogue.Algorithms())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
	}
}

// TestNeverJoined: that a rank never joined is an error, unless something has failed; what ends well has no such rank.
func TestNeverJoined(t *testing.T) {
	files := read(t, inproc.run(t, 2, "few"))
	for i := range files { // what is left are the communicator and its end
		kept := *files[i]
		kept.Events = slices.DeleteFunc(slices.Clone(kept.Events),
			func(e events.Event) bool { return e.Do != events.Joined })[:1-i]
		files[i] = &kept
	}
	if _, err := replay.Replay(files, catalogue.Algorithms()); err == nil || !strings.Contains(err.Error(),
		"rank-1.events ends before it is a rank") {
		t.Error(err)
	}
}

// TestReceivedTooSoon: what a rank has received before another one sent it is refused, by an error that says what it
// waits for.
func TestReceivedTooSoon(t *testing.T) {
	files := read(t, shm.run(t, 2, "few"))
	for i, e := range files[1].Events {
		if e.Do == events.Put {
			files = doctored(files, 1, files[1].Events[:i])
			break
		}
	}
	_, err := replay.Replay(files, catalogue.Algorithms())
	if err == nil || !strings.Contains(err.Error(), "rank-0.events") || !strings.Contains(err.Error(),
		"rank 1 has not sent it") {
		t.Error(err)
	}
}

// TestRingIsFull: a rank that puts more segments into its ring than that holds, of which the other rank has taken none,
// is refused at the first one that is too many.
func TestRingIsFull(t *testing.T) {
	files := read(t, shm.run(t, 2, "ahead"))
	if _, err := replay.Replay(files, catalogue.Algorithms()); err != nil {
		t.Fatal(err)
	}
	slots, put, line := files[0].Events[0].Member.Slots, 0, 0
	for i, e := range files[0].Events {
		if e.Do == events.Put {
			if put++; put == slots+1 {
				line = i + 2
			}
		}
	}
	taken := slices.IndexFunc(files[1].Events, func(e events.Event) bool { return e.Do == events.Placed })
	_, err := replay.Replay(doctored(files, 1, files[1].Events[:taken]), catalogue.Algorithms())
	want := fmt.Sprintf("rank-0.events, line %d: put", line)
	if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(),
		fmt.Sprintf("room for %d segments", slots)) {
		t.Errorf("%v\nwant %s", err, want)
	}
}

// TestHostile: a short file cannot have a schedule made that takes all memory.
func TestHostile(t *testing.T) {
	files := read(t, inproc.run(t, 2, "few"))
	begins := slices.IndexFunc(files[0].Events, func(e events.Event) bool { return e.Do == events.Begin })
	joined := func(e *events.Event) { e.Member.Size, e.Member.Processes = 1<<16, make([]int, 1<<16) }
	call := func(e *events.Event) { e.Call.Depth, e.Call.Count = 1<<23, 1<<30 }
	for want, all := range map[string][]*events.File{
		"process 0 is two ranks":                  doctored(files, 0, edit.Change(files[0].Events, 0, joined)),
		"2 ranks with depth 8388608 are too many": doctored(files, 0, edit.Change(files[0].Events, begins, call)),
	} {
		if _, err := replay.Replay(all, catalogue.Algorithms()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
