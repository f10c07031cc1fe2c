package view

import (
	"slices"

	"github.com/collgen/collgen/spec"
)

// judge says when each clause of the specification holds.
type judge struct {
	*run
	memory []int // by cell, what it holds at the moment that is looked at
	final  []int // by cell, what it holds in the end
	firsts map[foldOf]int
	wanted [][]part // by cell, what clauses ask of it
	open   [][]int  // by clause and rank, of how many cells it does not hold; Silent if it says nothing of the rank
	since  [][]int  // by clause and rank, see Clause
}

// part is what a clause asks of a cell.
type part struct {
	clause, rank int
	content      *spec.Content
	chunk        int
	holds        bool
}

// foldOf names a reduction that several ranks may be promised: its first operand, how many there are, and the chunk.
type foldOf struct {
	first, last spec.Term
	n, chunk    int
}

// clauses returns the clauses with the moments from which on they hold. The last one is the frame.
func (r *run) clauses() ([]Clause, error) {
	described := spec.Describe(r.s.Primitive).After
	j := &judge{run: r, firsts: map[foldOf]int{}, wanted: make([][]part, r.cells), final: r.mem}
	j.open, j.since = make([][]int, len(described)), make([][]int, len(described))
	for i := range described {
		j.open[i], j.since[i] = make([]int, r.s.Size), make([]int, r.s.Size)
		for rank := range r.s.Size {
			j.open[i][rank], j.since[i][rank] = Silent, Silent
		}
	}
	for i, c := range r.s.Primitive.Post {
		for rank := range r.s.Size {
			if err := j.ask(i, c, rank); err != nil {
				return nil, err
			}
		}
	}
	j.follow(len(described) - 1)
	if r.data.Failure != nil {
		r.data.Wrong = j.wrong()
	}
	list := make([]Clause, len(described))
	for i, d := range described {
		list[i] = Clause{d.Words, d.Formula, j.since[i]}
	}
	return list, nil
}

// ask finds what clause i asks of the cells of a rank.
func (j *judge) ask(i int, c spec.Clause, rank int) error {
	want := &j.want.Ranks[rank]
	if c.Value.Kind == spec.Entered {
		if len(want.Entered) > 0 {
			j.add(i, rank, j.metAt[rank], part{content: &spec.Content{Kind: spec.Entered}})
		}
		return nil
	}
	contents, base := want.Out, j.base[1][rank]
	if c.Buf == spec.In {
		contents, base = want.In, j.base[0][rank]
	}
	for b := range contents {
		env := spec.Call{Size: j.s.Size, Root: j.s.Root, Peer: j.s.Peer}.Env(rank).With(spec.Block.Name, b)
		where, err := c.Where.OrElse(spec.Int(1)).Eval(env)
		if err != nil {
			return err
		}
		if _, shared := want.Aliased(b); where == 0 || c.Buf == spec.In && j.inPlace && shared {
			continue // in place, the promise about Out holds
		}
		for chunk := range j.s.Chunks {
			j.add(i, rank, base+b*j.s.Chunks+chunk, part{content: &contents[b], chunk: chunk})
		}
	}
	return nil
}

func (j *judge) add(clause, rank, cell int, p part) {
	p.clause, p.rank = clause, rank
	if j.open[clause][rank] == Silent {
		j.open[clause][rank] = 0
	}
	j.open[clause][rank]++
	j.wanted[cell] = append(j.wanted[cell], p)
}

// follow goes through all that was written, round by round, and notes when clauses come to hold.
func (j *judge) follow(frame int) {
	j.restart()
	for cell := range j.wanted {
		j.look(cell)
	}
	j.note(0)
	for rank := range j.s.Size {
		j.since[frame][rank] = 0
	}
	writes := slices.Collect(slices.Chunk(j.data.Writes, 3))
	for i, w := range writes {
		round, cell, node := w[0], w[1], w[2]
		j.memory[cell] = node
		if rank, frozen := j.isFrozen(cell); frozen {
			j.since[frame][rank] = Never
		}
		if i+1 == len(writes) || writes[i+1][0] != round {
			j.lookAt(writes[:i+1], round)
			j.note(round + 1)
		}
	}
}

// lookAt looks at what was written in a round, which the last of writes are of.
func (j *judge) lookAt(writes [][]int, round int) {
	for _, w := range slices.Backward(writes) {
		if w[0] != round {
			return
		}
		j.look(w[1])
	}
}

// restart sets the memory to what it is before the call.
func (j *judge) restart() {
	j.memory = make([]int, j.cells)
	for cell := range j.memory {
		j.memory[cell] = cell
	}
	for _, cell := range j.renamed {
		rank, p := j.owner(cell)
		j.memory[cell] = j.input(j.want.Ranks[rank].Given[p.At/j.s.Chunks].Terms[0], p.At%j.s.Chunks)
	}
}

// look counts whether the clauses about a cell hold there.
func (j *judge) look(cell int) {
	for i := range j.wanted[cell] {
		p := &j.wanted[cell][i]
		holds := j.holds(j.memory[cell], cell, p)
		switch {
		case holds && !p.holds:
			j.open[p.clause][p.rank]--
		case !holds && p.holds:
			j.open[p.clause][p.rank]++
		}
		p.holds = holds
	}
}

// note notes which clauses hold at a moment.
func (j *judge) note(moment int) {
	for i := range j.open {
		for rank, open := range j.open[i] {
			switch since := &j.since[i][rank]; {
			case open > 0:
				*since = Never
			case open == 0 && *since < 0:
				*since = moment
			}
		}
	}
}

// wrong returns the cells of which a clause does not hold in the end.
func (j *judge) wrong() (cells []int) {
	for cell, parts := range j.wanted {
		if slices.ContainsFunc(parts, func(p part) bool { return !p.holds }) {
			cells = append(cells, cell)
		}
	}
	return cells
}

// isFrozen reports whether a cell is promised to stay as it was, and whose it is.
func (j *judge) isFrozen(cell int) (rank int, frozen bool) {
	rank, p := j.owner(cell)
	want, block := &j.want.Ranks[rank], p.At/j.s.Chunks
	switch p.Buf {
	case spec.In:
		out, shared := want.Aliased(block)
		if j.inPlace && shared {
			return rank, want.Out[out].Kind == spec.Unchanged
		}
		return rank, want.In[block].Kind == spec.Unchanged
	case spec.Out:
		return rank, want.Out[block].Kind == spec.Unchanged
	}
	return rank, false
}

// holds reports whether a cell that holds a node has what is asked of it.
func (j *judge) holds(node, cell int, p *part) bool {
	switch p.content.Kind {
	case spec.Entered:
		known := j.nodes.set(j.run, node)
		return !slices.ContainsFunc(j.want.Ranks[p.rank].Entered, func(q int) bool { return !known.has(q) })
	case spec.Input:
		return node == j.input(p.content.Terms[0], p.chunk)
	case spec.Fold:
		return j.isFold(node, cell, p)
	}
	return true
}

// isFold reports whether a node is a finished reduction in an order that is allowed, and that which all ranks get in
// the end where that is promised.
func (j *judge) isFold(node, cell int, p *part) bool {
	if node < j.cells {
		return false
	}
	terms := p.content.Terms
	tree, right := j.operands(node)
	if right != Finished {
		return false
	}
	leaves, leftFold, again := j.leaves(tree, len(terms))
	operands := make([]int, len(terms))
	for i, t := range terms {
		operands[i] = j.input(t, p.chunk)
	}
	inOrder := slices.Equal(leaves, operands)
	slices.Sort(leaves)
	slices.Sort(operands)
	order := j.s.Primitive.Order
	if again || !slices.Equal(leaves, operands) || !inOrder && !j.s.Requires.Commutative ||
		order >= spec.RankOrdered && !(inOrder && leftFold) {
		return false
	}
	return order < spec.SameTree || node == j.treeOfAll(cell, p)
}

// treeOfAll returns the node that the first of the ranks that are promised the same reduction holds in the end.
func (j *judge) treeOfAll(cell int, p *part) int {
	terms := p.content.Terms
	name := foldOf{terms[0], terms[len(terms)-1], len(terms), p.chunk}
	node, ok := j.firsts[name]
	if !ok {
		node = j.final[cell]
		j.firsts[name] = node
	}
	return node
}
