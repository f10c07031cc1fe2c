package selection

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

// Explain says which rule a call like c with blocks of so many bytes gets, as Select does, and why. Algorithms has all that
// table speaks of.
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
