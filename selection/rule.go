// Package selection has the tables that say which algorithm a call of a collective gets, as data: their rules, the
// order in which these count, the check that a table is legal and total, and the file in which a table of measured
// rules is kept. The generator, which proves the built-in tables and prints them, and the runtime, which follows them,
// both use it; it knows nothing of either.
package selection

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Transports are how the ranks of a communicator may talk, in the words of rules: they are goroutines, share the memory
// of one host, are connected by TCP, or all by RDMA, or some pairs of them share memory and others are connected. All
// ranks of a communicator agree on the word.
var Transports = []string{"inproc", "shm", "tcp", "rdma", "mixed"}

// Spans reports whether ranks that talk over transport may be on several hosts.
func Spans(transport string) bool {
	return transport == "tcp" || transport == "rdma" || transport == "mixed"
}

// Rule is a line of a selection table: the algorithm of calls for which all of its conditions hold. What is left out is
// no condition. Rules look at nothing but what all ranks agree on; whether buffers overlap is no such thing.
type Rule struct {
	Transport string `json:"transport,omitempty"` // one of Transports
	Algorithm string `json:"algorithm"`           // its name: "ring"
	MinSize   int    `json:"minSize,omitempty"`   // ranks, inclusive
	MaxSize   int    `json:"maxSize,omitempty"`   // ranks, inclusive; 0: any number
	// MaxPerHost is how many ranks may be on one host, inclusive; 0: any number. Ranks that share processors take
	// turns.
	MaxPerHost int `json:"maxPerHost,omitempty"`
	MaxBytes   int `json:"maxBytes,omitempty"` // bytes of one block, inclusive; 0: any number
	// PieceBytes sets the depth of a pipelined algorithm: as many pieces as there are PieceBytes in a block, rounded
	// up, but at least 1 and at most as many as there are elements, or as the algorithm was proved for. 0: depth 1.
	PieceBytes int `json:"pieceBytes,omitempty"`
	// Predicted says that the rule follows from what algorithms cost in a model, and was not measured.
	Predicted bool `json:"predicted,omitempty"`
}

// Algorithm is what a selection has to know of an algorithm.
type Algorithm struct {
	Name        string
	Serves      func(size, local int) bool // nil: every number of ranks
	Proved      func(size int) bool        // nil: for every number of ranks
	Commutative bool                       // it needs a commutative op
	Pipelined   bool                       // the depth of a call makes a difference to it
	Local       bool                       // it is for ranks of which each host has Local
	AtOnce      bool                       // it reduces all operands of a result at once
}

// Call is what rules look at in a call, apart from its bytes: the same for all calls with one op on one communicator.
type Call struct {
	Transport   string // one of Transports
	Size        int    // ranks
	PerHost     int    // ranks on the host that has the most; 0: all
	Local       int    // ranks on each host, one after the other, the last host maybe fewer; 0: hosts are not like that
	Commutative bool   // its op is, or it has none
	AtOnce      bool   // its op needs all operands of a result at once, as a reproducible sum does
	Unproved    bool   // algorithms may carry it out that were not proved for so many ranks
}

// perHost returns how many ranks are on the host that has the most.
func (c *Call) perHost() int { return cmp.Or(c.PerHost, c.Size) }

// Holds reports whether the rule is for calls like c, with some number of bytes.
func (r *Rule) Holds(c Call) bool {
	return (r.Transport == "" || r.Transport == c.Transport) && c.Size >= r.MinSize &&
		(r.MaxSize == 0 || c.Size <= r.MaxSize) &&
		(r.MaxPerHost == 0 || c.perHost() <= r.MaxPerHost)
}

// Depth returns the depth of a call with blocks of count elements and so many bytes.
func (r *Rule) Depth(count, bytes int) int {
	if r.PieceBytes <= 0 || bytes <= 0 {
		return 1
	}
	return max(1, min((bytes-1)/r.PieceBytes+1, count))
}

// Carries reports whether a can carry out a call like c.
func (a *Algorithm) Carries(c Call) bool {
	return a.serves(c) && a.mayRun(c) && (c.Commutative || !a.Commutative) && (a.AtOnce || !c.AtOnce)
}

// serves reports whether a is for as many ranks as c has, on such hosts.
func (a *Algorithm) serves(c Call) bool {
	return (c.Local > 0 || !a.Local) && (a.Serves == nil || a.Serves(c.Size, c.Local))
}

// mayRun reports whether a was proved for as many ranks as c has, or need not be.
func (a *Algorithm) mayRun(c Call) bool { return c.Unproved || a.Proved == nil || a.Proved(c.Size) }

// Against returns why the rule, whose algorithm is a, does not count in a call like c with blocks of so many bytes; ""
// if it may.
func (r *Rule) Against(a *Algorithm, c Call, bytes int) string {
	switch {
	case r.Transport != "" && r.Transport != c.Transport:
		return forTransport(r.Transport)
	case c.Size < r.MinSize || r.MaxSize > 0 && c.Size > r.MaxSize:
		return "it is for " + r.sizes()
	case r.MaxPerHost > 0 && c.perHost() > r.MaxPerHost:
		return "it is for " + r.hosts()
	case r.MaxBytes > 0 && bytes > r.MaxBytes:
		return "it is for " + r.bytes()
	case !a.serves(c):
		return fmt.Sprintf("its algorithm does not serve %s", Ranks(c.Size, c.Local, a.Local))
	case !a.mayRun(c):
		return fmt.Sprintf("its algorithm was not proved for %d ranks", c.Size)
	case a.Commutative && !c.Commutative:
		return "its algorithm needs a commutative op"
	case c.AtOnce && !a.AtOnce:
		return "its algorithm reduces some operands before others, and the sum is to be reproducible"
	}
	return ""
}

// Ranks returns a number of ranks in words, and how many of them are on each host where hosts make a difference: "8
// ranks, 4 on each host".
func Ranks(size, local int, byHost bool) string {
	switch words := fmt.Sprintf("%d ranks", size); {
	case !byHost:
		return words
	case local == 0:
		return words + " on hosts that do not have equally many, one after the other"
	case size%local > 0:
		return fmt.Sprintf("%s, %d on each host but the last", words, local)
	default:
		return fmt.Sprintf("%s, %d on each host", words, local)
	}
}

// forTransport returns why a rule for a transport does not count over another one.
func forTransport(name string) string { return "it is for transport " + name }

// String returns the rule in words: "shm, 2 to 8 ranks, at most 4096 bytes: ring".
func (r Rule) String() string {
	var on []string
	for _, words := range []string{r.Transport, r.sizes(), r.hosts(), r.bytes()} {
		if words != "" {
			on = append(on, words)
		}
	}
	if on == nil {
		on = []string{"all calls"}
	}
	text := strings.Join(on, ", ") + ": " + r.Algorithm
	if r.PieceBytes > 0 {
		text += fmt.Sprintf(" in pieces of %d bytes", r.PieceBytes)
	}
	if r.Predicted {
		text += " (predicted, not measured)"
	}
	return text
}

// sizes returns the condition on the number of ranks in words, "" if there is none.
func (r *Rule) sizes() string {
	switch {
	case r.MinSize > 1 && r.MaxSize == r.MinSize:
		return fmt.Sprintf("%d ranks", r.MinSize)
	case r.MinSize > 1 && r.MaxSize > 0:
		return fmt.Sprintf("%d to %d ranks", r.MinSize, r.MaxSize)
	case r.MinSize > 1:
		return fmt.Sprintf("at least %d ranks", r.MinSize)
	case r.MaxSize == 1:
		return "one rank"
	case r.MaxSize > 0:
		return fmt.Sprintf("at most %d ranks", r.MaxSize)
	}
	return ""
}

// hosts returns the condition on the ranks of a host in words, "" if there is none.
func (r *Rule) hosts() string {
	if r.MaxPerHost == 0 {
		return ""
	}
	return fmt.Sprintf("at most %d on a host", r.MaxPerHost)
}

// bytes returns the condition on the bytes of a block in words, "" if there is none.
func (r *Rule) bytes() string {
	if r.MaxBytes == 0 {
		return ""
	}
	return fmt.Sprintf("at most %d bytes", r.MaxBytes)
}

// Find returns the algorithm of that name; nil if there is none.
func Find(algorithms []Algorithm, name string) *Algorithm {
	i := slices.IndexFunc(algorithms, func(a Algorithm) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return &algorithms[i]
}

// Step is the rule of calls with more bytes in a block than the step before it is for.
type Step struct {
	MaxBytes int // up to so many, inclusive; math.MaxInt: any number
	Rule     int // its index in the table
}

// Steps returns the rules that calls like c get, by the bytes of a block: for each number of bytes the first rule of
// table that holds and whose algorithm carries the call out. Rules bound the bytes from above alone, so that each of
// them is the first one for a range of bytes that begins where those before it end. After the last step no rule is
// left; there is none if its MaxBytes is math.MaxInt.
func Steps(table []Rule, algorithms []Algorithm, c Call) []Step {
	var steps []Step
	reached := -1
	for i := range table {
		r := &table[i]
		upTo := r.MaxBytes
		if upTo == 0 {
			upTo = math.MaxInt
		}
		if upTo <= reached || !r.Holds(c) {
			continue
		}
		if a := Find(algorithms, r.Algorithm); a != nil && a.Carries(c) {
			steps, reached = append(steps, Step{upTo, i}), upTo
		}
	}
	return steps
}

// The largest numbers of ranks and of pieces for which a proof by induction lets a call run: with these, everything
// that an algorithm works out fits an int of 64 bits.
const (
	MaxRanks = 1 << 20
	MaxDepth = 1 << 30
)
