package simulate

import (
	"math"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
)

// planted returns a host with two cores, and one number for everything.
func planted() Machine {
	return Machine{Cores: 2, Segment: 1 << 16, Switch: 2 * us, Near: Path{Alpha: 300 * ns, Overhead: 70 * ns,
		Put: Constant(40 * ps), Take: Constant(40 * ps), Fold: Constant(40 * ps)}}
}

// synthetic are trials that took as long as m predicts.
func synthetic(t *testing.T, m *Machine) (trials []Trial) {
	for _, a := range []*gen.Algorithm{&catalogue.AllReduceRing, &catalogue.AllReduceRecursiveDoubling, &catalogue.AllReduceTree} {
		for _, size := range []int{2, 4} {
			for block := 64; block <= 1<<20; block *= 16 {
				c := call(a, size, block)
				r, err := Play(t.Context(), m, c)
				if err != nil {
					t.Fatal(err)
				}
				trials = append(trials, Trial{c, r.Mean.Seconds()})
			}
		}
	}
	return trials
}

// knobsOf returns those of a machine like planted, each away from what it is by a factor.
func knobsOf(m *Machine, off float64) []Knob {
	return []Knob{
		{"alpha", m.Near.Alpha * off, func(is float64) { m.Near.Alpha = is }},
		{"overhead", m.Near.Overhead / off, func(is float64) { m.Near.Overhead = is }},
		{"switch", m.Switch * off, func(is float64) { m.Switch = is }},
		{"byte", m.Near.Put.At(1) / off, func(is float64) {
			m.Near.Put, m.Near.Take, m.Near.Fold = Constant(is), Constant(is), Constant(is)
		}},
	}
}

// TestFit finds numbers again that were planted, from values that are off by a factor of 3, although one trial went
// wrong.
func TestFit(t *testing.T) {
	m, want := planted(), planted()
	trials := synthetic(t, &want)
	trials[3].Seconds *= 10
	knobs := knobsOf(&m, 3)
	if err := Fit(t.Context(), &m, knobs, trials, nil); err != nil {
		t.Fatal(err)
	}
	for i, k := range knobsOf(&want, 1) {
		if off := math.Abs(math.Log2(knobs[i].Is / k.Is)); off > .35 {
			t.Errorf("%s is %v, want %v", k.Name, knobs[i].Is, k.Is)
		}
	}
}

// TestFitOfWrongModel: without the cost of a switch, no numbers come close to trials in which there was one.
func TestFitOfWrongModel(t *testing.T) {
	right := planted()
	trials := synthetic(t, &right)
	for _, wrong := range []bool{false, true} {
		m := planted()
		knobs := knobsOf(&m, 1.5)
		if wrong {
			m.Switch = 0
			knobs = append(knobs[:2], knobs[3])
		}
		if err := Fit(t.Context(), &m, knobs, trials, nil); err != nil {
			t.Fatal(err)
		}
		misfit, err := Misfit(t.Context(), &m, trials)
		if off := misfit > .01; err != nil || off != wrong {
			t.Errorf("misfit %v, %v; the model is wrong: %v", misfit, err, wrong)
		}
	}
}

func TestFitRefuses(t *testing.T) {
	m := planted()
	trials := synthetic(t, &m)[:1]
	for _, tc := range []struct {
		knobs  []Knob
		trials []Trial
	}{
		{knobsOf(&m, 1), nil},
		{[]Knob{{"nothing", 0, func(float64) {}}}, trials},
		{knobsOf(&m, 1), []Trial{{trials[0].Call, 0}}},
		{knobsOf(&m, 1), []Trial{{trials[0].Call, math.Inf(1)}}},
		{knobsOf(&m, 1), []Trial{{Call{Algorithm: &catalogue.AllReduceRing}, 1}}},
	} {
		if Fit(t.Context(), &m, tc.knobs, tc.trials, nil) == nil {
			t.Errorf("%d knobs, %d trials", len(tc.knobs), len(tc.trials))
		}
	}
}
