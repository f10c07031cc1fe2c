package induct

import "github.com/collgen/collgen/gen"

// For is the hints for an algorithm: its own, or those for the algorithm of the catalogue that has its name.
func For(a *gen.Algorithm) gen.Hints {
	if len(a.Hints.Loops)+len(a.Hints.Together) > 0 {
		return a.Hints
	}
	return known[a.FullName()]
}

var known = map[string]gen.Hints{}

// know adds hints. Each family's file calls it.
func know(name string, h gen.Hints) gen.Hints {
	known[name] = h
	return h
}
