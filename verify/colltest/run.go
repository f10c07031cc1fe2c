package colltest

import (
	"strings"
	"testing"
)

// Run tests an implementation. Each primitive is a subtest, which is skipped if the implementation does not have the
// primitive, or it cannot be called on any of the sizes. Another subtest has all of them in turn. In the end Run logs
// how much was tested, and what was not.
func Run(t *testing.T, impl Implementation) {
	s := NewSuite(impl)
	s.Run(t)
}

// Run does what function [Run] does, with the suite's settings.
func (s *Suite) Run(t *testing.T) {
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	has, can, calls := map[string]bool{}, 0, 0
	for _, x := range s.can.Primitives {
		has[x.Primitive.Name] = true
		why := s.can.nothing(x)
		if why == "" {
			can++
		}
		t.Run(x.Primitive.Name, func(t *testing.T) {
			if why != "" {
				t.Skip("not tested: " + why)
			}
			for _, f := range s.Check(t.Context(), x) {
				t.Error(f)
			}
			if made := s.Tested[x.Primitive.Name].Made(); made == 0 && !t.Failed() {
				t.Skip("not tested: it cannot make any of the calls")
			} else {
				calls += made
			}
		})
	}
	if can > 1 {
		t.Run(Mixed, func(t *testing.T) {
			for _, f := range s.Check(t.Context(), s.can.Primitives...) {
				t.Error(f)
			}
			calls += s.Tested[Mixed].Made()
		})
	}
	for _, p := range Primitives() {
		if !has[p.Name] {
			t.Run(p.Name, func(t *testing.T) { t.Skipf("%s does not have it", s.can.Name) })
		}
	}
	if can > 0 && calls == 0 && !t.Failed() {
		t.Errorf("%s has made no call", s.can.Name)
	}
	if can == 0 {
		t.Errorf("%s has no primitive that could be tested", s.can.Name)
	}
	t.Logf("tested: %+v", s.Tested)
	if untested := s.Untested(); len(untested) > 0 {
		t.Logf("not tested: %s", strings.Join(untested, "; "))
	}
}
