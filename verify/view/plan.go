package view

import (
	"io"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/plan"
	"github.com/collgen/collgen/spec"
)

// OfPlan reads a plan file, for one of primitives, and returns what a page shows of it. What is wrong with the plan is
// in the Failure of the result; the error is that of what is no plan, or is too large to be shown.
func OfPlan(r io.Reader, primitives []spec.Primitive, inPlace bool) (*Data, error) {
	s, err := plan.Decode(r, primitives)
	if err != nil {
		return nil, err
	}
	d, err := New(s, inPlace)
	if err != nil {
		return nil, err
	}
	d.Plan = planText(s)
	return d, nil
}

// mostOfPlan is how many instructions a schedule may have whose plan is on the page, for people to change.
const mostOfPlan = 2000

// planText returns the plan of s; nothing if it is long, or has none.
func planText(s *gen.Schedule) string {
	var b strings.Builder
	if size(s) > mostOfPlan || plan.Encode(&b, s) != nil {
		return ""
	}
	return b.String()
}
