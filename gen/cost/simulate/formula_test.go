package simulate

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/gen/cost"
)

// The prices of the flat machines of these tests, in whole picoseconds, so that there is nothing to round.
const (
	us = 1e-6
	ns = 1e-9
	ps = 1e-12
)

// log2 returns the logarithm of a power of two.
func log2(n int) int { return bits.Len(uint(n)) - 1 }

// formula is how long an algorithm takes on a flat machine, in messages, bytes sent and bytes reduced.
type formula struct {
	algorithm *gen.Algorithm
	block     func(n int) int // bytes, which chunks divide
	powers    bool            // it holds for powers of two alone: otherwise some messages come early
	parts     func(n, m int) (alpha, beta, gamma int)
}

func fixed(bytes int) func(int) int { return func(int) int { return bytes } }
func each(bytes int) func(int) int  { return func(n int) int { return n * bytes } }

var formulas = []formula{
	{&catalogue.AllReduceRing, each(1000), false, func(n, m int) (int, int, int) {
		return 2 * (n - 1), 2 * (n - 1) * m / n,
			(n - 1) * m / n
	}},
	{&catalogue.ReduceScatterRing, fixed(1000), false, func(n, m int) (int, int, int) {
		return n - 1, (n - 1) * m,
			(n - 1) * m
	}},
	{&catalogue.AllGatherRing, fixed(1000), false, func(n, m int) (int, int, int) { return n - 1, (n - 1) * m, 0 }},
	{&catalogue.BroadcastBinomial, fixed(5000), true, func(n, m int) (int, int, int) { return log2(n), log2(n) * m, 0 }},
	{&catalogue.ReduceBinomial, fixed(5000), true, func(n, m int) (int, int, int) {
		return log2(n), log2(n) * m,
			log2(n) * m
	}},
	{&catalogue.AllReduceTree, fixed(5000), true, func(n, m int) (int, int, int) {
		return 2 * log2(n), 2 * log2(n) * m,
			log2(n) * m
	}},
	{&catalogue.AllReduceRecursiveDoubling, fixed(5000), true, func(n, m int) (int, int, int) {
		return log2(n),
			log2(n) * m, log2(n) * m
	}},
	{&catalogue.GatherLinear, fixed(1000), false, func(n, m int) (int, int, int) { return 1, (n - 1) * m, 0 }},
	// All of a rank's messages are in flight together: one latency, and the bytes of all.
	{&catalogue.AllGatherDirect, fixed(1000), false, func(n, m int) (int, int, int) { return 1, (n - 1) * m, 0 }},
	{&catalogue.AllToAllDirect, fixed(1000), false, func(n, m int) (int, int, int) { return 1, (n - 1) * m, 0 }},
	{&catalogue.AllReduceOneShot, fixed(1000), false, func(n, m int) (int, int, int) {
		return 1, (n - 1) * m,
			(n - 1) * m
	}},
	{&catalogue.AllReduceTwoShot, each(1000), false, func(n, m int) (int, int, int) {
		return 2, 2 * (n - 1) * m / n,
			(n - 1) * m / n
	}},
}

// want returns the formula's value.
func (f *formula) want(n int, alpha, beta, gamma Time) Time {
	if n == 1 {
		return 0
	}
	a, b, c := f.parts(n, f.block(n))
	return Time(a)*alpha + Time(b)*beta + Time(c)*gamma
}

// onAll returns the call of f by n ranks, in place.
func (f *formula) onAll(n int) Call {
	return Call{Algorithm: f.algorithm, Params: gen.Params{Size: n, Depth: 1}, Block: f.block(n), InPlace: true}
}

// against compares f with what player says, and returns the first difference; "": there is none.
func (f *formula) against(player func(Call) (Result, error)) string {
	for n := 1; n <= 33; n++ {
		if f.powers && n&(n-1) != 0 {
			continue
		}
		r, err := player(f.onAll(n))
		if want := f.want(n, 3_000_000, 7_000, 2_000); err != nil || r.Time != want || r.Parts.Total() != want {
			return fmt.Sprintf("%s, %d ranks: %d of %v, %v, want %d", f.algorithm.FullName(), n, r.Time, r.Parts, err, want)
		}
	}
	return ""
}

// flatPlayer plays on the flat machine for which formulas are compared.
func flatPlayer(t *testing.T) func(Call) (Result, error) {
	m := Flat(3*us, 7*ns, 2*ns)
	return func(c Call) (Result, error) { return Play(t.Context(), &m, c) }
}

func TestFormulas(t *testing.T) {
	for _, f := range formulas {
		if wrong := f.against(flatPlayer(t)); wrong != "" {
			t.Error(wrong)
		}
	}
}

// TestFormulasCanFail plays on machines, and with ranks, that have a mistake, which the formulas have to find.
func TestFormulasCanFail(t *testing.T) {
	m := Flat(3*us, 7*ns, 2*ns)
	shared := m
	shared.Far.Link, shared.Far.Put = 0, Constant(7*ns)
	for name, player := range map[string]func(Call) (Result, error){
		"messages into a rank do not share its link": func(c Call) (Result, error) { return Play(t.Context(), &shared, c) },
		"ranks do not wait for what they receive": func(c Call) (Result, error) {
			return play(t.Context(), &m, c, func(rank int) program { return eager(gen.Steps(c.Algorithm, c.Params, rank)) })
		},
	} {
		found := 0
		for _, f := range formulas {
			if f.against(player) != "" {
				found++
			}
		}
		if found == 0 {
			t.Errorf("%s: none of %d formulas finds it", name, len(formulas))
		}
	}
}

// eager returns a program that sends whatever it sends before it receives anything.
func eager(p program) program {
	return func(yield func([]gen.Instr, error) bool) {
		var sends, rest []gen.Instr
		for step, err := range p {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, in := range step {
				if in.Kind == gen.SendInstr {
					sends = append(sends, in)
				} else {
					rest = append(rest, in)
				}
			}
		}
		if yield(sends, nil) {
			yield(rest, nil)
		}
	}
}

// TestAgainstTime compares with the model of gen.Time, where nothing but bytes, or nothing but reductions, has a price:
// there both mean the same. Messages do not: in that model they keep their ports busy from start to arrival.
func TestAgainstTime(t *testing.T) {
	bytes, reductions := Flat(0, ps, 0), Flat(0, 0, ps)
	for _, f := range formulas {
		for n := 1; n <= 33; n++ {
			s, err := gen.Instantiate(f.algorithm, gen.Params{Size: n, Depth: 1})
			if err != nil {
				t.Fatal(err)
			}
			chunk := f.block(n) / s.Chunks
			for m, p := range map[*Machine]cost.Price{&bytes: {Beta: chunk}, &reductions: {Gamma: chunk}} {
				want, err := cost.Time(s, p)
				if err != nil {
					t.Fatal(err)
				}
				if r, err := Play(t.Context(), m, f.onAll(n)); err != nil || r.Time != Time(want) {
					t.Errorf("%s, %d ranks, %+v: %d, %v, want %d", f.algorithm.FullName(), n, p, r.Time, err, want)
				}
			}
		}
	}
}
