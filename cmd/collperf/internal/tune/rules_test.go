package tune

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/selection"
	"github.com/google/go-cmp/cmp"
)

// sampleMeasured is of all-reduce at powers of two from 1K on: what each of three candidates takes, relatively. spread
// is how far the times are spread.
func sampleMeasured(transport string, ranks int, spread float64, doubling, ring, chunked []float64) measured {
	o, _ := bench.OperationNamed("all-reduce")
	m := measured{Operation: o, transport: transport, ranks: ranks, perHost: ranks,
		candidates: []candidate{{"recursive-doubling", 0}, {"ring", 0}, {"chunked-ring", 2048}}}
	for i := range doubling {
		s := measuredSize{count: 256 << i, bytes: 1 << (10 + i), took: make(map[variant]taken)}
		for c, t := range []float64{doubling[i], ring[i], chunked[i]} {
			s.took[m.candidates[c].variant(s.count, s.bytes)] = taken{t, 2 * spread}
		}
		m.sizes = append(m.sizes, s)
	}
	return m
}

func TestRulesFollowWhatWasMeasured(t *testing.T) {
	const slow = 9.
	doubling := []float64{1, 1, 1, slow, slow, slow}
	ring := []float64{slow, slow, 1, 1, 1, slow}
	chunked := []float64{slow, slow, slow, slow, 1, 1}
	for _, test := range []struct {
		name string
		of   []measured
		want []selection.Rule
	}{
		{"crossings", []measured{sampleMeasured("shm", 4, 0, doubling, ring, chunked)}, []selection.Rule{
			{Transport: "shm", Algorithm: "recursive-doubling", MinSize: 4, MaxSize: 4, MaxBytes: 4096},
			{Transport: "shm", Algorithm: "ring", MinSize: 4, MaxSize: 4, MaxBytes: 16384},
			{Transport: "shm", Algorithm: "chunked-ring", MinSize: 4, MaxSize: 4, PieceBytes: 2048},
		}},
		{"a gain that is none", []measured{sampleMeasured("shm", 4, 0, []float64{1, 1.04, 1},
			[]float64{1.2, 1, 1}, []float64{2, 2, 2})}, []selection.Rule{
			{Transport: "shm", Algorithm: "recursive-doubling", MinSize: 4, MaxSize: 4},
		}},
		{"a gain within the noise", []measured{sampleMeasured("shm", 4, .1, []float64{1, 1.08, 1},
			[]float64{1.2, 1, 1}, []float64{2, 2, 2})}, []selection.Rule{
			{Transport: "shm", Algorithm: "recursive-doubling", MinSize: 4, MaxSize: 4},
		}},
		{"a gain that is one, in spite of the noise", []measured{sampleMeasured("shm", 4, .3, []float64{1, 1.3, 1.3},
			[]float64{1.3, 1, 1}, []float64{2, 2, 2})}, []selection.Rule{
			{Transport: "shm", Algorithm: "recursive-doubling", MinSize: 4, MaxSize: 4, MaxBytes: 1024},
			{Transport: "shm", Algorithm: "ring", MinSize: 4, MaxSize: 4},
		}},
		{"as long, but faster", []measured{sampleMeasured("shm", 4, 0, []float64{1.04, 1.04},
			[]float64{1.01, 1}, []float64{1, 1.02})}, []selection.Rule{
			{Transport: "shm", Algorithm: "ring", MinSize: 4, MaxSize: 4},
		}},
		{"other ranks and transports", []measured{sampleMeasured("shm", 8, 0, doubling[:1], ring[:1], chunked[:1]),
			sampleMeasured("shm", 4, 0, ring[:1], doubling[:1], chunked[:1]),
			sampleMeasured("tcp", 2, 0, ring[:1], doubling[:1], chunked[:1])},
			[]selection.Rule{
				{Transport: "shm", Algorithm: "recursive-doubling", MinSize: 8, MaxSize: 8},
				{Transport: "shm", Algorithm: "ring", MinSize: 4, MaxSize: 7},
				{Transport: "tcp", Algorithm: "ring", MinSize: 2, MaxSize: 2},
			}},
	} {
		if d := cmp.Diff(map[string][]selection.Rule{"AllReduce": test.want}, rulesOf(test.of)); d != "" {
			t.Errorf("%s: %s", test.name, d)
		}
	}
}

// TestRulesOfSeveralHosts hold where no host has more ranks than those that were measured.
func TestRulesOfSeveralHosts(t *testing.T) {
	m := sampleMeasured("tcp", 4, 0, []float64{1}, []float64{2}, []float64{2})
	m.perHost = 1
	if got := m.rules(4)[0]; got.MaxPerHost != 1 {
		t.Errorf("%v", got)
	}
}

// drawn returns samples of two all-reduces over some rounds, whose times differ from round to round by a factor.
func drawn(factor float64, rounds int) (all []sample) {
	for round := range rounds {
		for i, algorithm := range []string{"ring", "tree"} {
			for _, bytes := range []int{64, 128} {
				p := point{"all-reduce", "tcp", 4, 4, bytes, bytes / 4, round}
				us := float64(i + 1)
				for range round {
					us *= factor
				}
				all = append(all, sample{p, algorithm, 1, us, .01})
			}
		}
	}
	return all
}

// TestRounds: the median over the rounds counts, and the spread among them where it is more than that within.
func TestRounds(t *testing.T) {
	for _, tc := range []struct {
		factor float64
		rounds int
		want   taken
	}{{1, 3, taken{1, .01}}, {2, 1, taken{1, .01}}, {2, 3, taken{2, 1.5}}} {
		m := measuredOf(drawn(tc.factor, tc.rounds))
		if len(m) != 1 || len(m[0].sizes) != 2 || m[0].perHost != 4 {
			t.Fatalf("%+v", m)
		}
		if got := m[0].sizes[1].fastest(); got != tc.want {
			t.Errorf("%+v: %+v", tc, got)
		}
	}
}

// TestSamplesAreReadAgain as they were written, and those that cannot be are refused.
func TestSamplesAreReadAgain(t *testing.T) {
	all := drawn(2, 3)
	text, err := table(all, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	again, err := decodeSamples(text)
	if d := cmp.Diff(all, again, cmp.AllowUnexported(sample{})); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	for _, wrong := range []string{`"ranks":4`, `"perHost":4`, `"bytes":64`, `"count":16`, `"round":0`, `"depth":1`,
		`"microseconds":1`,
		`"spread":0.01`, `"transport":"tcp"`, `"algorithm":"ring"`, `"collective":"all-reduce"`} {
		name, value, _ := strings.Cut(wrong, ":")
		bad := "-9"
		if strings.HasPrefix(value, `"`) {
			bad = `"none"`
		}
		if _, err := decodeSamples([]byte(strings.Replace(string(text), wrong, name+":"+bad, 1))); err == nil {
			t.Errorf("%s: %s is taken", name, bad)
		}
	}
	if _, err := decodeSamples([]byte(`{"rules":{}}`)); err == nil {
		t.Error("a table without samples is taken")
	}
}

// FuzzSamples: a table whose samples are taken makes a table that is one.
func FuzzSamples(f *testing.F) {
	text, err := table(drawn(2, 3), time.Now())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"rules":{},"samples":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := decodeSamples(text)
		if err != nil {
			return
		}
		if again, err := table(all, time.Now()); err != nil {
			t.Errorf("%v\n%s", err, again)
		}
	})
}

// TestRulesForFarSizes: between sizes that are far apart, a rule ends in the middle.
func TestRulesForFarSizes(t *testing.T) {
	m := sampleMeasured("tcp", 2, 0, []float64{1, 1, 1, 1, 3}, []float64{3, 3, 3, 3, 1}, []float64{9, 9, 9, 9, 9})
	m.sizes = []measuredSize{m.sizes[0], m.sizes[4]} // 16 times the first
	if got := m.rules(2)[0].MaxBytes; got != 8<<10 {
		t.Errorf("the first rule is for at most %d bytes", got)
	}
}

func TestCandidatesAreThoseThatServe(t *testing.T) {
	for _, o := range bench.Operations {
		for _, ranks := range []int{2, 3, 6} {
			for _, c := range candidatesOf(o.Primitive, "shm", ranks) {
				if !slices.Contains(fast.Algorithms(o.Primitive), c.algorithm) || !slices.Contains(pieceSizes, c.pieceBytes) {
					t.Errorf("%s among %d: %+v", o.Name, ranks, c)
				}
			}
		}
	}
	all := candidatesOf("AllReduce", "tcp", 3)
	if !slices.Contains(all, candidate{"ring", 0}) || slices.Contains(all, candidate{"ring", pieceSizes[1]}) ||
		!slices.Contains(all, candidate{"chunked-ring", pieceSizes[1]}) {
		t.Errorf("%+v", all)
	}
	if legal("AllReduce", selection.Rule{Algorithm: "nothing"}) {
		t.Error("a rule for nothing is legal")
	}
}
