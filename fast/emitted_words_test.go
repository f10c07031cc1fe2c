package fast

import (
	"fmt"

	"github.com/collgen/collgen/fast/internal/exec"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// eventLines says what a step does, each event a line, in their order.
func eventLines(sends []wire.Send, recvs []wire.Recv, x *exec.Call) (lines []string) {
	for _, s := range sends {
		lines = append(lines, fmt.Sprintf("send to %d: %s", s.Peer, placeWords(x.PlaceOf(s.Data))))
	}
	for _, r := range recvs {
		line := fmt.Sprintf("receive from %d into %s", r.Peer, placeWords(x.PlaceOf(r.Into)))
		if r.Kernel != nil {
			line += fmt.Sprintf(", reduced with %s, received first: %v", placeWords(x.PlaceOf(r.With)), r.ReceivedFirst)
		}
		lines = append(lines, fmt.Sprintf("%s, after send: %v, lent: %v", line, r.AfterSend, r.Lend))
	}
	return lines
}

func placeWords(p events.Place) string {
	if p.Bytes == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%s[%d:%d]", p.Buf, p.At/8, (p.At+p.Bytes)/8)
}

// firstDifference names the first event that is not the schedule's, and the one that is.
func firstDifference(got, want []string) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	event := func(lines []string) string {
		if i < len(lines) {
			return lines[i]
		}
		return "nothing more"
	}
	return fmt.Sprintf("event %d of the code is\n  %s\nof the schedule\n  %s", i, event(got), event(want))
}

// words returns an element as an expression, of a few levels.
func (s *symbols) words(x uint64) string { return s.expression(x, 3) }

func (s *symbols) expression(x uint64, levels int) string {
	if x%s.size != 0 || x/s.size <= 1<<40 && x != 0 {
		return fmt.Sprintf("(%s finished)", s.expression(x*s.size, levels))
	}
	for operands, tree := range s.trees {
		if tree != x {
			continue
		}
		if levels == 0 {
			return "(…)"
		}
		return fmt.Sprintf("(%s ⊕ %s)", s.expression(operands[0], levels-1), s.expression(operands[1], levels-1))
	}
	return fmt.Sprintf("x%d", x/s.size-1<<40)
}
