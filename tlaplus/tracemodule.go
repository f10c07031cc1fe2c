package main

import (
	"fmt"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/emit/tla"
	"github.com/collgen/collgen/internal/events"
	"github.com/collgen/collgen/spec"
)

// check returns the check that Exec, with the schedule of the call, can do what the trace says.
func (t *traceOfCall) check(of string) (*check, error) {
	c := &check{model: "TraceExec", config: of, algorithm: strings.ToLower(t.Primitive) + "/" + t.Algorithm,
		Params: gen.Params{Size: len(t.ranks), Root: t.Root, Peer: max(t.Peer, 0), Depth: t.Depth}, inPlace: t.Shared,
		want: "ok"}
	s, err := c.instance()
	if err != nil {
		return nil, err
	}
	cells, err := t.cells(s)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "---- MODULE Trace ----\n\\* %s\nEXTENDS Naturals, Sequences\n\nCellBytes == %d\n\nTrace == <<\n", of,
		cells.bytes)
	c.states = 1
	for r, all := range t.ranks {
		var lines, numbers []string
		for i := range all {
			text, err := cells.event(r, &all[i])
			if err != nil {
				return nil, fmt.Errorf("rank %d, line %d: %w", r, all[i].N+1, err)
			}
			lines, numbers = append(lines, text), append(numbers, fmt.Sprint(all[i].N+1))
		}
		c.lines = append(c.lines, numbers)
		c.states += len(lines)
		fmt.Fprintf(&b, "  <<\n    %s >>%s\n", strings.Join(lines, ",\n    "), map[bool]string{true: ","}[r < len(t.ranks)-1])
	}
	b.WriteString(">>\n====\n")
	c.events = b.String()
	return c, nil
}

// cells says which cells of the model bytes of a call's buffers are in.
type cells struct {
	s       *gen.Schedule
	inPlace bool
	bytes   int // of a cell
}

func (t *traceOfCall) cells(s *gen.Schedule) (*cells, error) {
	block := t.Count * t.Element
	if s.Chunks == 0 || block%s.Chunks != 0 || block == 0 {
		return nil, fmt.Errorf("blocks of %d bytes cannot be cut into %d equal chunks", block, s.Chunks)
	}
	return &cells{s: s, inPlace: t.Shared, bytes: block / s.Chunks}, nil
}

// of returns the cells of a place of rank's.
func (c *cells) of(rank int, p *events.Place) (string, error) {
	if p.At%c.bytes != 0 || p.Bytes%c.bytes != 0 {
		return "", fmt.Errorf("%d bytes from byte %d on are no whole chunks of %d", p.Bytes, p.At, c.bytes)
	}
	buf := map[string]spec.Buf{"in": spec.In, "out": spec.Out, "scratch": spec.Scratch}[p.Buf]
	var numbers []string
	for i := range p.Bytes / c.bytes {
		n, err := tla.Cell(c.s, c.inPlace, rank, buf, p.At/c.bytes+i)
		if err != nil {
			return "", err
		}
		numbers = append(numbers, fmt.Sprint(n))
	}
	return "<<" + strings.Join(numbers, ", ") + ">>", nil
}

// lends are the ways of parts whose memory is read until an event says that it is not any more.
var lends = map[events.Via]bool{events.Region: true, events.Process: true, events.Memory: true, events.Frame: true}

// event returns e of rank's as a record.
func (c *cells) event(rank int, e *events.Event) (string, error) {
	switch e.Do {
	case events.Step:
		sends, recvs := make([]string, len(e.Sends)), make([]string, len(e.Recvs))
		for i := range e.Sends {
			data, err := c.of(rank, &e.Sends[i].Data)
			if err != nil {
				return "", err
			}
			sends[i] = fmt.Sprintf("<<%d, %s>>", e.Sends[i].Peer, data)
		}
		for i := range e.Recvs {
			m := &e.Recvs[i]
			into, err := c.of(rank, &m.Into)
			with := "<<>>"
			if err == nil && m.With != nil {
				with, err = c.of(rank, m.With)
			}
			if err != nil {
				return "", err
			}
			recvs[i] = fmt.Sprintf("<<%d, %s, %s>>", m.Peer, into, with)
		}
		return fmt.Sprintf("[do |-> %q, sends |-> {%s}, recvs |-> {%s}]", e.Do, strings.Join(sends, ", "),
			strings.Join(recvs, ", ")), nil
	case events.Put, events.Sent, events.Placed:
		p := e.Part
		return fmt.Sprintf("[do |-> %q, peer |-> %d, at |-> %d, bytes |-> %d, lends |-> %s]", e.Do, p.Peer, p.At, p.Bytes,
			strings.ToUpper(fmt.Sprint(lends[p.Via]))), nil
	case events.Copy, events.Reduce, events.Finish:
		into, err := c.of(rank, &e.Local.Into)
		from := make([]string, len(e.Local.From))
		for i := 0; err == nil && i < len(from); i++ {
			from[i], err = c.of(rank, &e.Local.From[i])
		}
		return fmt.Sprintf("[do |-> %q, into |-> %s, from |-> <<%s>>]", e.Do, into, strings.Join(from, ", ")), err
	}
	return fmt.Sprintf("[do |-> %q]", e.Do), nil
}
