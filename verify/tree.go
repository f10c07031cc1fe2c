package verify

import (
	"fmt"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// A node is what a chunk of memory may hold: a leaf, numbered as the cell that held it before the call, or an inner
// node, numbered from the number of cells on: left ⊕ right, or the finished left. Equal trees are one node.

// finished is the right operand of a node that is finished.
const finished = -1

func (c *checker) node(left, right int32) int32 {
	return c.cells + c.trees.id(uint64(left)<<32|uint64(uint32(right)))
}

func (c *checker) isLeaf(node int32) bool { return node < c.cells }

// operands returns the children of an inner node.
func (c *checker) operands(node int32) (left, right int32) {
	key := c.trees.keys[node-c.cells]
	return int32(key >> 32), int32(uint32(key))
}

// leaf returns the node of chunk i of an input block.
func (c *checker) leaf(t spec.Term, i int32) int32 {
	return c.base[inBuf][t.Rank] + int32(t.Block)*c.chunks + i
}

// leaves lists the leaves of a tree from left to right, but not endlessly if there are more than wanted. It tells
// whether the tree is a left fold, and whether a node in it is finished.
func (c *checker) leaves(node int32, wanted int) (list []int32, leftFold, hasFinished bool) {
	list, stack, leftFold := c.folds.leaves[:0], append(c.folds.stack[:0], node), true
	for steps := 4*wanted + 64; len(stack) > 0 && steps > 0; steps-- {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if c.isLeaf(n) {
			list = append(list, n)
			continue
		}
		left, right := c.operands(n)
		if right == finished {
			hasFinished = true
		} else {
			stack = append(stack, right)
			leftFold = leftFold && c.isLeaf(right)
		}
		stack = append(stack, left)
	}
	c.folds.leaves, c.folds.stack = list, stack
	return list, leftFold, hasFinished
}

// maxTreeText is about how long the text of a tree may get.
const maxTreeText = 300

// treeText returns a tree as people write it: (in0[2] ⊕ in1[2]), with ! behind what is finished.
func (c *checker) treeText(node int32) string {
	var b strings.Builder
	c.writeTree(&b, node)
	return b.String()
}

func (c *checker) writeTree(b *strings.Builder, node int32) {
	if b.Len() > maxTreeText {
		b.WriteString("…")
		return
	}
	if c.isLeaf(node) {
		b.WriteString(c.leafText(node))
		return
	}
	left, right := c.operands(node)
	if right == finished {
		b.WriteString("finish ")
		c.writeTree(b, left)
		return
	}
	b.WriteString("(")
	c.writeTree(b, left)
	b.WriteString(" ⊕ ")
	c.writeTree(b, right)
	b.WriteString(")")
}

// leafText names what a cell held before the call: in3[2] is chunk 2 of rank 3's In.
func (c *checker) leafText(cell int32) string {
	rank, p := c.owner(cell)
	if c.isInput(rank, p) {
		return fmt.Sprintf("in%d[%d]", rank, p.At)
	}
	return fmt.Sprintf("old %s%d[%d]", p.Buf, rank, p.At)
}

// owner finds the rank and the name of a cell. A cell that In and Out share is In's.
func (c *checker) owner(cell int32) (rank int, p gen.Place) {
	for rank := range c.s.Ranks {
		for _, b := range []spec.Buf{spec.In, spec.Out, spec.Scratch} {
			n, start := c.s.Ranks[rank].Len(b), c.base[number(b)][rank]
			if cell >= start && int(cell-start) < n {
				return rank, gen.Place{Buf: b, At: int(cell - start), N: 1}
			}
		}
	}
	return -1, gen.Place{}
}

// isInput reports whether a place of a rank holds an input before the call.
func (c *checker) isInput(rank int, p gen.Place) bool {
	return p.Buf == spec.In && c.want.Ranks[rank].Given[p.At/c.s.Chunks].Kind == spec.Input
}
