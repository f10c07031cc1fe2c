package replay

import (
	"fmt"
	"strings"

	"github.com/collgen/collgen/internal/events"
)

// words returns an event in words.
func words(e *events.Event) string {
	switch {
	case e.Part != nil:
		return fmt.Sprintf("%s: rank %d, %s", e.Do, e.Part.Peer, partWords(e.Part))
	case e.Local != nil:
		return localWords(e.Do, e.Local)
	case e.Call != nil:
		return fmt.Sprintf("%s: %s number %d, %s, %d elements of %s", e.Do, e.Call.Primitive, e.Call.Seq, e.Call.Algorithm,
			e.Call.Count, e.Call.Type)
	case e.Do == events.Step:
		return fmt.Sprintf("%s: %d sends, %d receives", e.Do, len(e.Sends), len(e.Recvs))
	case e.Notice != nil:
		return fmt.Sprintf("%s: from rank %d, of rank %d: %s, rank %d", e.Do, e.Notice.From, e.Notice.By, e.Notice.State,
			e.Notice.Rank)
	case e.Ended != nil:
		return fmt.Sprintf("%s: %s", e.Do, e.Ended.Error)
	}
	return string(e.Do)
}

func partWords(p *events.Part) string {
	lent := ""
	if p.Lent {
		lent = ", lent"
	}
	return fmt.Sprintf("bytes %d to %d by %s, segment %d%s", p.At, p.At+p.Bytes, p.Via, p.Segment, lent)
}

func placeWords(p events.Place) string {
	if p.Bytes == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%s[%d:%d]", p.Buf, p.At, p.At+p.Bytes)
}

func sendWords(s *events.Send) string {
	return fmt.Sprintf("to rank %d: %s, of call %#x", s.Peer, placeWords(s.Data), s.Call)
}

func recvWords(r *events.Recv) string {
	line := fmt.Sprintf("from rank %d: %s, of call %#x", r.Peer, placeWords(r.Into), r.Call)
	if r.With != nil {
		line += ", reduced with " + placeWords(*r.With)
	}
	return fmt.Sprintf("%s, received first: %v, after send: %v, may be lent: %v", line, r.ReceivedFirst, r.AfterSend,
		r.Lend)
}

func localWords(do events.Kind, l *events.Local) string {
	var from []string
	for _, p := range l.From {
		from = append(from, placeWords(p))
	}
	line := fmt.Sprintf("%s into %s", do, placeWords(l.Into))
	if len(from) > 0 {
		line += " of " + strings.Join(from, ", ")
	}
	if l.Lent {
		line += ", lent"
	}
	return line
}

// due returns what c has to do next, in words.
func (c *call) due() string {
	if c.moved {
		do, l := c.operation()
		return localWords(do, l)
	}
	sends, recvs := c.messages()
	var lines []string
	for _, s := range sends {
		lines = append(lines, sendWords(&s))
	}
	for _, r := range recvs {
		lines = append(lines, recvWords(&r))
	}
	return strings.Join(lines, "; ")
}
