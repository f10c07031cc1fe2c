package view

import (
	"slices"

	"github.com/collgen/collgen/gen"
)

// Layout says how ranks are best placed in a picture.
type Layout struct {
	Kind   string `json:"kind"`
	Parent []int  `json:"parent,omitempty"` // of a tree, by rank; -1 of its root
	Width  int    `json:"width,omitempty"`  // of a torus, ranks to a row; of hosts, ranks on each
}

// The kinds of layout. A picture puts ranks on a circle where nothing else is known of them.
const (
	Ring   = "ring"   // every message goes to the next rank or the one before, around
	Line   = "line"   // the same, but not around
	Tree   = "tree"   // messages go along the edges of a tree
	Torus  = "torus"  // messages go to neighbours on a grid that is closed in both directions
	Hosts  = "hosts"  // ranks are on hosts
	Circle = "circle" // any
)

// layoutOf returns the layout for what s does.
func layoutOf(s *gen.Schedule) Layout {
	edges := edgesOf(s)
	if s.Local > 1 && s.Local < s.Size {
		return Layout{Kind: Hosts, Width: s.Local}
	}
	if isRing, isLine := steps(edges, s.Size); isLine {
		return Layout{Kind: Line}
	} else if isRing {
		return Layout{Kind: Ring}
	}
	if parent, ok := treeOf(edges, s.Size, s.Root); ok {
		return Layout{Kind: Tree, Parent: parent}
	}
	if width, ok := torusOf(edges, s.Size); ok {
		return Layout{Kind: Torus, Width: width}
	}
	return Layout{Kind: Circle}
}

// edgesOf returns the pairs of ranks that exchange messages, the lower rank first.
func edgesOf(s *gen.Schedule) [][2]int {
	known := map[[2]int]bool{}
	var edges [][2]int
	for _, m := range s.Messages() {
		e := [2]int{min(m.From, m.To), max(m.From, m.To)}
		if !known[e] {
			known[e] = true
			edges = append(edges, e)
		}
	}
	return edges
}

// steps reports whether all edges join ranks that follow each other, around or not.
func steps(edges [][2]int, n int) (isRing, isLine bool) {
	isRing, isLine = n > 2, n >= 2
	for _, e := range edges {
		isRing = isRing && (e[1]-e[0] == 1 || e[1]-e[0] == n-1)
		isLine = isLine && e[1]-e[0] == 1
	}
	return isRing, isLine
}

// treeOf returns the parents of ranks in the tree that edges make up, if they do.
func treeOf(edges [][2]int, n, root int) (parent []int, ok bool) {
	if len(edges) != n-1 {
		return nil, false
	}
	near := make([][]int, n)
	for _, e := range edges {
		near[e[0]], near[e[1]] = append(near[e[0]], e[1]), append(near[e[1]], e[0])
	}
	parent = make([]int, n)
	for rank := range parent {
		parent[rank] = -1
	}
	seen := []int{root}
	for i := 0; i < len(seen); i++ {
		for _, q := range near[seen[i]] {
			if q != parent[seen[i]] && !slices.Contains(seen, q) {
				parent[q] = seen[i]
				seen = append(seen, q)
			}
		}
	}
	return parent, len(seen) == n
}

// torusOf returns the width of a grid, as square as possible, on which all edges join neighbours.
func torusOf(edges [][2]int, n int) (width int, ok bool) {
	for height := 2; height*height <= n; height++ {
		if n%height == 0 && areNeighbours(edges, n/height, height) {
			width, ok = n/height, true
		}
	}
	return width, ok
}

func areNeighbours(edges [][2]int, width, height int) bool {
	for _, e := range edges {
		x, y := e[1]%width-e[0]%width, e[1]/width-e[0]/width
		x, y = max(x, -x), max(y, -y)
		across := y == 0 && (x == 1 || x == width-1)
		down := x == 0 && (y == 1 || y == height-1)
		if !across && !down {
			return false
		}
	}
	return true
}
