package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/cost"
	"github.com/collgen/collgen/spec"
)

// parts are the numbers of messages, chunks sent and chunks reduced on a critical path.
type parts struct {
	Alpha int `json:"alpha"`
	Beta  int `json:"beta"`
	Gamma int `json:"gamma"`
}

// costSizes are the sizes for which declared costs are compared with schedules, of those for which an algorithm was
// proved: small ones, and larger ones at and around powers of two. The roots are the first, the middle and the last
// rank, and the peers the first and the last one.
var costSizes = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64}

// compareCosts compares the costs that algorithms declare with what their schedules cost.
func compareCosts(ctx context.Context, j *job) error {
	return j.each(ctx, func(a *algorithm) error {
		for _, p := range j.costCalls(a) {
			s, err := gen.Instantiate(&a.Algorithm, p)
			if err != nil {
				return err
			}
			if err := compareCost(a, s); err != nil || ctx.Err() != nil {
				return err
			}
		}
		return nil
	})
}

// costCalls returns the calls for which the cost of a is compared; none if it declares none.
func (j *job) costCalls(a *algorithm) []gen.Params {
	var calls []gen.Params
	if a.Cost.Alpha.IsAbsent() && a.Cost.Beta.IsAbsent() && a.Cost.Gamma.IsAbsent() {
		return nil
	}
	for _, size := range costSizes {
		if slices.Contains(a.proof.Sizes, size) {
			calls = append(calls, a.Calls(size, 1, 3)...)
		}
	}
	return slices.DeleteFunc(calls, func(p gen.Params) bool {
		return !slices.Contains([]int{0, p.Size / 2, p.Size - 1}, p.Root) || p.Peer != 0 && p.Peer != p.Size-1
	})
}

// compareCost compares what a declares with what s costs.
func compareCost(a *algorithm, s *gen.Schedule) error {
	m, err := cost.Measure(s)
	if err != nil {
		return err
	}
	c, err := declared(a.Cost, s.Params)
	if err != nil {
		return costError{fmt.Errorf("%s: the cost that it declares: %w", a.FullName(), err)}
	}
	var wrong []string
	for _, part := range []struct {
		name     string
		declared *int
		measured int
	}{{"Alpha", c.Alpha, m.Alpha}, {"Beta", c.Beta, m.Beta}, {"Gamma", c.Gamma, m.Gamma}} {
		if part.declared != nil && *part.declared != part.measured {
			wrong = append(wrong, fmt.Sprintf("%s is %d there, measured %d", part.name, *part.declared, part.measured))
		}
	}
	if wrong == nil {
		return nil
	}
	return costError{fmt.Errorf("%s declares a cost that is not that of %s: %s", a.FullName(), costCall(a, s.Params),
		strings.Join(wrong, "; "))}
}

func costCall(a *algorithm, p gen.Params) string {
	words := callWords(a.Primitive, p)
	if p.Depth != 1 {
		words += fmt.Sprintf(", depth %d", p.Depth)
	}
	return words
}

// declaredParts are the numbers that an algorithm declares for a call, those of which it says nothing are nil.
type declaredParts struct {
	Alpha *int `json:"alpha,omitempty"`
	Beta  *int `json:"beta,omitempty"`
	Gamma *int `json:"gamma,omitempty"`
}

// declared is c for the size and depth of a call.
func declared(c gen.Cost, p gen.Params) (d declaredParts, err error) {
	zero := spec.Int(0)
	numbers, err := eval(gen.Cost{Alpha: c.Alpha.OrElse(zero), Beta: c.Beta.OrElse(zero), Gamma: c.Gamma.OrElse(zero)}, p)
	for _, part := range []struct {
		is     **int
		e      spec.Expr
		number int
	}{{&d.Alpha, c.Alpha, numbers.Alpha}, {&d.Beta, c.Beta, numbers.Beta}, {&d.Gamma, c.Gamma, numbers.Gamma}} {
		if !part.e.IsAbsent() {
			*part.is = &part.number
		}
	}
	return d, err
}

// orNothing returns the number for a table, empty if there is none.
func orNothing(n *int) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

func callWords(p spec.Primitive, call gen.Params) string {
	words := fmt.Sprintf("%d %s", call.Size, plural(call.Size, "rank"))
	for _, x := range p.Params {
		switch x {
		case spec.ParamRoot:
			words += fmt.Sprintf(", root %d", call.Root)
		case spec.ParamPeer:
			words += fmt.Sprintf(", peer %d", call.Peer)
		}
	}
	return words
}

func eval(c gen.Cost, p gen.Params) (parts, error) {
	alpha, beta, gamma, err := c.Eval(p)
	return parts{alpha, beta, gamma}, err
}
