package text

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/collgen/collgen/gen"
)

// tableWidth is how wide a table may be, if one rank alone is not wider.
const tableWidth = 140

// Table returns s as a table with a column for each rank and a row for each round, as text; a wide one is cut into
// several. A rank's step stands in the first round in which all it receives can have been sent; rounds have no meaning
// else.
//
//	in[0] → 1              a message to rank 1
//	out[0] ← 1             a message from rank 1
//	out[0] = in[0] ⊕ ←1    a receive-reduce
//	out[0] = in[0]         a copy
//	out[0] = ⊕ scratch[0..3)
func Table(s *gen.Schedule) string {
	rounds := s.Rounds()
	cells := make([][][]string, len(s.Ranks)) // lines by rank and round
	for rank := range s.Ranks {
		for i := range s.Ranks[rank].Instrs {
			in := &s.Ranks[rank].Instrs[i]
			if in.Kind == gen.JoinInstr {
				continue
			}
			round := rounds[rank][in.Step]
			for len(cells[rank]) <= round {
				cells[rank] = append(cells[rank], nil)
			}
			cells[rank][round] = append(cells[rank][round], instruction(in))
		}
	}
	var b strings.Builder
	for first := 0; first < len(cells); {
		end, widths := fit(cells, first)
		if first > 0 {
			b.WriteString("\n")
		}
		table(&b, cells[first:end], widths, first)
		first = end
	}
	return b.String()
}

// fit returns how far a table from rank first on may go, and how wide its columns are.
func fit(cells [][][]string, first int) (end int, widths []int) {
	total := len("round")
	for end = first; end < len(cells); end++ {
		width := len(fmt.Sprint("rank ", end))
		for _, lines := range cells[end] {
			for _, line := range lines {
				width = max(width, utf8.RuneCountInString(line))
			}
		}
		total += 2 + width
		if total > tableWidth && end > first {
			break
		}
		widths = append(widths, width)
	}
	return end, widths
}

func table(b *strings.Builder, cells [][][]string, widths []int, first int) {
	header := make([]string, len(cells))
	depth := 0
	for i := range cells {
		header[i] = fmt.Sprint("rank ", first+i)
		depth = max(depth, len(cells[i]))
	}
	row(b, "round", header, widths)
	for round := range depth {
		label := fmt.Sprint(round)
		for line := 0; ; line++ {
			items := make([]string, len(cells))
			for i := range cells {
				if round < len(cells[i]) && line < len(cells[i][round]) {
					items[i] = cells[i][round][line]
				}
			}
			if line > 0 && !slices.ContainsFunc(items, func(s string) bool { return s != "" }) {
				break
			}
			row(b, label, items, widths)
			label = ""
		}
	}
}

func row(b *strings.Builder, label string, items []string, widths []int) {
	line := fmt.Sprintf("%5s", label)
	for i, item := range items {
		line += fmt.Sprintf("  %-*s", widths[i], item)
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// instruction returns in, in few letters.
func instruction(in *gen.Instr) string {
	switch in.Kind {
	case gen.SendInstr:
		return strings.TrimSpace(fmt.Sprintf("%s → %d", place(in.Srcs[0]), in.Peer))
	case gen.RecvInstr:
		return strings.TrimSpace(fmt.Sprintf("%s ← %d", place(in.Dst), in.Peer))
	case gen.RecvReduceInstr:
		if in.ReceivedFirst {
			return fmt.Sprintf("%v = ←%d ⊕ %v", in.Dst, in.Peer, in.Srcs[0])
		}
		return fmt.Sprintf("%v = %v ⊕ ←%d", in.Dst, in.Srcs[0], in.Peer)
	case gen.CopyInstr:
		return fmt.Sprintf("%v = %v", in.Dst, in.Srcs[0])
	case gen.ReduceInstr:
		return fmt.Sprintf("%v = %s", in.Dst, operands(in.Srcs))
	}
	return fmt.Sprintf("finish %v", in.Dst)
}

// place returns p, or nothing for an empty message.
func place(p gen.Place) string {
	if p.Buf == "" {
		return ""
	}
	return p.String()
}

// operands returns those of a reduction: a row of places as one.
func operands(srcs []gen.Place) string {
	row := srcs[0]
	row.N = 0
	var items []string
	for i, p := range srcs {
		items = append(items, p.String())
		if p.Buf == row.Buf && p.At == row.At+i && p.N == 1 && row.N == i {
			row.N++
		}
	}
	if len(srcs) > 2 && row.N == len(srcs) {
		return "⊕ " + row.String()
	}
	return strings.Join(items, " ⊕ ")
}
