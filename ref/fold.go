package ref

import "github.com/collgen/collgen/spec"

// Tree is the shape of a reduction: a leaf, or the reduction of Left and Right, in this order.
type Tree struct {
	Left, Right *Tree // nil in a leaf
	Leaf        int   // of a leaf: which operand it is
}

// LeftFold returns the tree of ((0 ⊕ 1) ⊕ 2) ⊕ … of n operands, n >= 1.
func LeftFold(n int) *Tree {
	t := &Tree{}
	for i := 1; i < n; i++ {
		t = &Tree{Left: t, Right: &Tree{Leaf: i}}
	}
	return t
}

// Depth returns the number of ⊕ on the longest path from an operand to the result.
func (t *Tree) Depth() int {
	if t.Left == nil {
		return 0
	}
	return 1 + max(t.Left.Depth(), t.Right.Depth())
}

// Fold reduces operands, which all have the same length, elementwise in the order that tree gives. It does not Finish.
func Fold[T Elem](op spec.Op, tree *Tree, operands [][]T) []T {
	if tree.Left == nil {
		return append([]T(nil), operands[tree.Leaf]...)
	}
	result, right := Fold(op, tree.Left, operands), Fold(op, tree.Right, operands)
	for i := range result {
		result[i] = Combine(op, result[i], right[i])
	}
	return result
}
