package golang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen/emit/text"
	"github.com/collgen/collgen/spec"
)

// Proof is what was proved of an algorithm.
type Proof struct {
	Sizes     []int // ascending: all from 1 to the last one for which there are calls
	Depths    []int // nothing but 1 where the algorithm does not depend on depth
	Deeper    []int // further ones, of sizes up to Few alone
	Few       int
	Local     bool // with every number of ranks on each host that the algorithm serves
	Sampled   int  // from this size on not all pairs of root and peer were taken; 0: all of them
	Schedules int  // how many
	InPlace   bool // in place too
	Folds     bool // whether there are reductions, which are in Order
	Order     spec.Order
	Segment   bool // whether a channel has to hold a segment of a message, of what is received AfterSend
	All       bool // whether the algorithm serves no other calls
	Every     Induction
}

// Induction is what was proved for every size.
type Induction struct {
	Sizes       string   // all, or a range; empty: nothing was
	Obligations int      // how many
	Solvers     []string // each of which proved all of them
	lends       bool     // whether the algorithm lends
	segment     bool     // as in Proof
}

// words says what was proved by induction, for all of what.
func (x Induction) words(of []string) string {
	if x.Sizes == "" {
		return ""
	}
	sizes := "all sizes"
	if x.Sizes != "all" {
		sizes = "sizes " + x.Sizes
	}
	loans := ""
	if x.lends {
		loans = "what is lent is read by the reductions of its step alone and not changed before, "
	}
	return fmt.Sprintf(" By induction over steps, for %s, while sizes and products fit an int: what the primitive "+
		"promises holds, no two "+
		"accesses race, %sand the call ends in every interleaving, %s; %d obligations, each proved by %s.",
		strings.Join(append([]string{sizes}, of...), ", "), loans, text.Buffering(x.segment), x.Obligations,
		strings.Join(x.Solvers, " and by "))
}

// words says what was proved of an algorithm of p.
func (x Proof) words(p spec.Primitive) string {
	calls := []string{"sizes " + text.Ranges(x.Sizes)}
	var all []string // of what a proof for every size is for all
	switch {
	case slices.Contains(p.Params, spec.ParamPeer) && x.Sampled > 0:
		calls = append(calls, fmt.Sprintf("all pairs of root and peer (from size %d on some of them)", x.Sampled))
	case slices.Contains(p.Params, spec.ParamPeer):
		calls = append(calls, "all pairs of root and peer")
	case slices.Contains(p.Params, spec.ParamRoot):
		calls = append(calls, "all roots")
	}
	if slices.Contains(p.Params, spec.ParamPeer) {
		all = append(all, "all pairs of root and peer")
	} else if slices.Contains(p.Params, spec.ParamRoot) {
		all = append(all, "all roots")
	}
	if x.hasDepth() {
		depths := "depths " + text.Ranges(x.Depths)
		if len(x.Deeper) > 0 {
			depths += fmt.Sprintf(" (up to size %d also %s)", x.Few, text.Ranges(x.Deeper))
		}
		calls = append(calls, depths)
		all = append(all, "all depths")
	}
	if x.Local {
		calls = append(calls, "every number of ranks on each host")
		all = append(all, "every number of ranks on each host")
	}
	if x.InPlace {
		calls = append(calls, "out of place and in place")
	}
	words := fmt.Sprintf("Proved for %s (%d schedules): what is said after the call holds, no two accesses race, and "+
		"the call ends in "+
		"every interleaving, %s.", strings.Join(calls, ", "), x.Schedules, text.Buffering(x.Segment))
	if x.Folds {
		words += " Order: " + x.Order.String() + "."
	}
	if x.All {
		return words + " The algorithm serves no other sizes."
	}
	if x.Every.Sizes == "" {
		return words + fmt.Sprintf(" Calls beyond %s are refused without the option Unproved.", x.Limits())
	}
	return words + x.Every.words(all)
}

// UpTo returns the sizes and depths up to which every call was proved, schedule by schedule. Depths is 0 where the
// depth makes no difference.
func (x Proof) UpTo() (sizes, depths int) {
	if n := len(x.Sizes); n > 0 {
		sizes = x.Sizes[n-1]
	}
	if x.Sampled > 0 {
		sizes = min(sizes, x.Sampled-1)
	}
	for x.hasDepth() && depths < len(x.Depths) && x.Depths[depths] == depths+1 {
		depths++
	}
	return sizes, depths
}

// hasDepth reports whether the depth makes a difference.
func (x Proof) hasDepth() bool { return !slices.Equal(x.Depths, []int{1}) }

// Limits returns the size and depth up to which every call was proved, schedule by schedule: "64 ranks or depth 4".
func (x Proof) Limits() string {
	sizes, depths := x.UpTo()
	text := fmt.Sprintf("%d ranks", sizes)
	if depths > 0 {
		text += fmt.Sprintf(" or depth %d", depths)
	}
	return text
}
