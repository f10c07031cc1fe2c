package verify

// graph is a directed graph over the events 0, …, n-1, to be sorted once.
type graph struct {
	from, to []int32 // the edges
	wait     []int32 // by event: how many of its predecessors are not in order yet
	start    []int32 // by event: where its successors start in succ
	succ     []int32
	order    []int32 // the events, each after all its predecessors, as far as there is such an order
}

func (g *graph) reset(n int) {
	g.from, g.to, g.order = g.from[:0], g.to[:0], g.order[:0]
	g.wait, g.start = zeroed(g.wait, n), zeroed(g.start, n+1)
}

func (g *graph) edge(from, to int32) {
	g.from, g.to = append(g.from, from), append(g.to, to)
	g.wait[to]++
	g.start[from]++
}

// sort puts the events in order, and tells whether all of them have a place in it.
func (g *graph) sort() bool {
	g.index()
	for e, w := range g.wait {
		if w == 0 {
			g.order = append(g.order, int32(e))
		}
	}
	for i := 0; i < len(g.order); i++ {
		e := g.order[i]
		for _, s := range g.succ[g.start[e]:g.start[e+1]] {
			if g.wait[s]--; g.wait[s] == 0 {
				g.order = append(g.order, s)
			}
		}
	}
	return len(g.order) == len(g.wait)
}

// index lists the successors by event.
func (g *graph) index() {
	sum := int32(0)
	for e, n := range g.start {
		sum += n
		g.start[e] = sum // the end of e's successors; filling moves it to their start
	}
	g.succ = resized(g.succ, len(g.to))
	for i, e := range g.from {
		g.start[e]--
		g.succ[g.start[e]] = g.to[i]
	}
}

// cycle returns a cycle of events of which each waits for the next, after a sort that failed.
func (g *graph) cycle() []int32 {
	waitsFor := make(map[int32]int32)
	var e int32
	for i, from := range g.from {
		if g.wait[from] > 0 && g.wait[g.to[i]] > 0 {
			e = g.to[i]
			waitsFor[e] = from
		}
	}
	seen := make(map[int32]int)
	var path []int32
	for {
		if at, ok := seen[e]; ok {
			return path[at:]
		}
		seen[e] = len(path)
		path = append(path, e)
		e = waitsFor[e]
	}
}

// resized returns a slice of n elements of any value, in s's memory if that is large enough.
func resized[T any](s []T, n int) []T {
	if n > cap(s) {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

// zeroed returns a slice of n zeros, in s's memory if that is large enough.
func zeroed[T any](s []T, n int) []T {
	s = resized(s, n)
	clear(s)
	return s
}
