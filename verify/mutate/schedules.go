package main

import (
	"errors"
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/internal/edit"
)

// trial is a mutant of a schedule or of an algorithm, and what became of it.
type trial struct {
	what     string
	operator string
	killer   string         // the check of package verify that it fails; "": none
	same     bool           // it has the meaning of what it was made from
	err      error          // what the checker says
	mutant   *gen.Algorithm // of an algorithm: the changed one
}

func (t trial) String() string { return t.what + ": " + t.operator }

// bounds says of which schedules mutants are made.
type bounds struct {
	from, to int   // sizes
	roots    int   // the first so many; mutants of algorithms have all
	depths   []int // of algorithms that depend on depth
	every    int   // the one mutant in so many that is tried
}

func (b bounds) ranks() string { return fmt.Sprintf("%d..%d", b.from, b.to) }

// sample says which part of the mutants is tried.
func (b bounds) sample() string {
	if b.every == 1 {
		return "all"
	}
	return fmt.Sprintf("a sample, one in %d", b.every)
}

// scheduleMutants tries every operator at every instruction of every schedule within bounds.
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

// try has the checker judge a mutant, out of place and in place, and compares it with the schedule it was made from.
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

// isMeant reports whether a check is about what a schedule means. Those before are about its shape, without which it
// means nothing; those that are left out are about rules that transports need and meaning does not know.
func isMeant(c verify.Check) bool {
	switch c {
	case verify.Deadlock, verify.Entered, verify.Race, verify.Uninitialized, verify.Finish, verify.Postcondition, verify.Order:
		return true
	}
	return false
}
