package readback

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// term is an expression in normal form: a number, a truth value, a buffer or a place. Equal terms of one [terms] are
// the same.
type term int

// param is the name of the number that an algorithm leaves open.
const param = "param"

// absent is no term.
const absent term = -1

// node is what a term is made of.
type node struct {
	op    string
	name  string // of a parameter, a buffer, the turn of a loop, and a number of a fold
	args  []term
	n     int   // a number; of a sum, what is added to its args; of a fold, and its numbers, the loops around it
	times []int // of a sum: how often each of its args counts
}

// terms are all terms of a comparison.
type terms struct {
	nodes []node
	ids   map[string]term
}

func newTerms() *terms { return &terms{ids: map[string]term{}} }

// make returns the term of a node.
func (t *terms) make(n node) term {
	key := fmt.Sprint(n.op, " ", n.name, " ", n.n, n.times, n.args)
	id, ok := t.ids[key]
	if !ok {
		id = term(len(t.nodes))
		t.nodes, t.ids[key] = append(t.nodes, n), id
	}
	return id
}

func (t *terms) is(x term, op string) bool { return t.nodes[x].op == op }

func (t *terms) number(n int) term       { return t.make(node{op: "number", n: n}) }
func (t *terms) name(name string) term   { return t.make(node{op: "name", name: name}) }
func (t *terms) buffer(name string) term { return t.make(node{op: "buffer", name: name}) }

func (t *terms) truth(b bool) term {
	if b {
		return t.make(node{op: "truth", n: 1})
	}
	return t.make(node{op: "truth"})
}

// isTruth reports whether x is a truth value, and not a number or a buffer.
func (t *terms) isTruth(x term) bool {
	switch n := t.nodes[x]; n.op {
	case "truth", "<", "==", "and", "not":
		return true
	case "if":
		return t.isTruth(n.args[1])
	}
	return false
}

// constants returns the values of numbers, if all of xs are.
func (t *terms) constants(xs ...term) (values []int, ok bool) {
	for _, x := range xs {
		if !t.is(x, "number") {
			return nil, false
		}
		values = append(values, t.nodes[x].n)
	}
	return values, true
}

// parts returns the sum that x is: n, and times of each of args.
func (t *terms) parts(x term) node {
	switch n := t.nodes[x]; n.op {
	case "sum":
		return n
	case "number":
		return node{op: "sum", n: n.n}
	}
	return node{op: "sum", args: []term{x}, times: []int{1}}
}

// plus returns x + k × y. Sums are those of int: what does not fit wraps around.
func (t *terms) plus(x term, k int, y term) term {
	a, b := t.parts(x), t.parts(y)
	sum := node{op: "sum", n: a.n + k*b.n, args: slices.Clone(a.args), times: slices.Clone(a.times)}
	for i, arg := range b.args {
		if at := slices.Index(sum.args, arg); at >= 0 {
			sum.times[at] += k * b.times[i]
			continue
		}
		at, _ := slices.BinarySearch(sum.args, arg)
		sum.args, sum.times = slices.Insert(sum.args, at, arg), slices.Insert(sum.times, at, k*b.times[i])
	}
	for i := len(sum.args) - 1; i >= 0; i-- {
		if sum.times[i] == 0 {
			sum.args, sum.times = slices.Delete(sum.args, i, i+1), slices.Delete(sum.times, i, i+1)
		}
	}
	switch {
	case len(sum.args) == 0:
		return t.number(sum.n)
	case len(sum.args) == 1 && sum.n == 0 && sum.times[0] == 1:
		return sum.args[0]
	}
	return t.make(sum)
}

// product returns x × y, with constants in front.
func (t *terms) product(x, y term) term {
	a, b := t.parts(x), t.parts(y)
	switch {
	case len(a.args) == 0:
		return t.plus(t.number(0), a.n, y)
	case len(b.args) == 0:
		return t.plus(t.number(0), b.n, x)
	}
	k := 1
	factor := func(x term, p node) []term {
		if p.n == 0 && len(p.args) == 1 {
			k *= p.times[0]
			x = p.args[0]
		}
		if t.is(x, "*") {
			return t.nodes[x].args
		}
		return []term{x}
	}
	factors := slices.Concat(factor(x, a), factor(y, b))
	return t.plus(t.number(0), k, t.make(node{op: "*", args: factors}))
}

// list returns an associative operator: x op y, and what these are lists of.
func (t *terms) list(op string, xs ...term) term {
	var args []term
	for _, x := range xs {
		if t.is(x, op) {
			args = append(args, t.nodes[x].args...)
		} else {
			args = append(args, x)
		}
	}
	return t.make(node{op: op, args: args})
}

// operator returns a binary operator on numbers that has no special rules.
func (t *terms) operator(op string, x, y term) term {
	if v, ok := t.constants(x, y); ok {
		if n, ok := folded(op, v[0], v[1]); ok {
			return t.number(n)
		}
	}
	switch op {
	case "<<", ">>", "/", "%":
		return t.make(node{op: op, args: []term{x, y}})
	}
	return t.gathered(op, t.nodes[t.list(op, x, y)].args)
}

// gathered returns an associative and commutative operator on xs, whose constants are one, in front. Max leaves out one
// that is not larger than 1 beside what is positive.
func (t *terms) gathered(op string, xs []term) term {
	var args, numbers []term
	positive := false
	for _, x := range xs {
		if !t.is(x, "number") {
			args, positive = append(args, x), positive || t.isPositive(x)
			continue
		}
		if numbers != nil {
			n, _ := folded(op, t.nodes[numbers[0]].n, t.nodes[x].n)
			x = t.number(n)
		}
		numbers = []term{x}
	}
	if op == "max" && positive && numbers != nil && t.nodes[numbers[0]].n <= 1 {
		numbers = nil
	}
	if args = append(numbers, args...); len(args) == 1 {
		return args[0]
	}
	return t.make(node{op: op, args: args})
}

// folded returns the value of an operator on numbers, where it has one.
func folded(op string, x, y int) (int, bool) {
	switch op {
	case "min":
		return min(x, y), true
	case "max":
		return max(x, y), true
	case "&":
		return x & y, true
	case "|":
		return x | y, true
	case "^":
		return x ^ y, true
	case "/", "%":
		if x < 0 || y < 1 {
			return 0, false
		}
		if op == "/" {
			return x / y, true
		}
		return x % y, true
	}
	if y < 0 || y >= 32 {
		return 0, false
	}
	if op == "<<" {
		return x << y, true
	}
	return x >> y, true
}

// isPositive reports whether x is 1 at least: a sum of what is not negative, with 1, size or depth among it.
func (t *terms) isPositive(x term) bool {
	p := t.parts(x)
	positive := p.n > 0
	for i, arg := range p.args {
		n := t.nodes[arg]
		if n.op != "name" || p.times[i] < 0 {
			return false
		}
		positive = positive || n.name == "size" || n.name == "depth" || n.name == "local" || n.name == param
	}
	return positive && p.n >= 0
}

// length is bits.Len(uint(x)).
func (t *terms) length(x term) term {
	if v, ok := t.constants(x); ok {
		return t.number(bits.Len(uint(v[0])))
	}
	return t.make(node{op: "length", args: []term{x}})
}

// reversed is int(bits.Reverse32(uint32(x)) >> (32 - k)).
func (t *terms) reversed(x, k term) term {
	return t.make(node{op: "reversed", args: []term{x, k}})
}

func (t *terms) less(x, y term) term {
	if v, ok := t.constants(x, y); ok {
		return t.truth(v[0] < v[1])
	}
	return t.make(node{op: "<", args: []term{x, y}})
}

func (t *terms) equal(x, y term) term {
	zero := t.number(0)
	switch {
	case x == y:
		return t.truth(true)
	case x == zero:
		return t.not(t.isSet(y))
	case y == zero:
		return t.not(t.isSet(x))
	}
	if v, ok := t.constants(x, y); ok {
		return t.truth(v[0] == v[1])
	}
	return t.make(node{op: "==", args: []term{min(x, y), max(x, y)}})
}

// isSet returns x != 0, of a number, and of a truth value x itself.
func (t *terms) isSet(x term) term {
	switch n := t.nodes[x]; {
	case t.isTruth(x):
		return x
	case n.op == "number":
		return t.truth(n.n != 0)
	case n.op == "if":
		return t.choice(n.args[0], t.isSet(n.args[1]), t.isSet(n.args[2]))
	}
	return t.not(t.make(node{op: "==", args: []term{min(x, t.number(0)), max(x, t.number(0))}}))
}

// asNumber is 1 where x holds and 0 elsewhere, of a truth value, and of a number x itself.
func (t *terms) asNumber(x term) term {
	if t.isTruth(x) {
		return t.choice(x, t.number(1), t.number(0))
	}
	return x
}

func (t *terms) not(x term) term {
	switch n := t.nodes[x]; n.op {
	case "not":
		return n.args[0]
	case "truth":
		return t.truth(n.n == 0)
	}
	return t.make(node{op: "not", args: []term{x}})
}

func (t *terms) and(x, y term) term {
	for _, side := range [][2]term{{x, y}, {y, x}} {
		if n := t.nodes[side[0]]; n.op == "truth" {
			if n.n == 0 {
				return side[0]
			}
			return side[1]
		}
	}
	return t.list("and", x, y)
}

func (t *terms) or(x, y term) term { return t.not(t.and(t.not(x), t.not(y))) }

// choice returns x where c holds and y elsewhere.
func (t *terms) choice(c, x, y term) term {
	switch n := t.nodes[c]; {
	case n.op == "not":
		return t.choice(n.args[0], y, x)
	case n.op == "truth" && n.n != 0 || x == y:
		return x
	case n.op == "truth":
		return y
	case x == t.truth(true) && y == t.truth(false):
		return c
	case x == t.truth(false) && y == t.truth(true):
		return t.not(c)
	}
	// The number of bits of s, where s is positive, and else 0: that of what s is if that is not less than 0.
	if t.is(x, "length") && y == t.number(0) {
		if s := t.nodes[x].args[0]; c == t.less(t.number(1), t.plus(s, 1, t.number(1))) {
			one := t.number(1)
			return t.length(t.plus(t.operator("max", t.plus(s, 1, one), one), -1, one))
		}
	}
	return t.make(node{op: "if", args: []term{c, x, y}})
}

// text returns x for people to read. What is very long is cut off.
func (t *terms) text(x term) string {
	var b strings.Builder
	t.write(&b, x)
	if b.Len() > longest {
		return strings.ToValidUTF8(b.String()[:longest], "") + "…"
	}
	return b.String()
}

const longest = 300

func (t *terms) write(b *strings.Builder, x term) {
	if b.Len() > longest {
		return
	}
	n := t.nodes[x]
	switch n.op {
	case "number":
		fmt.Fprint(b, n.n)
	case "truth":
		fmt.Fprint(b, n.n != 0)
	case "name", "buffer", "state":
		b.WriteString(n.name)
	default:
		b.WriteString(n.op + n.name + "(")
		for i, arg := range n.args {
			if i > 0 {
				b.WriteString(", ")
			}
			if n.op == "sum" && n.times[i] != 1 {
				fmt.Fprintf(b, "%d*", n.times[i])
			}
			t.write(b, arg)
		}
		if n.op == "sum" && n.n != 0 {
			fmt.Fprintf(b, ", %d", n.n)
		}
		b.WriteString(")")
	}
}
