package main

import (
	"fmt"
	"strings"

	"github.com/collgen/collgen/internal/events"
	"github.com/collgen/collgen/internal/events/edit"
)

// traceOfRing is what became of the segments of one ring of shared memory.
type traceOfRing struct {
	from, to         int // ranks
	sender, receiver []events.Event
}

// ringOf takes it out of all events of a communicator.
func ringOf(ranks [][]events.Event, from, to int) *traceOfRing {
	t := &traceOfRing{from: from, to: to}
	for _, e := range ranks[from] {
		if e.Do == events.Put && e.Part.Peer == to {
			t.sender = append(t.sender, e)
		}
	}
	for _, e := range ranks[to] {
		if (e.Do == events.Placed || e.Do == events.Freed) && e.Part.Peer == from {
			t.receiver = append(t.receiver, e)
		}
	}
	return t
}

// check returns the check that ShmRing can do what the trace says.
func (t *traceOfRing) check(of string) *check {
	c := &check{model: "TraceShmRing", config: fmt.Sprintf("%s, ring from %d to %d", of, t.from, t.to), want: "ok",
		states: -1,
		lines:  make([][]string, max(t.from, t.to)+1)}
	for _, end := range []struct {
		rank int
		all  []events.Event
	}{{t.from, t.sender}, {t.to, t.receiver}} {
		for _, e := range end.all {
			c.lines[end.rank] = append(c.lines[end.rank], fmt.Sprint(e.N+1))
		}
	}
	c.events = fmt.Sprintf("---- MODULE Trace ----\n\\* %s\nEXTENDS Naturals, Sequences\n\nSenderRank == "+
		"%d\nReceiverRank == %d\n\n"+
		"Trace(p) ==\n  IF p = \"S\" THEN <<\n    %s >>\n  ELSE <<\n    %s >>\n====\n", c.config, t.from, t.to,
		records(t.sender), records(t.receiver))
	return c
}

// records returns the events of one end of a ring. A part that is not the last one of its segment is a piece.
func records(all []events.Event) string {
	lines := make([]string, len(all))
	for i, e := range all {
		do := string(e.Do)
		if e.Do == events.Placed && i+1 < len(all) && all[i+1].Do == events.Placed &&
			all[i+1].Part.Segment == e.Part.Segment &&
			all[i+1].Part.At > e.Part.At {
			do = "piece"
		}
		lines[i] = fmt.Sprintf("[do |-> %q, segment |-> %d, lent |-> %s]", do, e.Part.Segment,
			strings.ToUpper(fmt.Sprint(e.Part.Lent)))
	}
	return strings.Join(lines, ",\n    ")
}

// slots is how many segments a ring holds, as in config/TraceShmRing.cfg.
const slots = 8

// doctored returns checks of traces that no ring has. Each has to be refused at the right line.
func (t *traceOfRing) doctored(of string) ([]*check, error) {
	if len(t.sender) <= slots || len(t.receiver) <= slots {
		return nil, fmt.Errorf("%d segments, too few to use a slot twice", len(t.sender))
	}
	skips, twice, full := *t, *t, *t
	skips.sender = edit.Drop(t.sender, 2)
	twice.receiver = edit.Double(t.receiver, 0)
	full.receiver = nil
	var checks []*check
	for _, d := range []struct {
		what string
		*traceOfRing
		rank int
		line uint64
	}{
		{"a segment is left out", &skips, t.from, t.sender[3].N},
		{"a segment is taken twice", &twice, t.to, t.receiver[0].N},
		{"nothing is taken", &full, t.from, t.sender[slots].N},
	} {
		checks = append(checks, d.check(of+", "+d.what).refusing(d.rank, d.line+1))
	}
	return checks, nil
}
