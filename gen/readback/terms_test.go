package readback

import (
	"math/bits"
	"testing"

	"github.com/collgen/collgen/spec"
	"pgregory.net/rapid"
)

// eval returns the value of a term. Truth values are 0 and 1.
func (t *terms) eval(x term, env spec.Env) int {
	n := t.nodes[x]
	at := func(i int) int { return t.eval(n.args[i], env) }
	all := func(f func(x, y int) int) int {
		v := at(0)
		for i := range n.args[1:] {
			v = f(v, at(i+1))
		}
		return v
	}
	one := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	switch n.op {
	case "number", "truth":
		return n.n
	case "name":
		v, _ := spec.Var(n.name).Eval(env)
		return v
	case "sum":
		v := n.n
		for i := range n.args {
			v += n.times[i] * at(i)
		}
		return v
	case "*":
		return all(func(x, y int) int { return x * y })
	case "min":
		return all(func(x, y int) int { return min(x, y) })
	case "max":
		return all(func(x, y int) int { return max(x, y) })
	case "&":
		return all(func(x, y int) int { return x & y })
	case "|":
		return all(func(x, y int) int { return x | y })
	case "^":
		return all(func(x, y int) int { return x ^ y })
	case "and":
		return all(func(x, y int) int { return x & y })
	case "/":
		return at(0) / at(1)
	case "%":
		return at(0) % at(1)
	case "<<":
		return at(0) << max(at(1), 0)
	case ">>":
		return at(0) >> max(at(1), 0)
	case "reversed":
		return int(bits.Reverse32(uint32(at(0))) >> (32 - min(max(at(1), 0), 31)))
	case "length":
		return bits.Len(uint(at(0)))
	case "<":
		return one(at(0) < at(1))
	case "==":
		return one(at(0) == at(1))
	case "not":
		return 1 - at(0)
	case "if":
		if at(0) != 0 {
			return at(1)
		}
		return at(2)
	}
	panic(n.op)
}

// TestFolded: what has no value is not folded.
func TestFolded(t *testing.T) {
	for _, op := range []string{"/", "%"} {
		for _, x := range [][2]int{{-7, 2}, {7, 0}, {7, -2}} {
			if n, ok := folded(op, x[0], x[1]); ok {
				t.Errorf("%d %s %d is folded to %d", x[0], op, x[1], n)
			}
		}
	}
}

// TestTermsMeanTheSame as the expressions that they are made of, wherever these have a value.
func TestTermsMeanTheSame(t *testing.T) {
	values, truths := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		r := &random{T: t, names: []string{"rank", "size", "depth"}}
		env := spec.Env{{Name: "size", Value: 1 + r.pick(9)}, {Name: "rank", Value: r.pick(9)},
			{Name: "depth", Value: 1 + r.pick(4)}}
		for range 30 {
			m := newMeaning(newTerms())
			e := r.value()
			if want, err := e.Eval(env); err == nil {
				values++
				if got := m.eval(m.value(e), env); got != want {
					t.Fatalf("%v under %v is %d, and as a term, %s, %d", e, env, want, m.text(m.value(e)), got)
				}
			}
			e = r.truth(3)
			if want, err := e.Eval(env); err == nil {
				truths++
				if got := m.eval(m.holds(e), env); (got != 0) != (want != 0) {
					t.Fatalf("%v under %v is %d, and as a term, %s, %d", e, env, want, m.text(m.holds(e)), got)
				}
			}
		}
	})
	if t.Logf("%d values, %d truths", values, truths); values < 300 || truths < 300 {
		t.Error("too few were compared")
	}
}
