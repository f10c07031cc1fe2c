package view

import (
	"fmt"
	"sort"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// nodes are the inner nodes of what cells hold; equal trees are one node.
type nodes struct {
	pairs []int          // two for each
	known map[[2]int]int // by pair
	sets  []rankSet      // by node, the ranks that contribute
	ofMet map[string]int // by set
}

// inner returns the node of left ⊕ right, or of the finished left.
func (r *run) inner(left, right int) int {
	n := &r.nodes
	if n.known == nil {
		n.known = map[[2]int]int{}
	}
	i, ok := n.known[[2]int{left, right}]
	if !ok {
		i = len(n.sets)
		set := n.set(r, left)
		if right >= 0 {
			set = set.joined(n.set(r, right))
		}
		n.pairs, n.sets = append(n.pairs, left, right), append(n.sets, set)
		n.known[[2]int{left, right}] = i
	}
	return r.cells + i
}

// met returns the index of the node that stands for a set of ranks.
func (n *nodes) met(s rankSet) int {
	if n.ofMet == nil {
		n.ofMet = map[string]int{}
	}
	i, ok := n.ofMet[fmt.Sprint(s)]
	if !ok {
		i = len(n.sets)
		n.pairs, n.sets = append(n.pairs, Met, Met), append(n.sets, s)
		n.ofMet[fmt.Sprint(s)] = i
	}
	return i
}

// set returns the ranks whose inputs are in a node.
func (n *nodes) set(r *run, node int) rankSet {
	if node >= r.cells {
		return n.sets[node-r.cells]
	}
	s := newRankSet(r.s.Size)
	if rank, p := r.owner(node); p.Buf == met || r.isInput(rank, p) {
		s.add(rank)
	}
	return s
}

// operands returns the children of an inner node; the second may be Finished, and both Met.
func (r *run) operands(node int) (left, right int) {
	i := 2 * (node - r.cells)
	return r.nodes.pairs[i], r.nodes.pairs[i+1]
}

// owner returns the rank and the place of a cell. One that In and Out share is In's.
func (r *run) owner(cell int) (rank int, p gen.Place) {
	if r.metAt != nil && cell >= r.metAt[0] {
		return cell - r.metAt[0], gen.Place{Buf: met, N: 1}
	}
	rank = sort.Search(len(r.start), func(i int) bool { return r.start[i] > cell }) - 1
	for i, buf := range bufs {
		if at := cell - r.base[i][rank]; at >= 0 && at < r.s.Ranks[rank].Len(buf) {
			return rank, gen.Place{Buf: buf, At: at, N: 1}
		}
	}
	return -1, gen.Place{}
}

// isInput reports whether a place of a rank holds an input before the call.
func (r *run) isInput(rank int, p gen.Place) bool {
	return p.Buf == spec.In && r.want.Ranks[rank].Given[p.At/r.s.Chunks].Kind == spec.Input
}

// text returns a node as people write it, like package verify: (in0[2] ⊕ in1[2]).
func (r *run) text(node int) string {
	var b strings.Builder
	r.writeNode(&b, node)
	return b.String()
}

func (r *run) writeNode(b *strings.Builder, node int) {
	const enough = 300
	switch {
	case b.Len() > enough:
		b.WriteString("…")
	case node < r.cells:
		rank, p := r.owner(node)
		if !r.isInput(rank, p) {
			b.WriteString("old ")
		}
		fmt.Fprintf(b, "%s%d[%d]", p.Buf, rank, p.At)
	default:
		left, right := r.operands(node)
		if right == Finished {
			b.WriteString("finish ")
			r.writeNode(b, left)
			return
		}
		b.WriteString("(")
		r.writeNode(b, left)
		b.WriteString(" ⊕ ")
		r.writeNode(b, right)
		b.WriteString(")")
	}
}

// leaves returns the leaves of a tree from left to right, whether it is a left fold, and whether a node in it is
// finished. Of a tree with more than wanted leaves it returns no more than a few more than these.
func (r *run) leaves(node, wanted int) (list []int, leftFold, hasFinished bool) {
	stack, leftFold := []int{node}, true
	for steps := 4*wanted + 64; len(stack) > 0 && steps > 0; steps-- {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n < r.cells {
			list = append(list, n)
			continue
		}
		left, right := r.operands(n)
		if right == Finished {
			hasFinished = true
		} else {
			stack = append(stack, right)
			leftFold = leftFold && right < r.cells
		}
		stack = append(stack, left)
	}
	return list, leftFold, hasFinished
}
