package main

import (
	"slices"
	"strings"
	"time"
)

// subject is a package whose source code is mutated, without the packages in folders below it, and the stages that may
// kill its mutants: its own tests first, then those of packages that import it.
type subject struct {
	pkg    string
	stages []stage
	few    bool // its tests take minutes: it gets a quarter of the mutants, or two
}

var subjects = []subject{
	{pkg: "spec", stages: []stage{
		tests("tests of spec", "./spec"),
		tests("tests of gen", "./gen", "./gen/emit/..."),
		tests("tests of verify", "./verify", "./verify/mutate"),
	}},
	{pkg: "gen", stages: []stage{
		tests("tests of gen", "./gen", "./gen/catalogue"),
		tests("tests of gen/emit", "./gen/emit/..."),
		tests("tests of verify", "./verify", "./verify/mutate"),
		check,
	}},
	{pkg: "gen/catalogue", stages: []stage{
		tests("tests of gen", "./gen", "./gen/catalogue"),
		tests("tests of verify", "./verify"),
		check,
	}},
	{pkg: "verify", stages: []stage{
		tests("tests of verify", "./verify"),
		tests("schedule mutants", "./verify/mutate"),
	}},
	{pkg: "gen/induct", stages: []stage{tests("tests of gen/induct", "./gen/induct"), tests("tests of verify/smtproof",
		"./verify/smtproof")}},
	{pkg: "gen/emit/golang", stages: []stage{tests("tests of gen/emit", "./gen/emit/..."), check}},
	{pkg: "gen/emit/smt", stages: []stage{tests("tests of gen/emit", "./gen/emit/..."), tests("tests of verify/smtproof",
		"./verify/smtproof"), check}},
	{pkg: "verify/smtproof", stages: []stage{tests("tests of verify/smtproof", "./verify/smtproof"),
		tests("tests of cmd/collgen", "./cmd/collgen")}},
	{pkg: "verify/colltest", stages: []stage{tests("tests of verify/colltest", "./verify/colltest/...")}},
	{pkg: "ref", stages: []stage{tests("tests of ref", "./ref"), tests("tests of verify/colltest", "./verify/colltest")}},
	{pkg: "selection", stages: []stage{tests("tests of selection", "./selection"), tests("tests of gen", "./gen"),
		tests("tests of cmd/collgen", "./cmd/collgen")}},
	{pkg: "fast", stages: []stage{ofFast}, few: true},
	{pkg: "fast/neighbor", stages: []stage{tests("tests of neighbor", "./fast/neighbor")}},
	{pkg: "fast/hosts", stages: []stage{tests("tests of hosts", "./fast/hosts")}},
	{pkg: "fast/quantized", stages: []stage{tests("tests of quantized", "./fast/quantized")}},
	{pkg: "fast/internal/exec", stages: []stage{timed("tests of exec", "./fast/internal/exec"), ofFast}, few: true},
	{pkg: "fast/internal/linkbase", stages: []stage{timed("tests of links", "./fast/internal/linkbase"),
		timed("tests of tcp", "./fast/internal/tcp")}},
	{pkg: "fast/internal/tcp", stages: []stage{timed("tests of tcp", "./fast/internal/tcp"), ofFast}, few: true},
	{pkg: "fast/internal/shm", stages: []stage{timed("tests of shm", "./fast/internal/shm"), ofFast}, few: true},
	{pkg: "fast/internal/rdma", stages: []stage{timed("tests of rdma", "./fast/internal/rdma")}, few: true},
	{pkg: "fast/internal/kernel", stages: []stage{tests("tests of kernel", "./fast/internal/kernel")}},
}

// ofFast is the tests of package fast, those that are packages of their own included.
var ofFast = timed("tests of fast", "./fast", "./fast/internal/emittest", "./fast/internal/simtest",
	"./fast/internal/jobtest")

// check generates everything again, with the proofs.
var check = stage{name: "check-generate", dir: "fast", patience: time.Minute, args: []string{"run", "../cmd/collgen",
	"check"}}

// tests runs the tests of packages that take seconds.
func tests(name string, packages ...string) stage {
	args := []string{"test", "-count=1", "-vet=off", "-failfast", "-short", "-skip=^(" + slow + "|" + digests + ")$"}
	return stage{name: name, dir: ".", args: slices.Concat(args, packages), patience: time.Minute}
}

// timed runs tests some of which have time limits. On a busy machine they fail without a mutant, so that a mutant has
// to fail twice. Some reserve much address space.
func timed(name string, packages ...string) stage {
	r := tests(name, packages...)
	r.twice, r.memory = true, 64<<20
	return r
}

const (
	// slow lists tests that run whole jobs, or many other tests again: their packages have quicker tests that find as
	// much.
	slow = "TestCombinations|TestInProcess|TestProcesses|TestCommunicators|TestMutatedCodeIsNotTheSchedule"
	// digests lists tests that compare with the record of what was proved: they fail on any change, mistake or not.
	digests = "TestRecordIsCurrent|TestProveTheirs"
)

// asked returns how many mutants of this subject to try if each subject is to have of; negative: all.
func (s subject) asked(of int) int {
	if s.few && of > 0 {
		return max(min(of, 2), of/4)
	}
	return of
}

// chosen returns the subjects in a comma-separated list; all if the list is empty.
func chosen(names string) (some []subject) {
	for _, s := range subjects {
		if names == "" || slices.Contains(strings.Split(names, ","), s.pkg) {
			some = append(some, s)
		}
	}
	return some
}
