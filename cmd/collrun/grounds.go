//go:build unix && !aix && !solaris

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/collgen/collgen/fast"
)

// disagree is the reason of a call in which no value is that of most ranks: then none of them is the odd one.
const disagree = "disagree"

// mismatch returns a call that some ranks have made with other arguments than most.
func mismatch(h *history) (odd []int, reason, why string) {
	for _, l := range h.lanes {
		for _, seq := range slices.Sorted(maps.Keys(l.calls)) {
			for _, a := range attributes {
				by := make(map[string][]int)
				for _, process := range slices.Sorted(maps.Keys(l.calls[seq])) {
					value := a.of(l.calls[seq][process])
					by[value] = append(by[value], process)
				}
				if len(by) > 1 {
					odd, values := minority(by)
					reason = "mismatch"
					if len(odd) == len(l.calls[seq]) {
						reason = disagree
					}
					return odd, reason, fmt.Sprintf("in %s, %s is %s", l.call(seq, l.comm), a.name, values)
				}
			}
		}
	}
	return nil, "", ""
}

// attributes are what ranks have to agree on in a call, what tells most first.
var attributes = []struct {
	name string
	of   func(*fast.TraceEntry) string
}{
	{"the operation", func(e *fast.TraceEntry) string {
		if e.Peer >= 0 {
			return "message" // which is a send on one rank and a receive on the other
		}
		return e.Primitive
	}},
	{"the reduction", func(e *fast.TraceEntry) string { return e.Op }},
	{"the type", func(e *fast.TraceEntry) string { return e.Type }},
	{"the count", func(e *fast.TraceEntry) string { return fmt.Sprint(e.Count) }},
	{"the root", func(e *fast.TraceEntry) string { return fmt.Sprint(e.Root) }},
	{"the algorithm", func(e *fast.TraceEntry) string { return e.Algorithm }},
	{"the depth", func(e *fast.TraceEntry) string { return fmt.Sprint(e.Depth) }},
}

// minority returns those whose value is not the one that most have, all if there is no such value, and who has which
// value in words.
func minority(by map[string][]int) (odd []int, words string) {
	values := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return slices.Compare([]int{len(by[a]), by[a][0]}, []int{len(by[b]), by[b][0]})
	})
	n := len(values)
	draw := len(by[values[n-1]]) == len(by[values[n-2]])
	var parts []string
	for i, v := range values {
		parts = append(parts, fmt.Sprintf("%s on %s", v, ranks(by[v])))
		if draw || i < n-1 {
			odd = append(odd, by[v]...)
		}
	}
	slices.Sort(odd)
	return odd, strings.Join(parts, " and ")
}

// missing returns ranks that left no trace, if others did because something went wrong.
func missing(h *history) (odd []int, reason, why string) {
	if h.first() == "" {
		return nil, "", ""
	}
	for process := range h.size {
		if !slices.ContainsFunc(h.flights, func(f flight) bool { return f.Rank == process }) {
			odd = append(odd, process)
		}
	}
	why = "it wrote no trace: it was killed, or none of its calls failed"
	if len(odd) > 1 {
		why = "they wrote no trace: they were killed, or none of their calls failed"
	}
	if len(h.lanes) > 0 && !h.lanes[0].wrong.IsZero() {
		l := h.lanes[0]
		why += "; the others ended in " + l.call(l.most(), l.comm)
	}
	return odd, "missing", why
}

// outOfStep returns ranks that have not come to a call in which others wait, or that are alone in one. Those that
// themselves wait for somebody are not the cause if there are others.
func outOfStep(h *history) (odd []int, reason, why string) {
	for _, l := range h.lanes {
		found, ground, text := h.stragglers(l)
		if len(found) == 0 {
			continue
		}
		if free := slices.DeleteFunc(slices.Clone(found), h.waits); len(free) > 0 {
			return free, ground, text
		}
		if odd == nil {
			odd, reason, why = found, ground, text
		}
	}
	return odd, reason, why
}

// stragglers returns the ranks out of step in one lane: the few behind, or the few ahead.
func (h *history) stragglers(l *lane) (odd []int, reason, why string) {
	behind, others := l.apart()
	if l.wrong.IsZero() || len(others) == 0 {
		return nil, "", ""
	}
	call := l.call(l.most(), l.comm)
	if len(behind) <= len(others) {
		return behind, "behind", fmt.Sprintf("%s came to %s, others did not: %s", ranks(others), call, h.latest(behind))
	}
	return others, "ahead", fmt.Sprintf("nobody else came to %s: %s", call, h.latest(behind))
}

// apart returns the processes whose last call in a lane is the earliest one, and the others, if there are any. That a
// message was sent and not yet received keeps nobody waiting, so it sets nobody apart.
func (l *lane) apart() (behind, others []int) {
	least, waits := l.most(), false
	for _, e := range l.last {
		least = min(least, number(e))
	}
	for _, process := range slices.Sorted(maps.Keys(l.last)) {
		e := l.last[process]
		if number(e) == least {
			behind = append(behind, process)
			continue
		}
		others = append(others, process)
		waits = waits || e.State != fast.TraceDone
	}
	if !waits && !l.collective() {
		return behind, nil
	}
	return behind, others
}

// number returns the number of a call, 0 for none.
func number(e *fast.TraceEntry) uint64 {
	if e == nil {
		return 0
	}
	return e.Seq
}

// waits reports whether a process's own calls wait for others, or ended because of them.
func (h *history) waits(process int) bool {
	return slices.ContainsFunc(h.lanes, func(l *lane) bool {
		e := l.last[process]
		return e != nil && e.State != fast.TraceDone && len(e.Waiting)+len(e.Blames) > 0 && !slices.Contains(e.Blames, e.Rank)
	})
}

// waitedFor returns ranks that others wait for in a call that all have made, and that themselves wait for nobody.
func waitedFor(h *history) (odd []int, reason, why string) {
	odd, call := h.accused(func(e *fast.TraceEntry) []int {
		if len(e.Blames) > 0 { // whose fault it is says more
			return nil
		}
		return e.Waiting
	})
	return odd, "waited for", "others wait in " + call
}

// blamed returns ranks at whose fault a call of others ended that all have made, and that themselves wait for nobody.
func blamed(h *history) (odd []int, reason, why string) {
	odd, call := h.accused(func(e *fast.TraceEntry) []int { return e.Blames })
	return odd, "blamed", "others put the blame there in " + call
}

// accused returns the processes that others' last calls in a lane name, and that themselves wait for nobody; and the
// call. By is whom a call names.
func (h *history) accused(by func(*fast.TraceEntry) []int) (odd []int, call string) {
	for _, l := range h.lanes {
		for process, rank := range h.members[l.id] {
			if !h.waits(process) && l.names(rank, by) {
				odd = append(odd, process)
			}
		}
		if len(odd) > 0 {
			slices.Sort(odd)
			return odd, l.call(l.most(), l.comm)
		}
	}
	return nil, ""
}

// names reports whether a last call of the lane names a rank.
func (l *lane) names(rank int, by func(*fast.TraceEntry) []int) bool {
	for _, e := range l.last {
		if e != nil && e.State != fast.TraceDone && e.Rank != rank && slices.Contains(by(e), rank) {
			return true
		}
	}
	return false
}

// latest returns the latest operation of some ranks, in words.
func (h *history) latest(of []int) string {
	var words []string
	for _, f := range h.flights {
		if !slices.Contains(of, f.Rank) {
			continue
		}
		text := fmt.Sprintf("rank %d has recorded nothing", f.Rank)
		if n := len(f.Entries); n > 0 {
			e := &f.Entries[n-1]
			text = fmt.Sprintf("the last operation of rank %d is %s, %s (%s)",
				f.Rank, e.Primitive, nameOfLane(e).call(e.Seq, e.Comm), e.State)
		}
		words = append(words, text)
	}
	return strings.Join(words, ", ")
}
