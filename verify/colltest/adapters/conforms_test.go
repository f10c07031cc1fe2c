package main

import (
	"slices"
	"testing"

	"github.com/collgen/collgen/verify/colltest"
	"github.com/collgen/collgen/verify/colltest/remote"
)

// conforms checks a command on those numbers of ranks, but for what is left out, and returns what fails.
func conforms(t *testing.T, sizes []int, without []string, command ...string) (failures []*colltest.Failure) {
	t.Helper()
	job, err := remote.NewJob(t.Context(), command, nil, sizes)
	if err != nil {
		t.Fatal(err)
	}
	if job.Can, err = job.Can.Without(without...); err != nil {
		t.Fatal(err)
	}
	s := colltest.NewSuite(job)
	s.Cases, s.Shrinking, s.Failures = 3, 0, 1
	for _, x := range job.Can.Primitives {
		found := s.Check(t.Context(), x)
		failures = append(failures, found...)
		if made := s.Tested[x.Primitive.Name].Calls; made < 10 && len(found) == 0 {
			t.Errorf("%s: %d calls", x.Primitive.Name, made)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return failures
}

// fail checks that those primitives fail.
func fail(t *testing.T, failures []*colltest.Failure, primitives ...string) {
	t.Helper()
	var names []string
	for _, f := range failures {
		names = append(names, f.Case.Steps[0].Primitive)
	}
	if !slices.Equal(names, primitives) {
		t.Errorf("want failures of %q: %v", primitives, failures)
	}
}
