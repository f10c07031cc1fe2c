//go:build unix && !aix && !solaris

package diagnosis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/collgen/collgen/fast/trace"
)

// Diagnosis says which ranks are the odd ones out.
type Diagnosis struct {
	Odd []int `json:"odd"` // in the job; none: no rank is odd
	// "mismatch", "disagree", "missing", "behind", "ahead", "waited for", "blamed" or "none"
	Reason   string `json:"reason"`
	Sentence string `json:"sentence"`
}

// maxListed is how many ranks of a very long list are named.
const maxListed = 8

// checks find odd ranks, the most conclusive one first. Each returns the ranks, the reason, and an explanation.
var checks = []func(*Job) (odd []int, reason, text string){mismatch, missing, desync, waitedFor, blamed}

// diagnose returns the result of the first check that finds something.
func (j *Job) diagnose() Diagnosis {
	for _, check := range checks {
		odd, reason, text := check(j)
		switch {
		case len(odd) == 0:
			continue
		case reason == disagree:
			return Diagnosis{[]int{}, reason, fmt.Sprintf("%s disagree: %s.", capital(rankList(odd)), text)}
		case len(odd) == 1:
			text = fmt.Sprintf("Rank %d is the odd one out: %s.", odd[0], text)
		default:
			text = fmt.Sprintf("%s are the odd ones out: %s.", capital(rankList(odd)), text)
		}
		return Diagnosis{odd, reason, text}
	}
	return Diagnosis{[]int{}, "none", "No rank is the odd one out: all that left a trace have made the same calls."}
}

// rankList returns a list of ranks in words, shortened if it is very long.
func rankList(of []int) string {
	if len(of) == 1 {
		return fmt.Sprint("rank ", of[0])
	}
	var words []string
	for _, r := range of {
		words = append(words, fmt.Sprint(r))
	}
	n := len(words) - 1
	if n >= 2*maxListed {
		n = maxListed
		words[n] = fmt.Sprint(len(of)-n, " more")
	}
	return "ranks " + strings.Join(words[:n], ", ") + " and " + words[n]
}

// capital returns s with a capital letter.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// disagree is the reason for a call in which no value is that of most ranks, so that no rank is the odd one.
const disagree = "disagree"

// mismatch finds a call that some ranks have made with other arguments than most.
func mismatch(j *Job) (odd []int, reason, text string) {
	for _, s := range j.sequences {
		for _, seq := range slices.Sorted(maps.Keys(s.calls)) {
			for _, a := range attributes {
				by := make(map[string][]int)
				for _, process := range slices.Sorted(maps.Keys(s.calls[seq])) {
					value := a.of(s.calls[seq][process])
					by[value] = append(by[value], process)
				}
				if len(by) > 1 {
					odd, values := minority(by)
					reason = "mismatch"
					if len(odd) == len(s.calls[seq]) {
						reason = disagree
					}
					return odd, reason, fmt.Sprintf("in %s, %s is %s", s.call(seq, s.comm), a.name, values)
				}
			}
		}
	}
	return nil, "", ""
}

// attributes are what the ranks of a call have to agree on, the most telling one first.
var attributes = []struct {
	name string
	of   func(*trace.Entry) string
}{
	{"the operation", func(e *trace.Entry) string {
		if e.Peer >= 0 {
			return "message" // a send on one rank and a receive on the other
		}
		return e.Primitive
	}},
	{"the label", func(e *trace.Entry) string { return cmp.Or(e.Label, "none") }},
	{"the reduction", func(e *trace.Entry) string { return e.Op }},
	{"the type", func(e *trace.Entry) string { return e.Type }},
	{"the count", func(e *trace.Entry) string { return fmt.Sprint(e.Count) }},
	{"the root", func(e *trace.Entry) string { return fmt.Sprint(e.Root) }},
	{"the algorithm", func(e *trace.Entry) string { return e.Algorithm }},
	{"the depth", func(e *trace.Entry) string { return fmt.Sprint(e.Depth) }},
	{"the number of ranks on each host", func(e *trace.Entry) string { return fmt.Sprint(e.Local) }},
}

// minority returns the ranks that do not have the most frequent value, or all if there is no such value. It also
// returns the values with their ranks in words.
func minority(by map[string][]int) (odd []int, words string) {
	values := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return slices.Compare([]int{len(by[a]), by[a][0]}, []int{len(by[b]), by[b][0]})
	})
	n := len(values)
	draw := len(by[values[n-1]]) == len(by[values[n-2]])
	var parts []string
	for i, v := range values {
		parts = append(parts, fmt.Sprintf("%s on %s", v, rankList(by[v])))
		if draw || i < n-1 {
			odd = append(odd, by[v]...)
		}
	}
	slices.Sort(odd)
	return odd, strings.Join(parts, " and ")
}

// missing finds ranks without a trace, if others wrote one because of a failure.
func missing(j *Job) (odd []int, reason, text string) {
	if j.firstFailure() == "" {
		return nil, "", ""
	}
	for process := range j.size {
		if !slices.ContainsFunc(j.recordings, func(f recording) bool { return f.Rank == process }) {
			odd = append(odd, process)
		}
	}
	text = "it wrote no trace: it was killed, or none of its calls failed"
	if len(odd) > 1 {
		text = "they wrote no trace: they were killed, or none of their calls failed"
	}
	if len(j.sequences) > 0 && !j.sequences[0].failed.IsZero() {
		s := j.sequences[0]
		text += "; the others ended in " + s.call(s.lastCall(), s.comm)
	}
	return odd, "missing", text
}

// desync finds ranks that have not reached a call in which others wait, or that are alone in a call. Ranks that
// themselves wait for others are the cause only if there is no other candidate.
func desync(j *Job) (odd []int, reason, text string) {
	for _, s := range j.sequences {
		found, ground, words := j.outOfStep(s)
		if len(found) == 0 {
			continue
		}
		if free := slices.DeleteFunc(slices.Clone(found), j.waits); len(free) > 0 {
			return free, ground, words
		}
		if odd == nil {
			odd, reason, text = found, ground, words
		}
	}
	return odd, reason, text
}

// outOfStep returns the ranks that are out of step in one sequence: the stragglers, or those ahead, whoever are fewer.
func (j *Job) outOfStep(s *sequence) (odd []int, reason, text string) {
	behind, others := s.stragglers()
	if s.failed.IsZero() || len(others) == 0 {
		return nil, "", ""
	}
	call := s.call(s.lastCall(), s.comm)
	if len(behind) <= len(others) {
		return behind, "behind", fmt.Sprintf("%s came to %s, others did not: %s", rankList(others), call,
			j.lastOperations(behind))
	}
	return others, "ahead", fmt.Sprintf("nobody else came to %s: %s", call, j.lastOperations(behind))
}

// stragglers returns the processes whose last call in a sequence is the earliest one, and the others, if there are any.
// A message that was sent and not yet received keeps nobody waiting, so that it does not count.
func (s *sequence) stragglers() (behind, others []int) {
	least, waits := s.lastCall(), false
	for _, e := range s.last {
		least = min(least, callNumber(e))
	}
	for _, process := range slices.Sorted(maps.Keys(s.last)) {
		e := s.last[process]
		if callNumber(e) == least {
			behind = append(behind, process)
			continue
		}
		others = append(others, process)
		waits = waits || e.State != trace.Done
	}
	if !waits && !s.collective() {
		return behind, nil
	}
	return behind, others
}

// callNumber returns the number of a call; 0 for none.
func callNumber(e *trace.Entry) uint64 {
	if e == nil {
		return 0
	}
	return e.Seq
}

// waits reports whether the calls of a process wait for others, or ended because of them.
func (j *Job) waits(process int) bool {
	return slices.ContainsFunc(j.sequences, func(s *sequence) bool {
		e := s.last[process]
		return e != nil && e.State != trace.Done && len(e.Waiting)+len(e.Blames) > 0 && !slices.Contains(e.Blames, e.Rank)
	})
}

// waitedFor finds ranks that others wait for in a call that all have made, and that themselves wait for nobody.
func waitedFor(j *Job) (odd []int, reason, text string) {
	odd, call := j.namedBy(func(e *trace.Entry) []int {
		if len(e.Blames) > 0 { // blames say more
			return nil
		}
		return e.Waiting
	})
	return odd, "waited for", "others wait in " + call
}

// blamed finds ranks that others blame for the end of a call that all have made, and that themselves wait for nobody.
func blamed(j *Job) (odd []int, reason, text string) {
	odd, call := j.namedBy(func(e *trace.Entry) []int { return e.Blames })
	return odd, "blamed", "others put the blame there in " + call
}

// namedBy returns the processes that the last calls of others in a sequence name and that themselves wait for nobody,
// and that call. by returns the ranks that a call names.
func (j *Job) namedBy(by func(*trace.Entry) []int) (odd []int, call string) {
	for _, s := range j.sequences {
		for process, rank := range j.members[s.id] {
			if !j.waits(process) && s.names(rank, by) {
				odd = append(odd, process)
			}
		}
		if len(odd) > 0 {
			slices.Sort(odd)
			return odd, s.call(s.lastCall(), s.comm)
		}
	}
	return nil, ""
}

// names reports whether another rank's last call in the sequence names a rank.
func (s *sequence) names(rank int, by func(*trace.Entry) []int) bool {
	for _, e := range s.last {
		if e != nil && e.State != trace.Done && e.Rank != rank && slices.Contains(by(e), rank) {
			return true
		}
	}
	return false
}

// lastOperations returns the last operation of each of some ranks, in words.
func (j *Job) lastOperations(of []int) string {
	var words []string
	for _, f := range j.recordings {
		if !slices.Contains(of, f.Rank) {
			continue
		}
		text := fmt.Sprintf("rank %d has recorded nothing", f.Rank)
		if n := len(f.Entries); n > 0 {
			e := &f.Entries[n-1]
			text = fmt.Sprintf("the last operation of rank %d is %s, %s (%s)",
				f.Rank, named(e), sequenceOf(e).call(e.Seq, e.Comm), e.State)
		}
		words = append(words, text)
	}
	return strings.Join(words, ", ")
}
