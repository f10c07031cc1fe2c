package colltest

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Run tests an implementation. Each primitive is a subtest, which is skipped if the implementation does not have the
// primitive, or it cannot be called on any of the sizes. Another subtest has all of them in turn. In the end Run logs
// how much was tested, and what was not. A failure ends with the command that repeats it: if the environment variable
// COLLTEST_CASE has a case as JSON, Run makes its calls alone, as [Suite.Repeat] does.
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
	if text := os.Getenv(caseVariable); text != "" {
		s.runCase(t, text)
		return
	}
	name := t.Name()
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
				t.Errorf("%v%s", f, againTest(name, f))
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
				t.Errorf("%v%s", f, againTest(name, f))
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

// caseVariable is the environment variable that has the only case of [Run].
const caseVariable = "COLLTEST_CASE"

// runCase makes the calls of one case.
func (s *Suite) runCase(t *testing.T, text string) {
	c, err := ParseCase(text)
	if err != nil {
		t.Fatalf("%s: %v", caseVariable, err)
	}
	f, err := s.Repeat(t.Context(), c)
	switch {
	case err != nil:
		t.Fatalf("%s: %v", caseVariable, err)
	case f != nil:
		t.Error(f)
	default:
		t.Logf("the case has passed %d times", tries)
	}
}

// againTest returns the command with which the test of a name repeats a failure, "" if the case alone does not repeat
// it.
func againTest(name string, f *Failure) string {
	if f.Failed == 0 {
		return ""
	}
	var pattern []string
	for part := range strings.SplitSeq(name, "/") {
		pattern = append(pattern, "^"+regexp.QuoteMeta(part)+"$")
	}
	return fmt.Sprintf("\n  again: %s='%s' go test -run '%s'", caseVariable, f.Case.JSON(), strings.Join(pattern, "/"))
}
