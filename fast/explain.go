package fast

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/selection"
)

// Query describes a call, for Explain.
type Query struct {
	Collective string // one of Collectives
	Bytes      int    // of one block
	Count      int    // elements in a block, which bound the depth; 0: as many as bytes
	Op         Op     // of floats, where the collective takes one; 0: one that is commutative
}

// Explanation says which algorithm a call would get, and why.
type Explanation struct {
	Collective string `json:"collective"`
	Size       int    `json:"size"`
	PerHost    int    `json:"perHost"`   // ranks on the host with the most of them
	Transport  string `json:"transport"` // in the words of rules: "inproc", "shm", "tcp", "rdma" or "mixed"
	Bytes      int    `json:"bytes"`     // of one block
	Op         string `json:"op,omitempty"`
	Algorithm  string `json:"algorithm"`
	Depth      int    `json:"depth"`
	// Proved says for which calls the algorithm was proved: "every number of ranks and every depth".
	Proved string `json:"proved"`
	// Protocol says how the transport carries messages of a block, if it has several ways.
	Protocol string `json:"protocol,omitempty"`
	// Asked says that WithAlgorithm names the algorithm, so that no rule was tried.
	Asked bool `json:"asked,omitempty"`
	// Rules are the rules that were tried, in order. The last one counts.
	Rules []Verdict `json:"rules,omitempty"`
}

// Verdict says whether a rule counts for a call, in an Explanation.
type Verdict struct {
	Table string `json:"table"` // "built-in", or the file of a Tuning
	Line  int    `json:"line"`  // in that table, from 1
	Rule  Rule   `json:"rule"`
	Why   string `json:"why,omitempty"` // why it does not count; "": it does
}

// String returns the rule in words: "built-in rule 3: at most 2 ranks: ring", and why it does not count.
func (v Verdict) String() string {
	text := fmt.Sprintf("%s rule %d: %v", v.Table, v.Line, v.Rule)
	if v.Why != "" {
		text += ": " + v.Why
	}
	return text
}

// Explain returns the algorithm that a call on c with these options would get, and why. It makes no call, and may be
// used at any time. It fails as the call would: with ErrInvalidArgument if no algorithm can serve it, or was proved for
// it.
//
//	x, err := fast.Explain(c, fast.Query{Collective: "AllReduce", Bytes: 4 * len(grad), Op: fast.Sum})
//	fmt.Println(x)
func Explain(c *Comm, q Query, opts ...Option) (*Explanation, error) {
	k := collectiveOf(q.Collective)
	switch {
	case c == nil || c.size == 0:
		return nil, wire.Refuse("Explain", "the communicator is nil or was made by neither Run nor Init")
	case k == nil:
		return nil, wire.Refuse("Explain", "no collective is called %q; there are %s", q.Collective,
			strings.Join(Collectives(), ", "))
	case q.Bytes < 0 || q.Count < 0 || q.Count > q.Bytes:
		return nil, wire.Refuse("Explain", "a block of %d elements and %d bytes", q.Count, q.Bytes)
	case q.Op != 0 && !(k.Reduces && (q.Op.Valid() || q.Op.Declared())):
		return nil, wire.Refuse("Explain", "%s has no op %v", k.Name, q.Op)
	}
	count := q.Count
	if count == 0 {
		count = q.Bytes
	}
	p := c.exec.NewPlan(k)
	a, depth, err := p.Choose(count, q.Bytes, q.Op, 0, opts)
	if err != nil {
		return nil, err
	}
	x := &Explanation{Collective: k.Name, Size: c.size, PerHost: cmp.Or(c.exec.PerHost, c.size),
		Transport: c.exec.Carrier, Bytes: q.Bytes, Algorithm: a.Name, Depth: depth, Proved: a.Proved.String()}
	if q.Op != 0 {
		x.Op = q.Op.String()
	}
	x.Protocol = transport.Protocol(c.exec.Transport, q.Bytes, k.Reduces)
	if x.Asked = exec.AsksFor(opts); !x.Asked {
		x.Rules = verdicts(c.tuningName(), p.Tuned, p.Explain(q.Op, q.Bytes, opts))
	}
	return x, nil
}

// verdicts returns the rules that were tried for x. The first ones, as many as rules, are of the table called tuned.
func verdicts(tuned string, rules int, x selection.Choice) []Verdict {
	var all []Verdict
	add := func(line int, r Rule, why string) {
		v := Verdict{"built-in", line - rules, r, why}
		if line <= rules {
			v.Table, v.Line = tuned, line
		}
		all = append(all, v)
	}
	for _, r := range x.Passed {
		add(r.Line, r.Rule, r.Why)
	}
	add(x.Line, x.Rule, "")
	return all
}

// String returns the algorithm, the depth and the protocol in one line, and the reasons in further lines.
func (x *Explanation) String() string {
	var b strings.Builder
	op := ""
	if x.Op != "" {
		op = " with " + x.Op
	}
	fmt.Fprintf(&b, "%s%s of %d bytes among %d ranks over %s: %s, depth %d", x.Collective, op, x.Bytes, x.Size,
		x.Transport, x.Algorithm, x.Depth)
	if x.Protocol != "" {
		b.WriteString(", " + x.Protocol)
	}
	if x.Asked {
		b.WriteString("\n  because WithAlgorithm asks for it")
	}
	if last := len(x.Rules) - 1; last >= 0 {
		fmt.Fprintf(&b, "\n  because of %v", x.Rules[last])
		for rules := x.Rules[:last]; len(rules) > 0; {
			n := slices.IndexFunc(rules, func(v Verdict) bool { return v.Table != rules[0].Table })
			if n < 0 {
				n = len(rules)
			}
			passedOver(&b, rules[:n])
			rules = rules[n:]
		}
	}
	fmt.Fprintf(&b, "\n  proved for %s", x.Proved)
	return b.String()
}

// passedOver writes why the given rules of one table do not count.
func passedOver(b *strings.Builder, rules []Verdict) {
	passed := make([]selection.Passed, len(rules))
	for i, v := range rules {
		passed[i] = selection.Passed{Line: v.Line, Rule: v.Rule, Why: v.Why}
	}
	for _, words := range selection.Words(passed) {
		fmt.Fprintf(b, "\n  not %s %s", rules[0].Table, words)
	}
}

// tuningName returns the name of the job's own table of rules; "" if there is none.
func (c *Comm) tuningName() string {
	if c.world == nil {
		return ""
	}
	return c.world.tuned.name
}
