package verify_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
	"pgregory.net/rapid"
)

// TestCombinations makes every call that up to five ranks can make, with every algorithm, root, depth, type and op, in
// place and not, over every transport. Unless COLLGEN_SOAK is set, it makes every fifth one of five ranks, and of a
// rank that is a process and talks to nobody: another fifth over each transport. With -short or -race it makes some.
func TestCombinations(t *testing.T) {
	for size := 1; size <= 5; size++ {
		check := func(t *testing.T, w world, first int) {
			all := combinations(w.over(divisions(size)[0][0]))
			every := 1
			switch {
			case testing.Short():
				every = 31
			case raceDetector:
				every = 11
			case os.Getenv("COLLGEN_SOAK") == "" && (size == 5 || size == 1 && first > 0):
				every = 5
			}
			some := everyNth(all[first%every:], every)
			if testing.Short() {
				some = append(some, oneOfEach(all)...)
			}
			t.Logf("%d of %d calls", len(some), len(all))
			n := 0
			for calls := range slices.Chunk(some, 50) {
				inOneProgram(calls, n, started, waited, blocking).check(t, w)
				n++
			}
		}
		t.Run(fmt.Sprint("goroutines/", size), func(t *testing.T) { check(t, goroutines(size), 0) })
		for i, by := range transports {
			t.Run(fmt.Sprint(by.name, "/", size), func(t *testing.T) { check(t, newProcesses(t, size, &by), i+1) })
		}
	}
}

// oneOfEach returns the first variant of each algorithm.
func oneOfEach(all []variant) (some []variant) {
	for i, v := range all {
		if i == 0 || v.a.FullName() != all[i-1].a.FullName() {
			some = append(some, v)
		}
	}
	return some
}

// combinations returns all variants for ranks of which tables see so much. Of counts, which are not all there, each has
// one.
func combinations(of selection.Call) (all []variant) {
	counts := []int{23, 64, 1, 130, 7, 0, 31}
	for _, a := range algorithmsFor(of) {
		for _, p := range callsOver(of, a, 1, 2, 3, 7) {
			for _, ty := range spec.Types() {
				for _, op := range opsOf(a.Primitive, ty) {
					v := variant{a: a, p: p, ty: ty, op: op, count: max(counts[len(all)%len(counts)], p.Depth)}
					all = append(all, v)
					if v.inPlace = hasInPlace(a); v.inPlace {
						all = append(all, v)
					}
				}
			}
		}
	}
	return all
}

// opsOf returns the ops that a call of p can have; one that makes no difference if p has none.
func opsOf(p spec.Primitive, ty spec.Type) []spec.Op {
	if !slices.Contains(p.Params, spec.ParamOp) {
		return []spec.Op{spec.OpSum}
	}
	return slices.DeleteFunc(spec.Ops(), func(op spec.Op) bool { return !op.Takes(ty) })
}

func everyNth[E any](all []E, n int) (some []E) {
	for i := 0; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}

// inOneProgram has the calls made one after the other on the first communicator, in these forms by turns. Seed is for
// their data.
func inOneProgram(calls []variant, seed int, forms ...form) *program {
	p := newProgram(calls[0].p.Size)
	for i, v := range calls {
		e := rapid.Custom(v.withLengths).Example(seed*len(calls) + i)
		members := divisions(v.p.Size)[0][0]
		number := p.add(members, e)
		for rank, process := range members {
			if x := p.part(number, rank); x.Call.takesPart() {
				p.append(0, process, forms[i%len(forms)], x)
			}
		}
	}
	return p
}
