package main

import (
	"errors"
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/internal/edit"
)

// trial is a mutant of a schedule or an algorithm, and the verdict on it.
type trial struct {
	what     string
	operator string
	killer   string         // the check of package verify that it fails; "": none
	same     bool           // it has the meaning of the original
	err      error          // of package verify
	mutant   *gen.Algorithm // of an algorithm: the changed one
}

func (t trial) String() string { return t.what + ": " + t.operator }

// bounds says of which schedules mutants are made.
type bounds struct {
	from, to int   // sizes
	roots    int   // roots from 0 up to this; mutants of algorithms have all
	depths   []int // for algorithms that depend on depth
	every    int   // one mutant in this many is tried
}

func (b bounds) ranks() string { return fmt.Sprintf("%d..%d", b.from, b.to) }

// sample returns in words which part of the mutants is tried.
func (b bounds) sample() string {
	if b.every == 1 {
		return "all"
	}
	return fmt.Sprintf("a sample, one in %d", b.every)
}

// scheduleMutants applies every operator to every instruction of every schedule within bounds, and tries the results.
func scheduleMutants(a *gen.Algorithm, b bounds, each func(trial)) error {
	number := 0
	for size := b.from; size <= b.to; size++ {
		for _, call := range a.Calls(size, b.depths...) {
			if call.Root >= b.roots || call.Peer > b.roots {
				continue
			}
			s, err := gen.Instantiate(a, call)
			if err != nil {
				return err
			}
			for rank := range s.Ranks {
				for i := range s.Ranks[rank].Instrs {
					for _, o := range edit.Operators {
						if mutant := edit.Clone(s); o.Plant(edit.Site{Schedule: mutant, Rank: rank, Index: i}) {
							if number++; number%b.every == 0 {
								each(try(s, mutant, o.Name, fmt.Sprintf("%s, size %d, root %d, peer %d, depth %d, rank %d, instruction %d",
									s.Algorithm, call.Size, call.Root, call.Peer, call.Depth, rank, i)))
							}
						}
					}
				}
			}
		}
	}
	return nil
}

// try has package verify judge a mutant, out of place and in place, and compares its meaning with the original's.
func try(s, mutant *gen.Schedule, operator, what string) trial {
	t := trial{what: what, operator: operator, same: true}
	for _, inPlace := range []bool{false, true} {
		_, err := verify.Schedule(s, inPlace)
		if inPlace && err != nil { // there is no such call
			return t
		}
		_, err = verify.Schedule(mutant, inPlace)
		var f *verify.Failure
		if errors.As(err, &f) {
			t.killer, t.err = string(f.Check), err
			t.same = isMeant(f.Check) && meaning(mutant, inPlace) == meaning(s, inPlace)
			return t
		}
		t.same = t.same && meaning(mutant, inPlace) == meaning(s, inPlace)
	}
	return t
}

// isMeant reports whether a check is about the meaning of a schedule. Other checks are about its shape, without which
// it has no meaning, or about rules of transports, which do not affect the meaning.
func isMeant(c verify.Check) bool {
	switch c {
	case verify.Deadlock, verify.Entered, verify.Race, verify.Uninitialized, verify.Finish, verify.Postcondition,
		verify.Order:
		return true
	}
	return false
}
