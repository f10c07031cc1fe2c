package selection

import "fmt"

// Choice is the rule that a call gets, and why those before it do not count.
type Choice struct {
	Line   int      `json:"line"` // the rule's, from 1; 0: there is none
	Rule   Rule     `json:"rule"`
	Passed []Passed `json:"passed,omitempty"`
}

// Passed is a rule that was looked at before, and why it is not for the call.
type Passed struct {
	Line int    `json:"line"`
	Rule Rule   `json:"rule"`
	Why  string `json:"why"`
}

// Explain says which rule a call like c with blocks of so many bytes gets, as Select does, and why. Algorithms has all
// that table mentions.
func Explain(table []Rule, algorithms []Algorithm, c Call, bytes int) Choice {
	var x Choice
	for i, r := range table {
		why := r.Against(Find(algorithms, r.Algorithm), c, bytes)
		if why == "" {
			x.Line, x.Rule = i+1, r
			return x
		}
		x.Passed = append(x.Passed, Passed{i + 1, r, why})
	}
	return x
}

// Words are rules that were passed over, in words: "rule 3: at most 2 ranks: ring: it is for at most 2 ranks". Several
// behind each other that are for one other transport are reported together: "rules 3 to 8: they are for transport
// rdma".
func Words(passed []Passed) (words []string) {
	for len(passed) > 0 {
		p := passed[0]
		n := alike(passed)
		if n > 1 {
			words = append(words, fmt.Sprintf("rules %d to %d: they are for transport %s", p.Line, passed[n-1].Line,
				p.Rule.Transport))
		} else {
			words = append(words, fmt.Sprintf("rule %d: %v: %s", p.Line, p.Rule, p.Why))
		}
		passed = passed[n:]
	}
	return words
}

// alike returns how many rules at the beginning were passed over because they are for the transport that the first one
// is for; or 1.
func alike(passed []Passed) int {
	n := 1
	for passed[0].Why == forTransport(passed[0].Rule.Transport) && n < len(passed) && passed[n].Why == passed[0].Why {
		n++
	}
	return n
}
