// Package counterexample shows what is wrong with a schedule: the steps around an instruction in words, and a picture
// of ranks, steps and messages as SVG.
package counterexample

import (
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
)

// The text is bounded: a root's step may have a thousand sends.
const (
	textRanks = 4
	textItems = 8
)

// Steps returns the steps around an instruction, of its rank and of ranks that it exchanges messages with: a line each.
func Steps(s *gen.Schedule, rank, instr int) string {
	in := &s.Ranks[rank].Instrs[instr]
	ranks := []int{rank}
	for i := range s.Ranks[rank].Instrs {
		x := &s.Ranks[rank].Instrs[i]
		isPeer := (x.Kind == gen.SendInstr || x.Kind.IsReceive()) && x.Peer >= 0 && x.Peer < len(s.Ranks)
		if isPeer && x.Step == in.Step && len(ranks) < textRanks && !slices.Contains(ranks, x.Peer) {
			ranks = append(ranks, x.Peer)
		}
	}
	var b strings.Builder
	b.WriteString("the steps around it:\n")
	for _, r := range ranks {
		for step := in.Step - 1; step <= in.Step+1; step++ {
			if items := stepItems(s.Ranks[r].Instrs, step); len(items) > 0 {
				mark := "  "
				if r == rank && step == in.Step {
					mark = "> "
				}
				fmt.Fprintf(&b, "%srank %d step %d: %s\n", mark, r, step, strings.Join(items, "; "))
			}
		}
	}
	return b.String()
}

func stepItems(instrs []gen.Instr, step int) []string {
	var items []string
	for i := range instrs {
		switch in := &instrs[i]; {
		case in.Step != step || in.Kind == gen.JoinInstr:
		case len(items) == textItems:
			return append(items, "…")
		default:
			items = append(items, Text(in))
		}
	}
	return items
}

// Text returns an instruction in words. The instruction may be of any shape.
func Text(in *gen.Instr) string {
	srcs := make([]string, len(in.Srcs))
	for i, p := range in.Srcs {
		srcs[i] = p.String()
	}
	from := strings.Join(srcs, ", ")
	switch in.Kind {
	case gen.JoinInstr:
		return "join"
	case gen.SendInstr:
		return fmt.Sprintf("send %s to %d", from, in.Peer)
	case gen.RecvInstr:
		return fmt.Sprintf("recv %v from %d", in.Dst, in.Peer)
	case gen.RecvReduceInstr:
		if in.ReceivedFirst {
			return fmt.Sprintf("%v = received from %d ⊕ %s", in.Dst, in.Peer, from)
		}
		return fmt.Sprintf("%v = %s ⊕ received from %d", in.Dst, from, in.Peer)
	case gen.CopyInstr:
		return fmt.Sprintf("%v = %s", in.Dst, from)
	case gen.ReduceInstr:
		return fmt.Sprintf("%v = %s", in.Dst, strings.Join(srcs, " ⊕ "))
	case gen.FinishInstr:
		return fmt.Sprintf("finish %v", in.Dst)
	}
	return fmt.Sprintf("instruction of kind %d", in.Kind)
}
