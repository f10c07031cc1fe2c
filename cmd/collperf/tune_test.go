package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/selection"
	"github.com/google/go-cmp/cmp"
)

// sampleMeasured is of all-reduce at powers of two from 1K on: what each of three candidates takes, relatively. spread is how
// far the times are spread.
func sampleMeasured(transport string, ranks int, spread float64, doubling, ring, pieces []float64) measured {
	o, _ := operationOf("all-reduce")
	m := measured{operation: o, transport: transport, ranks: ranks,
		candidates: []candidate{{"recursive-doubling", 0}, {"ring", 0}, {"chunked-ring", 2048}}}
	for i := range doubling {
		s := measuredSize{count: 256 << i, bytes: 1 << (10 + i), times: make(map[variant]times)}
		for c, t := range []float64{doubling[i], ring[i], pieces[i]} {
			s.times[m.candidates[c].variant(s.count, s.bytes)] = times{t * (1 - spread), t * (1 - spread), t, t * (1 + spread), t * (1 + spread)}
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
		got := rulesOf(test.of, 2)
		if d := cmp.Diff(map[string][]selection.Rule{"AllReduce": test.want}, got); d != "" {
			t.Errorf("%s: %s", test.name, d)
		}
		text, err := (&options{factor: 2}).table(test.of, time.Now())
		if err != nil || !strings.Contains(string(text), `"samples"`) {
			t.Errorf("%s: %v\n%s", test.name, err, text)
		}
	}
}

// TestRulesForFarSizes: between sizes that are far apart, a rule ends in the middle.
func TestRulesForFarSizes(t *testing.T) {
	m := sampleMeasured("tcp", 2, 0, []float64{1, 1, 1, 1, 3}, []float64{3, 3, 3, 3, 1}, []float64{9, 9, 9, 9, 9})
	m.sizes = []measuredSize{m.sizes[0], m.sizes[4]} // 16 times the first
	if got := m.rules(2, 16)[0].MaxBytes; got != 8<<10 {
		t.Errorf("the first rule is for at most %d bytes", got)
	}
}

func TestCandidatesAreThoseThatServe(t *testing.T) {
	for _, o := range operations {
		for _, ranks := range []int{2, 3, 6} {
			for _, c := range candidatesOf(o.primitive, "shm", ranks) {
				if !slices.Contains(fast.Algorithms(o.primitive), c.algorithm) || !slices.Contains(pieces, c.pieceBytes) {
					t.Errorf("%s among %d: %+v", o.name, ranks, c)
				}
			}
		}
	}
	all := candidatesOf("AllReduce", "tcp", 3)
	if !slices.Contains(all, candidate{"ring", 0}) || slices.Contains(all, candidate{"ring", pieces[1]}) ||
		!slices.Contains(all, candidate{"chunked-ring", pieces[1]}) {
		t.Errorf("%+v", all)
	}
	if legal("AllReduce", selection.Rule{Algorithm: "nothing"}) {
		t.Error("a rule for nothing is legal")
	}
}

// TestTune measures for real, and has fast read the table.
func TestTune(t *testing.T) {
	out, _ := runs(t, 0, "-tune", "-transport", inproc, "-ranks", "2,3", "-b", "64", "-e", "64K", "-f", "1024", "-n", "1",
		"all-reduce", "all-gather", "barrier", "ping-pong")
	table, err := fast.DecodeTuning(strings.NewReader(out))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(table.Rules["AllReduce"]) < 2 || len(table.Rules["AllGather"]) < 2 || len(table.Rules["Send"]) > 0 || table.Machine == "" ||
		table.Date == "" || !strings.Contains(table.Command, "-tune") || len(table.Samples) == 0 {
		t.Error(out)
	}
	file := t.TempDir() + "/tune.json"
	writeFile(t, file, out)
	t.Setenv("COLL_TUNE", file)
	runs(t, 0, "-ranks", "2", "-e", "64", "-n", "1")
}
