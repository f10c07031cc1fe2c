package main

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/internal/events"
)

// exchanged returns what two ranks wrote down that sent each other four bytes of an all-gather of eight.
func exchanged() [][]events.Event {
	var ranks [][]events.Event
	for rank := range 2 {
		peer := 1 - rank
		mine, theirs := events.Place{Buf: "out", At: 4 * rank, Bytes: 4}, events.Place{Buf: "out", At: 4 * peer, Bytes: 4}
		part := &events.Part{Peer: peer, Bytes: 4, Via: events.Inline}
		all := []events.Event{
			{Do: events.Joined, Member: &events.Member{Rank: rank, Size: 2}},
			{Do: events.Begin, Call: &events.Call{Primitive: "AllGather", Algorithm: "ring", Element: 4, Count: 1, Peer: -1,
				Depth: 1, Shared: true}},
			{Do: events.Step, Sends: []events.Send{{Peer: peer, Data: mine}}, Recvs: []events.Recv{{Peer: peer, Into: theirs}}},
			{Do: events.Put, Part: part}, {Do: events.Placed, Part: part}, {Do: events.Done}, {Do: events.End},
			{Do: events.Freed, Part: part},
		}
		for i := range all {
			all[i].N, all[i].Comm = uint64(i+1), 1
		}
		ranks = append(ranks, all)
	}
	return ranks
}

// TestTraceModule: each event of a call has its record, and each record its line.
func TestTraceModule(t *testing.T) {
	call, err := callOf(only(exchanged(), 1), 0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := call.check("a call")
	if err != nil {
		t.Fatal(err)
	}
	if c.states != 1+2*6 || len(c.lines) != 2 || strings.Join(c.lines[1], " ") != "3 4 5 6 7 8" {
		t.Errorf("%d states, lines %v", c.states, c.lines)
	}
	text, err := c.text(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		// in place: In is cell 1 of Out on rank 0
		`[do |-> "step", sends |-> {<<1, <<1>>>>}, recvs |-> {<<1, <<3>>, <<>>>>}]`,
		`[do |-> "put", peer |-> 0, at |-> 0, bytes |-> 4, lends |-> FALSE]`, "MODULE TraceExec", "Instr0(i) ==",
		"Push(r, i, in) ==",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the module has no %s:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "VARIABLES"); n != 1 {
		t.Errorf("variables are declared %d times", n)
	}
}

// TestTraceRefuses: what is no call of the schedule's, or not in whole chunks, is said before a checker runs.
func TestTraceRefuses(t *testing.T) {
	for what, plant := range map[string]func(ranks [][]events.Event){
		"no call":          func(ranks [][]events.Event) { ranks[0], ranks[1] = ranks[0][:1], ranks[1][:1] },
		"no algorithm":     func(ranks [][]events.Event) { ranks[1][1].Call.Algorithm = "rung" },
		"no whole chunk":   func(ranks [][]events.Event) { ranks[1][2].Sends[0].Data.Bytes = 3 },
		"outside of out":   func(ranks [][]events.Event) { ranks[1][2].Sends[0].Data.At = 8 },
		"an empty message": func(ranks [][]events.Event) { ranks[0][1].Call.Count, ranks[1][1].Call.Count = 0, 0 },
	} {
		ranks := exchanged()
		plant(ranks)
		call, err := callOf(only(ranks, 1), 0)
		if err == nil {
			_, err = call.check("a call")
		}
		if err == nil {
			t.Errorf("%s: not refused", what)
		}
	}
}

// TestRefusedIn: what a checker says is refused is a line of a file.
func TestRefusedIn(t *testing.T) {
	x := &task{check: &check{lines: [][]string{{"3", "4"}, {"5"}}}}
	for said, want := range map[string]string{
		"refused = <<>> then refused = <<0, 2>>": "rank 0, line 4",
		"refused = <<1, 1>>":                     "rank 1, line 5",
		"refused = <<1, 2>>":                     "",
		"refused = <<2, 1>>":                     "",
		"refused = <<>>":                         "",
	} {
		if got := x.refusedIn([]byte(said)); got != want {
			t.Errorf("%s: %q, want %q", said, got, want)
		}
	}
}

// TestSpare: of all that three ranks may write down of a call in which each puts a part for both others, in the orders
// in which they may put and take, there is a put without which the others make theirs.
func TestSpare(t *testing.T) {
	part := func(do events.Kind, peer int) events.Event {
		return events.Event{Do: do, Part: &events.Part{Peer: peer, Bytes: 4}}
	}
	early := 0
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 0))
		call := &traceOfCall{ranks: make([][]events.Event, 3)}
		var put, placed [3][3]bool
		for left := 12; left > 0; {
			r, peer := random.IntN(3), random.IntN(3)
			switch {
			case r == peer:
			case !put[r][peer]:
				put[r][peer] = true
				call.ranks[r] = append(call.ranks[r], part(events.Put, peer))
				left--
			case put[peer][r] && !placed[r][peer]:
				placed[r][peer] = true
				call.ranks[r] = append(call.ranks[r], part(events.Placed, peer))
				left--
			}
		}
		if !slices.Equal(reached(call.ranks), []int{4, 4, 4}) {
			t.Fatalf("seed %d: a trace of what was done cannot be followed: %v", seed, call.ranks)
		}
		rank, at := call.spare()
		if rank < 0 || call.ranks[rank][at].Do != events.Put {
			t.Fatalf("seed %d: rank %d, event %d", seed, rank, at)
		}
		peer := call.ranks[rank][at].Part.Peer
		without := slices.Clone(call.ranks)
		without[rank] = slices.Delete(slices.Clone(without[rank]), at, at+1)
		n := reached(without)
		if stuck := without[peer][n[peer]]; n[rank] != 3 || n[3-rank-peer] < 3 || stuck.Do != events.Placed ||
			stuck.Part.Peer != rank {
			t.Errorf("seed %d: without put %d of rank %d, the ranks come to %v", seed, at, rank, n)
		}
		if rank != 0 || at != 0 {
			early++
		}
	}
	if early == 0 {
		t.Error("in no trace does a rank put after it took what depends on the first put")
	}
	relay := &traceOfCall{ranks: [][]events.Event{{part(events.Put, 1), part(events.Placed, 1)},
		{part(events.Placed, 0), part(events.Put, 0)}}}
	if rank, at := relay.spare(); rank != 1 || at != 1 {
		t.Errorf("rank %d, event %d, of a put and its answer", rank, at)
	}
}

// TestDoctoredTracesDiffer: what is doctored is another trace than the one that it was made of, which stays as it was.
func TestDoctoredTracesDiffer(t *testing.T) {
	notice := func(by int) *events.Notice { return &events.Notice{From: by, By: by, State: "Failed"} }
	failure := failureOf([][]events.Event{
		{{N: 1, Do: events.Heard, Notice: notice(1)}, {N: 2, Do: events.Fate, Ended: &events.Ended{}},
			{N: 3, Do: events.Tell, Notice: notice(0)},
			{N: 4, Do: events.Agree, Agreed: &events.Agreed{}}, {N: 5, Do: events.Lost, Ended: &events.Ended{}}},
		{{N: 1, Do: events.Fate, Ended: &events.Ended{}}, {N: 2, Do: events.Tell, Notice: notice(1)},
			{N: 3, Do: events.Lost, Ended: &events.Ended{Blames: []int{0}}}, {N: 4, Do: events.Agree, Agreed: &events.Agreed{}}},
	})
	if len(failure[0]) != 4 {
		t.Errorf("%d events, want those up to the first agreement, 4", len(failure[0]))
	}
	ring := &traceOfRing{from: 0, to: 1}
	for i := range slots + 1 {
		part := &events.Part{Segment: uint32(i), Bytes: 1}
		ring.sender = append(ring.sender, events.Event{N: uint64(i), Do: events.Put, Part: part})
		ring.receiver = append(ring.receiver, events.Event{N: uint64(i), Do: events.Placed, Part: part})
	}
	stream := streamed(t)
	for _, x := range []struct {
		was      *check
		doctored func() ([]*check, error)
		again    func(of string) *check
		want     int
	}{
		{failure.check("x"), func() ([]*check, error) { return failure.doctored("x") }, failure.check, 3},
		{ring.check("x"), func() ([]*check, error) { return ring.doctored("x") }, ring.check, 3},
		{stream.check("x"), func() ([]*check, error) { return stream.doctored("x") }, stream.check, 5},
	} {
		checks, err := x.doctored()
		if err != nil || len(checks) != x.want {
			t.Fatalf("%d checks, %v", len(checks), err)
		}
		_, was, _ := strings.Cut(x.was.events, "EXTENDS")
		for _, c := range checks {
			if _, now, _ := strings.Cut(c.events, "EXTENDS"); now == was || c.refused == "" {
				t.Errorf("%s: the same events, to be refused at %q", c.config, c.refused)
			}
		}
		if again := x.again("x"); again.events != x.was.events {
			t.Errorf("the trace itself was changed:\n%s", again.events)
		}
	}
}

// connection returns what two ranks wrote down of a connection that carried a message of six bytes after a frame of
// eight.
func connection() [][]events.Event {
	part := func(do events.Kind, at, bytes int, segment uint32) events.Event {
		return events.Event{Do: do, Part: &events.Part{At: at, Bytes: bytes, Via: events.Frame, Segment: segment}}
	}
	ranks := [][]events.Event{
		{{Do: events.Step, Sends: []events.Send{{Peer: 1, Data: events.Place{Bytes: 6}}}}, part(events.Put, 0, 6, 0),
			part(events.Wrote, 0, 46, 0), {Do: events.Closed}},
		{part(events.Came, 0, 30, 0), part(events.Framed, 0, 8, 2), part(events.Came, 0, 12, 0),
			part(events.Framed, 24, 6, messageKind),
			part(events.Placed, 0, 2, 0), part(events.Came, 0, 4, 0), part(events.Placed, 2, 4, 0), {Do: events.Closed}},
	}
	for r, all := range ranks {
		for i := range all {
			if all[i].N = uint64(i + 1); all[i].Part != nil {
				all[i].Part.Peer = 1 - r
			}
		}
	}
	return ranks
}

func streamed(t *testing.T) *traceOfStream {
	t.Helper()
	s, err := streamOf(connection(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStreamIsCut: a byte of the model is what no call divides.
func TestStreamIsCut(t *testing.T) {
	got := streamed(t)
	want := &traceOfStream{from: 0, to: 1, stream: stream{sizes: []int{2}, frames: []frame{{head: 2, data: 1},
		{message: 1, left: 2, head: 3, data: 2}}},
		sender: []streamEvent{{line: 3, do: events.Put, message: 1, data: 2}, {line: 4, do: events.Wrote, data: 8}},
		receiver: []streamEvent{{line: 2, do: events.Came, data: 4}, {line: 3, do: events.Framed, data: 1},
			{line: 4, do: events.Came, data: 3},
			{line: 5, do: events.Framed, message: 1, left: 2, data: 2}, {line: 6, do: events.Placed, message: 1, data: 1},
			{line: 7, do: events.Came, data: 1},
			{line: 8, do: events.Placed, message: 1, at: 1, data: 1}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	for what, plant := range map[string]func(ranks [][]events.Event){
		"a frame elsewhere":  func(ranks [][]events.Event) { ranks[1][3].Part.At++ },
		"an unknown message": func(ranks [][]events.Event) { ranks[0][0].Sends = nil },
		"a short frame":      func(ranks [][]events.Event) { ranks[1][3].Part.Bytes-- },
	} {
		ranks := connection()
		plant(ranks)
		if _, err := streamOf(ranks, 0, 1); err == nil {
			t.Errorf("%s: not refused", what)
		}
	}
}
