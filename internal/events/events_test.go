package events

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sample has an event of each kind, with all its parts.
func sample() []Event {
	place := Place{Buf: "out", At: 64, Bytes: 128}
	part := &Part{Peer: 1, At: 64, Bytes: 64, Via: Slot, Segment: 7, Lent: true}
	local := &Local{Into: place, From: []Place{place, {Buf: "in", Bytes: 128}}}
	ended := &Ended{State: "Failed", Error: "rank 1 died", Blames: []int{1}}
	notice := &Notice{From: 0, By: 1, State: "Failed", Rank: 2, Down: "died"}
	all := []Event{
		{Do: Joined, Member: &Member{Name: "world", Rank: 0, Size: 2, Processes: []int{0, 1}, Transport: "shm", Slots: 8,
			Lines: 32}},
		{Do: Begin, Call: &Call{Seq: 1, Fingerprint: 1<<64 - 1, Primitive: "AllReduce", Algorithm: "ring", Op: "sum",
			Type:    "float32",
			Element: 4, Count: 8, Peer: -1, Depth: 1, In: 32, Out: 32, Shared: true}},
		{Do: Step, Sends: []Send{{Peer: 1, Data: place}},
			Recvs: []Recv{{Peer: 1, Into: place, With: &place, AfterSend: true}}},
		{Do: Agree, Agreed: &Agreed{Seq: 1, What: "Agree", Flags: 3, Gone: []int{1}}},
	}
	for _, do := range []Kind{Put, Sent, Taken, Placed, Freed, Wrote, Came, Framed} {
		all = append(all, Event{Do: do, Part: part})
	}
	for _, do := range []Kind{Copy, Reduce, Finish} {
		all = append(all, Event{Do: do, Local: local})
	}
	for _, do := range []Kind{Failed, Lost, Fate} {
		all = append(all, Event{Do: do, Ended: ended})
	}
	for _, do := range []Kind{Tell, Heard} {
		all = append(all, Event{Do: do, Notice: notice})
	}
	for _, do := range []Kind{Done, End, Closed} {
		all = append(all, Event{Do: do})
	}
	for i := range all {
		all[i].N, all[i].Comm = uint64(i+1), 1<<63+1
	}
	return all
}

// text returns a file of these events.
func text(t testing.TB, h Header, all []Event) string {
	t.Helper()
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	if err := lines.Encode(h); err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if err := lines.Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

var header = Header{Format: Format, Process: 0, Size: 2, Job: "job"}

func TestReadIsTheInverse(t *testing.T) {
	want := &File{header, sample()}
	if len(want.Events) != len(has) {
		t.Errorf("%d kinds, want %d", len(want.Events), len(has))
	}
	whole := text(t, header, want.Events)
	got, err := Read(strings.NewReader(whole))
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	want.Events = want.Events[:len(want.Events)-1]
	got, err = Read(strings.NewReader(whole[:len(whole)-1]))
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("the last line has no end: %v\n%s", err, d)
	}
}

func TestReadRefuses(t *testing.T) {
	whole := text(t, header, sample())
	for _, c := range []struct{ old, new, want string }{
		{Format, "collgen events 2", `line 1: the format is "collgen events 2"`},
		{`"process":0`, `"process":-1`, "line 1: there is no process -1"},
		{`"n":3,`, `"n":4,`, "line 4: event 4 comes where event 3 has to be"},
		{`"do":"put"`, `"do":"pat"`, `line 6: there is no event "pat"`},
		{`"peer":1,"at":64`, `"peer":-1,"at":64`, "line 6: the part"},
		{`"bytes":64`, `"bytes":-64`, "line 6: the part"},
		{`"do":"joined"`, `"do":"begin"`, "does not say of what"},
		{`"buf":"out"`, `"bug":"out"`, "unknown field"},
		{`"element":4`, `"element":400`, "line 3: a call with"},
		{`"rank":0,"size":2`, `"rank":2,"size":2`, "line 2: there is no rank 2 of 2"},
		{`"slots":8`, `"slots":-8`, "line 2: a ring of -8 slots"},
		{`world`, `\u001b[2J`, "line 2: it has control characters"},
		{"}\n", "}{}\n", "more than one value"},
		{whole, "", "no header"},
	} {
		_, err := Read(strings.NewReader(strings.Replace(whole, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s instead of %s: %v, want %s", c.new, c.old, err, c.want)
		}
	}
	if _, err := Read(strings.NewReader(strings.Repeat(" ", maxLine+1))); err == nil || !strings.Contains(err.Error(),
		"too long") {
		t.Error(err)
	}
}

// FuzzRead: what can be read is what is written again, and nothing does harm.
func FuzzRead(f *testing.F) {
	f.Add(text(f, header, sample()))
	f.Fuzz(func(t *testing.T, s string) {
		got, err := Read(strings.NewReader(s))
		if err != nil {
			return
		}
		again, err := Read(strings.NewReader(text(t, got.Header, got.Events)))
		if d := cmp.Diff(got, again); d != "" || err != nil {
			t.Errorf("%v\n%s", err, d)
		}
	})
}

func TestLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "events")
	l, err := Create(dir, Header{Process: 3, Size: 4})
	if !On {
		if err == nil {
			t.Error("a program that is not built for events has a log")
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir, Header{Process: 3, Size: 4}); err == nil {
		t.Error("two processes write one file")
	}
	trail := l.Join(5, &Member{Rank: 0, Size: 2, Processes: []int{3, 1}})
	trail.Within([]int{1, 0}).Part(Put, Part{Peer: 0, Bytes: 1, Via: Frame})
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	trail.Write(&Event{Do: Done}) // too late
	file, err := os.Open(filepath.Join(dir, FileName(3)))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got, err := Read(file)
	if err != nil || len(got.Events) != 2 || got.Events[1].Part.Peer != 1 || got.Events[1].Comm != 5 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestNilLog: a rank that writes nothing down has no log.
func TestNilLog(t *testing.T) {
	var l *Log
	trail := l.Join(1, &Member{})
	trail.Within(nil).Part(Put, Part{})
	trail.Write(&Event{})
	if err := l.Close(); err != nil || trail != nil {
		t.Error(trail, err)
	}
}
