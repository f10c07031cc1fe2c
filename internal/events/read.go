package events

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// Limits of a file, so that a corrupt one does no harm.
const (
	maxLine  = 4 << 20
	maxRanks = 1 << 16
	maxBytes = 1 << 48 // of a buffer
	maxRing  = 1 << 16 // segments
)

// File is the file of one process.
type File struct {
	Header
	Events []Event
}

// Read reads a file. It returns an error at the first line that no rank writes. A last line without an end, which a
// killed process can leave, is ignored.
func Read(r io.Reader) (*File, error) {
	in := bufio.NewReader(r)
	var f File
	for n := 1; ; n++ {
		line, err := readLine(in)
		switch {
		case err == io.EOF && n == 1:
			return nil, errors.New("the file has no header")
		case err == io.EOF:
			return &f, nil
		case err == nil:
			err = f.add(n, line)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
}

// readLine returns the next complete line.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > maxLine:
			return nil, errors.New("it is too long")
		case err != bufio.ErrBufferFull:
			return line, err
		}
	}
}

// add parses line n.
func (f *File) add(n int, line []byte) error {
	if n == 1 {
		if err := decode(line, &f.Header); err != nil {
			return err
		}
		return f.Header.check()
	}
	var e Event
	if err := decode(line, &e); err != nil {
		return err
	}
	if want := uint64(n - 1); e.N != want {
		return fmt.Errorf("event %d comes where event %d has to be", e.N, want)
	}
	f.Events = append(f.Events, e)
	return e.check()
}

// decode parses a line with a single value.
func decode(line []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is more than one value")
	}
	return nil
}

func (h *Header) check() error {
	switch {
	case h.Format != Format:
		return fmt.Errorf("the format is %q, want %q", h.Format, Format)
	case h.Process < 0 || h.Process >= maxRanks || h.Size < 1 || h.Size > maxRanks:
		return fmt.Errorf("there is no process %d of %d", h.Process, h.Size)
	}
	return printable(h.Job)
}

// has reports, for each kind of event, whether an event has the fields of that kind.
var has = map[Kind]func(e *Event) bool{
	Joined: func(e *Event) bool { return e.Member != nil },
	Begin:  func(e *Event) bool { return e.Call != nil },
	Step:   func(e *Event) bool { return len(e.Sends)+len(e.Recvs) > 0 },
	Put:    hasPart, Sent: hasPart, Taken: hasPart, Placed: hasPart, Freed: hasPart, Wrote: hasPart, Came: hasPart,
	Framed: hasPart,
	Done:   hasNothing, End: hasNothing, Closed: hasNothing,
	Copy: hasLocal, Reduce: hasLocal, Finish: hasLocal,
	Failed: hasEnded, Lost: hasEnded, Fate: hasEnded,
	Tell: hasNotice, Heard: hasNotice,
	Agree: func(e *Event) bool { return e.Agreed != nil },
}

func hasNothing(*Event) bool  { return true }
func hasPart(e *Event) bool   { return e.Part != nil }
func hasLocal(e *Event) bool  { return e.Local != nil }
func hasEnded(e *Event) bool  { return e.Ended != nil }
func hasNotice(e *Event) bool { return e.Notice != nil }

// check returns an error if e is invalid by itself.
func (e *Event) check() error {
	complete, known := has[e.Do]
	switch {
	case !known:
		return fmt.Errorf("there is no event %q", e.Do)
	case !complete(e):
		return fmt.Errorf("the event %q does not say of what", e.Do)
	}
	for _, check := range []func() error{e.checkTexts, e.checkMember, e.checkCall, e.checkMessages, e.checkPart} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (e *Event) checkMember() error {
	m := e.Member
	switch {
	case m == nil:
		return nil
	case m.Size < 1 || m.Size > maxRanks || m.Rank < 0 || m.Rank >= m.Size || len(m.Processes) != m.Size:
		return fmt.Errorf("there is no rank %d of %d, which are %d processes", m.Rank, m.Size, len(m.Processes))
	case !isRing(m.Slots) || !isRing(m.Lines):
		return fmt.Errorf("a ring of %d slots and %d lines", m.Slots, m.Lines)
	}
	return nil
}

func (e *Event) checkCall() error {
	c := e.Call
	switch {
	case c == nil:
		return nil
	case c.Element < 1 || c.Element > 16 || !isLength(c.Count) || c.Depth < 1 || !isLength(c.Depth) || c.Local < 0 ||
		!isLength(c.Local):
		return fmt.Errorf("a call with %d elements of %d bytes, depth %d", c.Count, c.Element, c.Depth)
	case !isLength(c.In) || !isLength(c.Out) || !isLength(max(c.InAt, -c.InAt)):
		return fmt.Errorf("a call with buffers of %d and %d bytes, %d apart", c.In, c.Out, c.InAt)
	case len(c.InBlocks) > maxRanks || len(c.OutBlocks) > maxRanks:
		return fmt.Errorf("a call with %d and %d blocks", len(c.InBlocks), len(c.OutBlocks))
	case slices.ContainsFunc(slices.Concat(c.InBlocks, c.OutBlocks), func(b Block) bool {
		return !isLength(b.At) ||
			!isLength(b.Bytes)
	}):
		return fmt.Errorf("a call with blocks %v and %v", c.InBlocks, c.OutBlocks)
	case !isRank(c.Root) || c.Peer != -1 && !isRank(c.Peer):
		return fmt.Errorf("a call with root %d and peer %d", c.Root, c.Peer)
	}
	return nil
}

func (e *Event) checkMessages() error {
	for _, s := range e.Sends {
		if !isRank(s.Peer) || !s.Data.isPlace() {
			return fmt.Errorf("the send %+v", s)
		}
	}
	for _, r := range e.Recvs {
		if !isRank(r.Peer) || !r.Into.isPlace() || r.With != nil && !r.With.isPlace() {
			return fmt.Errorf("the receive %+v", r)
		}
	}
	if l := e.Local; l != nil && (!l.Into.isPlace() ||
		slices.ContainsFunc(l.From, func(p Place) bool { return !p.isPlace() })) {
		return fmt.Errorf("the operation %+v", *l)
	}
	return nil
}

func (e *Event) checkPart() error {
	if p := e.Part; p != nil && (!isRank(p.Peer) || !isLength(p.At) || !isLength(p.Bytes)) {
		return fmt.Errorf("the part %+v", *p)
	}
	return nil
}

func isRing(n int) bool   { return n >= 0 && n <= maxRing }
func isRank(n int) bool   { return n >= 0 && n < maxRanks }
func isLength(n int) bool { return n >= 0 && int64(n) <= maxBytes }

func (p *Place) isPlace() bool { return isLength(p.At) && isLength(p.Bytes) }

// checkTexts returns an error if a text has control characters, which a terminal would obey.
func (e *Event) checkTexts() error {
	texts := []string{}
	if e.Member != nil {
		texts = append(texts, e.Member.Name, e.Member.Transport)
	}
	if e.Call != nil {
		texts = append(texts, e.Call.Primitive, e.Call.Algorithm, e.Call.Op, e.Call.Type)
	}
	if e.Ended != nil {
		texts = append(texts, e.Ended.State, e.Ended.Error)
	}
	if e.Notice != nil {
		texts = append(texts, e.Notice.State, e.Notice.Down)
	}
	if e.Agreed != nil {
		texts = append(texts, e.Agreed.What)
	}
	return printable(texts...)
}

func printable(texts ...string) error {
	if slices.ContainsFunc(texts, func(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }) {
		return errors.New("it has control characters")
	}
	return nil
}
