//go:build unix && !aix && !solaris

package main

import (
	"fmt"
	"strings"
)

// verdict is which ranks are the odd ones out.
type verdict struct {
	Odd      []int  `json:"odd"`    // in the job; none: no rank is odd
	Reason   string `json:"reason"` // "mismatch", "disagree", "missing", "behind", "ahead", "waited for", "blamed" or "none"
	Sentence string `json:"sentence"`
}

// grounds are what makes a rank odd, the strongest first. Each gives the ranks, and what the sentence says of them.
var grounds = []func(*history) (odd []int, reason, why string){mismatch, missing, outOfStep, waitedFor, blamed}

// verdict goes by the first ground that there is.
func (h *history) verdict() verdict {
	for _, g := range grounds {
		odd, reason, why := g(h)
		switch {
		case len(odd) == 0:
			continue
		case reason == disagree:
			return verdict{[]int{}, reason, fmt.Sprintf("%s disagree: %s.", capital(ranks(odd)), why)}
		case len(odd) == 1:
			why = fmt.Sprintf("Rank %d is the odd one out: %s.", odd[0], why)
		default:
			why = fmt.Sprintf("%s are the odd ones out: %s.", capital(ranks(odd)), why)
		}
		return verdict{odd, reason, why}
	}
	return verdict{[]int{}, "none", "No rank is the odd one out: all that left a trace have made the same calls."}
}

// ranks names ranks, not all of very many.
func ranks(of []int) string {
	if len(of) == 1 {
		return fmt.Sprint("rank ", of[0])
	}
	var words []string
	for _, r := range of {
		words = append(words, fmt.Sprint(r))
	}
	n := len(words) - 1
	if n >= 2*named {
		n = named
		words[n] = fmt.Sprint(len(of)-n, " more")
	}
	return "ranks " + strings.Join(words[:n], ", ") + " and " + words[n]
}

// capital returns a sentence's beginning.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
