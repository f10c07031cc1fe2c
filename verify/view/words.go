package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/counterexample"
)

// callWords returns the call of a schedule: "4 ranks, root 1, depth 2".
func callWords(s *gen.Schedule) string {
	words := plural(s.Size, "rank")
	if slices.Contains(s.Primitive.Params, spec.ParamRoot) {
		words += fmt.Sprintf(", root %d", s.Root)
	}
	if slices.Contains(s.Primitive.Params, spec.ParamPeer) {
		words += fmt.Sprintf(", peer %d", s.Peer)
	}
	if s.Depth > 1 {
		words += fmt.Sprintf(", depth %d", s.Depth)
	}
	if s.Local > 0 {
		words += fmt.Sprintf(", %d on each host", s.Local)
	}
	return words
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func instrText(in *gen.Instr) string { return counterexample.Text(in) }

// phases returns the rounds in which the same messages are sent as one phase, with words for it.
func (r *run) phases() []Phase {
	list := []Phase{}
	var own [][]string // by phase and round, what ranks do by themselves
	for round := range r.data.Rounds {
		words := r.messageWords(round)
		if n := len(list); n > 0 && list[n-1].Words == words {
			list[n-1].To++
		} else {
			list, own = append(list, Phase{round, round + 1, words}), append(own, nil)
		}
		own[len(own)-1] = append(own[len(own)-1], r.localWords(round))
	}
	for i := range list {
		list[i].Words = sentence(list[i].Words, own[i])
	}
	return list
}

// sentence puts what ranks send in each round of a phase, and what they do by themselves, into one sentence.
func sentence(messages string, own []string) string {
	last := own[len(own)-1]
	same := !slices.ContainsFunc(own, func(s string) bool { return s != last })
	onlyLast := !slices.ContainsFunc(own[:len(own)-1], func(s string) bool { return s != "" })
	switch {
	case messages == "" && last == "":
		return "No message arrives."
	case messages == "":
		messages = last
	case same && last != "":
		messages += "; then " + last
	case onlyLast && last != "":
		messages += "; after the last of these steps " + last
	case !same:
		messages += "; between these, ranks work on their own memory"
	}
	return strings.ToUpper(messages[:1]) + messages[1:] + "."
}

// messageWords says what messages arrive in a round; nothing if there are none.
func (r *run) messageWords(round int) string {
	empty, reduced := 0, 0
	var pairs [][2]int
	for m := range slices.Chunk(r.data.Messages, messageFields) {
		if m[3] != round {
			continue
		}
		switch {
		case m[9]&reduces != 0:
			reduced++
		case m[6] < 0:
			empty++
		}
		pairs = append(pairs, [2]int{m[0], m[1]})
	}
	if len(pairs) == 0 {
		return ""
	}
	return r.sendWords(pairs) + ", " + receiveWords(len(pairs), empty, reduced)
}

// localWords says what ranks do by themselves in a round; nothing if they do nothing.
func (r *run) localWords(round int) string {
	did := map[gen.Kind]map[int]bool{} // ranks
	for _, l := range r.data.Locals {
		if kind := gen.Kind(l[0]); l[2] == round {
			if did[kind] == nil {
				did[kind] = map[int]bool{}
			}
			did[kind][l[1]] = true
		}
	}
	var words []string
	for _, x := range []struct {
		kind gen.Kind
		verb string
	}{{gen.CopyInstr, "copies data within its memory"}, {gen.ReduceInstr, "reduces what it has"},
		{gen.FinishInstr, "marks its result as finished"}} {
		switch ranks := slices.Sorted(maps.Keys(did[x.kind])); len(ranks) {
		case 0:
		case r.s.Size:
			words = append(words, "every rank "+x.verb)
		case 1:
			words = append(words, fmt.Sprintf("rank %d %s", ranks[0], x.verb))
		default:
			words = append(words, fmt.Sprintf("each of %d ranks %s", len(ranks), x.verb))
		}
	}
	return strings.Join(words, ", ")
}

func receiveWords(messages, empty, reduced int) string {
	switch {
	case empty == messages:
		return "a message without data, which says who has come"
	case reduced == 0:
		return "and the receiver stores what it gets"
	case reduced == messages:
		return "and the receiver adds what it gets to what it has (⊕)"
	}
	return "and receivers store what they get, or add it to what they have (⊕)"
}

// sendWords says who sends to whom.
func (r *run) sendWords(pairs [][2]int) string {
	n := r.s.Size
	senders := map[int]bool{}
	distances, differences := map[int]bool{}, map[int]bool{}
	for _, p := range pairs {
		senders[p[0]] = true
		distances[(p[1]-p[0]+n)%n] = true
		differences[p[0]^p[1]] = true
	}
	slices.SortFunc(pairs, func(p, q [2]int) int { return slices.Compare(p[:], q[:]) })
	switch {
	case len(pairs) == n && n > 2 && len(senders) == n && len(distances) == 1:
		return "every rank sends to " + neighbourWords((pairs[0][1]-pairs[0][0]+n)%n, n)
	case len(pairs) <= 3:
		var list []string
		for _, p := range pairs {
			list = append(list, fmt.Sprintf("rank %d sends to rank %d", p[0], p[1]))
		}
		return strings.Join(list, ", ")
	case len(senders) == 1:
		return fmt.Sprintf("rank %d sends to %d others", pairs[0][0], len(pairs))
	case len(pairs) == n && len(differences) == 1:
		return fmt.Sprintf("every rank exchanges data with the rank whose number differs by %d", pairs[0][0]^pairs[0][1])
	case len(pairs) == len(senders) && len(distances) == 1:
		return fmt.Sprintf("each of %d ranks sends to %s", len(senders), neighbourWords((pairs[0][1]-pairs[0][0]+n)%n, n))
	case len(pairs) == n*(n-1):
		return "every rank sends to every other one"
	}
	return fmt.Sprintf("%d ranks send %d messages", len(senders), len(pairs))
}

func neighbourWords(distance, n int) string {
	switch distance {
	case 1:
		return "the next rank"
	case n - 1:
		return "the rank before it"
	}
	if 2*distance > n {
		return fmt.Sprintf("the rank that is %d before it", n-distance)
	}
	return fmt.Sprintf("the rank that is %d further on", distance)
}
