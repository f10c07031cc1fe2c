package simulate

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
)

// levels are machines with one, two and three levels, and one whose ranks share cores.
func levels() map[string]*Machine {
	one, two, three, cores := Flat(5*us, 100*ps, 50*ps), cluster(), cluster(), everything()
	two.HostsPerRack = 0
	three.HostsPerRack = 2
	cores.RanksPerHost = 4
	return map[string]*Machine{"one level": &one, "two levels": &two, "three levels": &three, "shared cores": &cores}
}

// differ says how p differs from f, the result of all messages; "": it does not.
func differ(p, f *Result) string {
	if p.Time != f.Time || p.Mean != f.Mean || p.Parts != f.Parts || p.Messages != f.Messages || p.Bytes != f.Bytes ||
		math.Abs(float64(p.Busiest.Busy-f.Busiest.Busy)) > .02*float64(f.Busiest.Busy) {
		return fmt.Sprintf("%v: %+v\nall messages: %+v", p.How, *p, *f)
	}
	return ""
}

// chunksOf returns the chunks of a call that can be.
func chunksOf(t *testing.T, c *Call) int {
	chunks, err := c.chunks()
	if err != nil {
		t.Fatal(err)
	}
	return chunks
}

// compare compares what is predicted with all messages, and returns how it came out.
func compare(t *testing.T, name string, m *Machine, c Call) Method {
	p, err1 := predict(t.Context(), m, c, chunksOf(t, &c), 0)
	f, err2 := Play(t.Context(), m, c)
	if wrong := differ(&p, &f); err1 != nil || err2 != nil || wrong != "" {
		t.Errorf("%s, %s, %+v: %v, %v, %s", name, c.Algorithm.FullName(), c.Params, err1, err2, wrong)
	}
	return p.How
}

// TestPredict compares every algorithm with 64 ranks with the simulation of all messages. Some of each kind are played
// in part.
func TestPredict(t *testing.T) {
	for name, m := range levels() {
		count := map[Method]int{}
		for _, a := range catalogue.Algorithms() {
			local := 0
			if a.HasLocal() {
				local = m.onHost(64)
			}
			if a.Serves(64, local) {
				c := Call{Algorithm: &a, Params: gen.Params{Size: 64, Peer: 1, Depth: 1, Local: local}, Block: 64 << 10,
					InPlace: true}
				count[compare(t, name, m, c)]++
			}
		}
		if count[Folded] < 10 || count[Full] < 10 {
			t.Errorf("%s: %v", name, count)
		}
	}
}

// TestPredictSteady compares rings whose last steps are extrapolated, up to 1,024 ranks.
func TestPredictSteady(t *testing.T) {
	sizes := []int{256}
	if !testing.Short() {
		sizes = append(sizes, 384, 1024)
	}
	for name, m := range levels() {
		for _, size := range sizes {
			if size == 1024 && name != "three levels" {
				continue
			}
			for _, block := range []int{size, size << 10} {
				c := Call{Algorithm: &catalogue.AllReduceRing, Params: gen.Params{Size: size, Depth: 1}, Block: block,
					InPlace: true}
				if how := compare(t, name, m, c); how == Full || how != Steady && name != "shared cores" {
					t.Errorf("%s, %d ranks: %v", name, size, how)
				}
			}
		}
	}
}

// TestPredictUneven compares blocks that are played longer: by at most 5 % more time.
func TestPredictUneven(t *testing.T) {
	for name, m := range levels() {
		for _, block := range []int{8, 1000, 100_003, 1_000_003} {
			c := Call{Algorithm: &catalogue.AllReduceRing, Params: gen.Params{Size: 128, Depth: 1}, Block: block, InPlace: true}
			p, err1 := even(t.Context(), m, c, 128)
			f, err2 := Play(t.Context(), m, c)
			if err1 != nil || err2 != nil || p.Block <= block || math.Abs(p.Time.Seconds()/f.Time.Seconds()-1) > .05 {
				t.Errorf("%s, %d bytes: %v, %v, %v, want %v", name, block, p, err1, err2, f)
			}
		}
	}
}

// TestPredictEmpty refuses blocks of fewer bytes than chunks, but for rings.
func TestPredictEmpty(t *testing.T) {
	m := levels()["two levels"]
	for _, a := range []*gen.Algorithm{&catalogue.AllReduceTwoLevel, &catalogue.AllReduceTwoShot} {
		c := Call{Algorithm: a, Params: gen.Params{Size: 64, Depth: 1, Local: 8}, Block: 8, InPlace: true}
		if !a.HasLocal() {
			c.Local = 0
		}
		_, err := even(t.Context(), m, c, chunksOf(t, &c))
		if refused := new(LimitError); !errors.As(err, &refused) || !strings.Contains(err.Error(), "would be empty") {
			t.Errorf("%s: %v", a.FullName(), err)
		}
	}
}

// TestPredictCanFail makes mistakes, which the comparison has to find.
func TestPredictCanFail(t *testing.T) {
	m := levels()["three levels"]
	ring := Call{Algorithm: &catalogue.AllReduceRing, Params: gen.Params{Size: 256, Depth: 1}, Block: 256 << 10,
		InPlace: true}
	chain := Call{Algorithm: &catalogue.BroadcastChain, Params: gen.Params{Size: 256, Depth: 8}, Block: 256 << 10,
		InPlace: true}
	for name, mistake := range map[string]func() (Call, Result, error){
		"a chain has all ranks do what the first one does": func() (Call, Result, error) {
			r, err := playSame(t.Context(), m, chain, chunksOf(t, &chain))
			return chain, r, err
		},
		"racks are left out": func() (Call, Result, error) {
			w, err := newWorld(m, ring, 256, folding{size: 256, period: 8}, stepsOf(&ring))
			if err != nil {
				t.Fatal(err)
			}
			r, err := w.play(t.Context(), stepsOf(&ring))
			return ring, r, err
		},
		"a period too few": func() (Call, Result, error) {
			runs, err := runsOf(&ring, 256)
			if err != nil {
				t.Fatal(err)
			}
			runs[0].times -= 16
			for i := range runs {
				runs[i].keep(128, 16)
			}
			r, ok, err := playKept(t.Context(), m, ring, 256, foldings(m, 256)[0], runs)
			if !ok {
				t.Errorf("not steady: %+v", r)
			}
			return ring, r, err
		},
	} {
		c, p, err := mistake()
		f, err2 := Play(t.Context(), m, c)
		if err2 != nil || err == nil && differ(&p, &f) == "" {
			t.Errorf("%s: not found, %v, %v", name, err, err2)
		}
	}
}

// TestNotSteady: steps whose times do not repeat are not extrapolated.
func TestNotSteady(t *testing.T) {
	for want, at := range map[int][][]Time{
		1: {{0, 5, 10, 15, 20, 25}, {1, 6, 11, 16, 21, 26}},
		2: {{0, 1, 10, 11, 20, 21}, {0, 2, 10, 12, 20, 22}},
		0: {{0, 5, 10, 15, 20, 25}, {1, 6, 11, 16, 21, 27}},
	} {
		s := &steady{at: at}
		if got := s.repeats(6, 6, 4); got != want {
			t.Errorf("%v: period %d, want %d", at, got, want)
		}
		if got := s.repeats(6, 6, 5); want == 2 && got != 0 {
			t.Errorf("%v: period %d, of which 5 steps are no multiple", at, got)
		}
	}
}

// TestPredictRefuses a ring of ranks that do not fill the hosts, where as many as are played do not fit.
func TestPredictRefuses(t *testing.T) {
	m := cluster()
	m.RanksPerHost = 7
	c := Call{Algorithm: &catalogue.AllReduceRing, Params: gen.Params{Size: 1 << 14, Depth: 1}, Block: 1 << 14,
		InPlace: true}
	_, err := Predict(t.Context(), &m, c)
	if refused := new(LimitError); !errors.As(err, &refused) {
		t.Errorf("%v", err)
	}
}
