package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/internal/events"
	"github.com/collgen/collgen/internal/events/edit"
)

// traceOfStream is what became of the bytes of one connection of TCP, from one rank to another.
type traceOfStream struct {
	stream
	from, to         int // ranks
	dies             bool
	sender, receiver []streamEvent
}

// streamEvent is an event as model TraceStream has it, in bytes of the model.
type streamEvent struct {
	line                    uint64
	do                      events.Kind
	message, at, left, data int
}

// What the events of a connection say of its bytes.
const (
	messageKind  = 1 // of the frames of messages, as in package linkproto
	headerBytes  = 16
	segmentBytes = 1 << 20
)

// place is where a frame of a real run lies in all that goes over the connection.
type place struct {
	message, before, left, data int // before: bytes of the message in earlier frames
	at                          int
}

// streamOf takes it out of all events of a communicator. What the receiver never took lies behind all frames, as if it
// were one that is no message's.
func streamOf(ranks [][]events.Event, from, to int) (*traceOfStream, error) {
	t := &traceOfStream{from: from, to: to, dies: !slices.ContainsFunc(ranks[from],
		func(e events.Event) bool { return e.Do == events.Closed })}
	var sizes []int
	for _, e := range ranks[from] {
		for _, s := range e.Sends {
			if s.Peer == to {
				sizes = append(sizes, s.Data.Bytes)
			}
		}
	}
	places, err := placesOf(ranks[to], from, sizes)
	if err != nil {
		return nil, err
	}
	c := &cutter{places: places}
	c.cut(ranks[from], to, events.Wrote)
	c.cut(ranks[to], from, events.Came)
	for _, e := range ranks[to] {
		if e.Do == events.Placed && e.Part.Peer == from {
			c.part(e.Part)
		}
	}
	slices.Sort(c.cuts)
	c.cuts = slices.Compact(c.cuts)
	t.stream = c.stream()
	t.sender, t.receiver = c.events(ranks[from], to, events.Put, events.Wrote), c.events(ranks[to], from, events.Came,
		events.Framed, events.Placed)
	return t, nil
}

// placesOf returns the frames that the receiver took of a connection with messages of these sizes.
func placesOf(all []events.Event, from int, sizes []int) (places []place, err error) {
	m, before, at := 0, 0, 0
	for _, e := range all {
		if e.Do != events.Framed || e.Part.Peer != from {
			continue
		}
		p := place{at: at, data: e.Part.Bytes}
		if at += headerBytes + p.data; e.Part.At != p.at {
			return nil, fmt.Errorf("line %d: a frame at %d, want %d", e.N+1, e.Part.At, p.at)
		}
		if e.Part.Segment == messageKind {
			if m > 0 && before == sizes[m-1] || m == 0 {
				m, before = m+1, 0
			}
			if m > len(sizes) || p.data != min(sizes[m-1]-before, segmentBytes) {
				return nil, fmt.Errorf("line %d: %d bytes of message %d of %d, after %d", e.N+1, p.data, m, len(sizes), before)
			}
			p.message, p.before, p.left = m, before, sizes[m-1]-before
			before += p.data
		}
		places = append(places, p)
	}
	return places, nil
}

// cutter cuts what went over a connection wherever a system call or a receiver has divided it. What lies between two
// cuts is a byte of the model.
type cutter struct {
	places []place
	cuts   []int
	m      int // the message that is followed
}

// cut takes the calls of one kind of a rank.
func (c *cutter) cut(all []events.Event, peer int, do events.Kind) {
	at := 0
	for _, p := range c.places {
		c.cuts = append(c.cuts, p.at, p.at+headerBytes/2, p.at+headerBytes, p.at+headerBytes+p.data)
	}
	for _, e := range all {
		if e.Do == do && e.Part.Peer == peer {
			at += e.Part.Bytes
			c.cuts = append(c.cuts, at)
		}
	}
}

// in returns where byte at of message m lies, and its frame.
func (c *cutter) in(m, at int) (int, *place) {
	for i := range c.places {
		if p := &c.places[i]; p.message == m && at >= p.before && at < p.before+max(p.data, 1) {
			return p.at + headerBytes + at - p.before, p
		}
	}
	return 0, nil
}

// next has parts from the beginning of a message belong to the next one.
func (c *cutter) next(part *events.Part) {
	if part.At == 0 {
		c.m++
	}
}

// part takes a part that was placed.
func (c *cutter) part(part *events.Part) {
	c.next(part)
	if at, p := c.in(c.m, part.At); p != nil {
		c.cuts = append(c.cuts, at, at+part.Bytes)
	}
}

// count returns how many bytes of the model lie between two places.
func (c *cutter) count(from, to int) int {
	i, _ := slices.BinarySearch(c.cuts, from)
	j, _ := slices.BinarySearch(c.cuts, to)
	return j - i
}

// upTo returns how many bytes of the model message m has up to its byte at.
func (c *cutter) upTo(m, at int) (n int) {
	for _, p := range c.places {
		if p.message == m && at > p.before {
			n += c.count(p.at+headerBytes, p.at+headerBytes+min(p.data, at-p.before))
		}
	}
	if last := c.framed(m); at > last {
		n++ // what was never framed
	}
	return n
}

// framed returns how many bytes of message m were framed.
func (c *cutter) framed(m int) (n int) {
	for _, p := range c.places {
		if p.message == m {
			n += p.data
		}
	}
	return n
}

// frame returns p in bytes of the model.
func (c *cutter) frame(p *place) frame {
	f := frame{message: p.message, head: c.count(p.at, p.at+headerBytes), data: c.count(p.at+headerBytes,
		p.at+headerBytes+p.data)}
	if p.message > 0 {
		f.left = c.upTo(p.message, p.before+p.left) - c.upTo(p.message, p.before)
	}
	return f
}

// stream returns all of it.
func (c *cutter) stream() (s stream) {
	end := 0
	for i := range c.places {
		p := &c.places[i]
		s.frames = append(s.frames, c.frame(p))
		if p.message > len(s.sizes) {
			s.sizes = append(s.sizes, c.upTo(p.message, p.left))
		}
		end = p.at + headerBytes + p.data
	}
	if last := c.cuts[len(c.cuts)-1]; last > end {
		s.frames = append(s.frames, frame{head: 1, data: c.count(end, last) - 1})
	}
	return s
}

// events returns those of a rank, of some kinds, that say something of the connection to or from peer.
func (c *cutter) events(all []events.Event, peer int, kinds ...events.Kind) (found []streamEvent) {
	c.m = 0
	moved, frames := 0, 0
	for _, e := range all {
		if !slices.Contains(kinds, e.Do) || e.Part.Peer != peer {
			continue
		}
		x := streamEvent{line: e.N + 1, do: e.Do}
		switch e.Do {
		case events.Wrote, events.Came:
			x.data = c.count(moved, moved+e.Part.Bytes)
			moved += e.Part.Bytes
		case events.Framed:
			f := c.frame(&c.places[frames])
			frames++
			x.message, x.left, x.data = f.message, f.left, f.data
		default:
			c.next(e.Part)
			at, p := c.in(c.m, e.Part.At)
			if p == nil {
				continue // never taken
			}
			x.message, x.at, x.data = c.m, c.upTo(c.m, e.Part.At), c.count(at, at+e.Part.Bytes)
		}
		found = append(found, x)
	}
	return found
}

// check returns the check that TcpStream can do what the trace says.
func (t *traceOfStream) check(of string) *check {
	c := &check{model: "TraceTcpStream", config: fmt.Sprintf("%s, stream from %d to %d", of, t.from, t.to), want: "ok",
		states: -1,
		lines:  make([][]string, max(t.from, t.to)+1), frames: t.stream.module()}
	text := func(rank int, all []streamEvent) string {
		var records []string
		for _, e := range all {
			c.lines[rank] = append(c.lines[rank], fmt.Sprint(e.line))
			records = append(records, fmt.Sprintf("[do |-> %q, message |-> %d, at |-> %d, left |-> %d, bytes |-> %d]", e.do,
				e.message, e.at, e.left, e.data))
		}
		return strings.Join(records, ",\n    ")
	}
	c.events = fmt.Sprintf("---- MODULE Trace ----\n\\* %s\nEXTENDS Naturals, Sequences\n\nSenderRank == "+
		"%d\nReceiverRank == %d\nSenderDies == %s\n\n"+
		"Trace(p) ==\n  IF p = \"S\" THEN <<\n    %s >>\n  ELSE <<\n    %s >>\n====\n", c.config, t.from, t.to,
		strings.ToUpper(fmt.Sprint(t.dies)), text(t.from, t.sender), text(t.to, t.receiver))
	return c
}

// doctored returns checks of traces that no connection has. Each has to be refused at the right line.
func (t *traceOfStream) doctored(of string) (checks []*check, err error) {
	came, framed := t.followed(events.Came), t.followed(events.Framed)
	put := -1 // the first one that is written at once, and nothing with it
	for i := len(t.sender) - 2; i >= 0; i-- {
		if t.sender[i].do == events.Put && t.sender[i+1].do == events.Wrote && (i == 0 || t.sender[i-1].do == events.Wrote) {
			put = i
		}
	}
	if came < 0 || framed < 0 || put < 0 {
		return nil, fmt.Errorf("the stream from %d to %d has no events to change", t.from, t.to)
	}
	add := func(what string, rank int, changed []streamEvent, line uint64) {
		x := *t
		if rank == t.from {
			x.sender = changed
		} else {
			x.receiver = changed
		}
		checks = append(checks, x.check(of+", "+what).refusing(rank, line))
	}
	lost := slices.Clone(t.receiver)
	lost[came].data--
	twice := slices.Insert(slices.Clone(t.receiver), framed, t.receiver[framed], t.receiver[framed+1])
	add("a byte is lost", t.to, lost, t.receiver[came+1].line)
	add("a segment comes twice", t.to, twice, t.receiver[framed].line)
	add("data before their header", t.to, edit.Swap(t.receiver, framed), t.receiver[framed+1].line)
	add("complete before the last byte", t.to, edit.Swap(t.receiver, came), t.receiver[came+1].line)
	add("written before it is framed", t.from, edit.Swap(t.sender, put), t.sender[put+1].line)
	return checks, nil
}

// followed returns the last event of that kind after which data are placed at once, all that there are; -1: there is
// none.
func (t *traceOfStream) followed(do events.Kind) int {
	found, there, frames := -1, 0, 0
	for i, e := range t.receiver {
		switch e.do {
		case events.Came:
			there += e.data
		case events.Framed:
			there -= t.frames[frames].head
			if e.message == 0 {
				there -= e.data
			}
			frames++
		default:
			if i > 0 && t.receiver[i-1].do == do && e.data > 0 && e.data == there {
				found = i - 1
			}
			there -= e.data
		}
	}
	return found
}
