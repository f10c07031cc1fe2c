package bench

// Result is one line of results. Its JSON is for other programs.
type Result struct {
	Collective   string  `json:"collective"`
	Transport    string  `json:"transport"`
	Ranks        int     `json:"ranks"`
	Bytes        int     `json:"bytes"`
	Count        int     `json:"count"`
	Type         string  `json:"type"`
	Op           string  `json:"op"`
	Reproducible bool    `json:"reproducible,omitempty"`
	Root         int     `json:"root"`
	InPlace      bool    `json:"inPlace"`
	Registered   bool    `json:"registered"`
	Algorithm    string  `json:"algorithm"`
	Depth        int     `json:"depth,omitempty"`
	Iterations   int     `json:"iterations"`
	Microseconds Spread  `json:"microseconds"`
	AlgBW        float64 `json:"algbw"` // 10⁹ bytes per second
	BusBW        float64 `json:"busbw"`
	Wrong        *int    `json:"wrong"` // nil: not checked
	// Overlap is the share of a started call that was hidden behind computing, 0 to 1; nil: not measured.
	Overlap *float64 `json:"overlap,omitempty"`
}

// NewResult returns the result of a case without the measured values.
func NewResult(c *Case, transport string, ranks int) *Result {
	r := &Result{Collective: c.Name, Transport: transport, Ranks: ranks, Bytes: c.Bytes(ranks), Count: c.Count, Root: -1,
		InPlace: c.InPlace, Registered: c.Placement == Registered, Algorithm: c.Algorithm, Depth: c.Depth,
		Reproducible: c.Reproducible}
	if c.Width(ranks) > 0 {
		r.Type = c.Element.Name
	}
	if c.Reduction != nil {
		r.Op = c.Reduction.Op.String()
	}
	if c.rooted {
		r.Root = c.Root
	}
	return r
}

// SetTimes adds the times of so many calls.
func (r *Result) SetTimes(c *Case, s Spread, calls int) {
	r.Microseconds, r.Iterations = s, calls
	if s.Median > 0 {
		r.AlgBW = float64(r.Bytes) / s.Median / 1000
		r.BusBW = r.AlgBW * c.bus(float64(r.Ranks))
	}
}
