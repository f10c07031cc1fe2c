package ref

import "slices"

// Edge is the way of one block in an exchange among neighbours: block Sent of rank From becomes block Got of rank To.
type Edge struct{ From, Sent, To, Got int }

// Graph returns the edges of a graph in which rank r receives from the ranks sources[r] and sends to the ranks
// destinations[r], one block each; a negative number is no rank. Of several edges from one rank to another, the first
// in one list is the first in the other, and so on. This is MPI-4.1, section 8.6, for distributed graphs.
func Graph(sources, destinations [][]int) (edges []Edge) {
	for from, list := range destinations {
		for sent, to := range list {
			if to >= 0 {
				got := nth(sources[to], from, count(list[:sent], to))
				edges = append(edges, Edge{from, sent, to, got})
			}
		}
	}
	return edges
}

// nth returns where x is in list for the nth time, counted from 0. It panics if it is not there so often.
func nth(list []int, x, n int) int {
	for i, y := range list {
		if y == x && count(list[:i], x) == n {
			return i
		}
	}
	panic("ref: an edge has one end")
}

// count returns how often x is in list.
func count(list []int, x int) (n int) {
	for _, y := range list {
		if y == x {
			n++
		}
	}
	return n
}

// Grid returns the edges of a Cartesian grid, whose ranks are numbered with the last coordinate fastest. Along
// dimension d, a rank has block 2d for the neighbour with the lower coordinate, and block 2d+1 for that with the higher
// one. So what is sent as one of the two is got as the other, also where both neighbours are one rank, or the rank
// itself. This is MPI-4.1, section 8.6, for Cartesian topologies (example 8.10).
func Grid(dims []int, periodic []bool) (edges []Edge) {
	size := 1
	for _, n := range dims {
		size *= n
	}
	stride := size // between neighbours
	for d, n := range dims {
		stride /= n
		for rank := range size {
			at := rank / stride % n
			for up := range 2 {
				to := at + 2*up - 1
				if periodic[d] {
					to = (to + n) % n
				}
				if to >= 0 && to < n {
					edges = append(edges, Edge{rank, 2*d + up, rank + (to-at)*stride, 2*d + 1 - up})
				}
			}
		}
	}
	return edges
}

// NeighborAllToAll fills the blocks of dst from those of src, both by rank. Blocks may differ in length. A block of dst
// to which no edge leads stays as it is.
func NeighborAllToAll[T any](edges []Edge, dst, src [][][]T) {
	for _, e := range edges {
		dst[e.To][e.Got] = slices.Clone(src[e.From][e.Sent])
	}
}

// NeighborAllGather fills the blocks of dst from the single block that each rank sends. A block of dst to which no edge
// leads stays as it is.
func NeighborAllGather[T any](edges []Edge, dst [][][]T, src [][]T) {
	for _, e := range edges {
		dst[e.To][e.Got] = slices.Clone(src[e.From])
	}
}
