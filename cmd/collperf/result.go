package main

import (
	"runtime"

	"github.com/collgen/collgen/fast"
)

// result is one line: a trial and what came out. Its JSON is for other programs.
type result struct {
	Collective   string  `json:"collective"`
	Transport    string  `json:"transport"`
	Ranks        int     `json:"ranks"`
	Bytes        int     `json:"bytes"`
	Count        int     `json:"count"`
	Type         string  `json:"type"`
	Op           string  `json:"op"`
	Root         int     `json:"root"`
	InPlace      bool    `json:"inPlace"`
	Registered   bool    `json:"registered"`
	Algorithm    string  `json:"algorithm"`
	Depth        int     `json:"depth,omitempty"`
	Iterations   int     `json:"iterations"`
	Microseconds spread  `json:"microseconds"`
	AlgBW        float64 `json:"algbw"` // 10⁹ bytes per second
	BusBW        float64 `json:"busbw"`
	Wrong        *int    `json:"wrong"` // nil: not checked
	// Overlap is the share of a started call that was hidden behind computing, 0 to 1; nil: not measured.
	Overlap *float64 `json:"overlap,omitempty"`
}

// newResult returns the result of a trial without what is measured.
func newResult(t *trial, transport string, ranks int) *result {
	r := &result{Collective: t.name, Transport: transport, Ranks: ranks, Bytes: t.bytes(ranks), Count: t.count, Root: -1,
		InPlace: t.inPlace, Registered: t.home == registered, Algorithm: t.algorithm, Depth: t.depth}
	if t.width(ranks) > 0 {
		r.Type = t.element.name
	}
	if t.folding != nil {
		r.Op = t.folding.op.String()
	}
	if t.rooted {
		r.Root = t.root
	}
	return r
}

// timed adds the times of so many calls.
func (r *result) timed(t *trial, s spread, calls int) {
	r.Microseconds, r.Iterations = s, calls
	if s.Median > 0 {
		r.AlgBW = float64(r.Bytes) / s.Median / 1000
		r.BusBW = r.AlgBW * t.bus(float64(r.Ranks))
	}
}

// transportOf returns how a rank talks to the others, in the words of selection tables.
func transportOf(c *fast.Comm) string {
	name := ""
	for _, link := range c.Topology().Links {
		switch {
		case link == "self" || link == name:
		case name == "":
			name = link
		default:
			name = "mixed"
		}
	}
	switch name {
	case "":
		return "none"
	case "memory":
		return inproc
	}
	return name
}

// processes are the transports of ranks that are processes.
var processes = []string{"shm", "rdma", "tcp"}

// inproc is the transport of goroutines.
const inproc = "inproc"

// defaultTransport returns the best one among processes of a machine.
func defaultTransport() string {
	if runtime.GOOS == "linux" {
		return "shm"
	}
	return "tcp"
}
