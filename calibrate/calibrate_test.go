package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen/simulate"
)

// imagined are measurements on a machine with other prices than fits begin with; but broadcasts took so many times as
// long.
func imagined(t *testing.T, transport string, slow float64) (all []sample) {
	x := newModel(transport, ratePoints(nil), nil)
	for i := range x.knobs {
		x.knobs[i].Set(x.knobs[i].Is * []float64{1.6, .7, 1.3}[i%3])
	}
	x.machine.Cores = 2
	cells := []cell{{"all-gather", transport, 2, 64, ""}, {"all-to-all", transport, 4, 1 << 18, ""}, {"broadcast", transport, 4, 512, ""},
		{"ping-pong", transport, 2, 32, ""}, {"ping-pong", transport, 2, 1 << 20, ""}}
	for _, algorithm := range []string{"ring", "recursive-doubling", "two-shot"} {
		for bytes := 32; bytes <= 1<<22; bytes *= 16 {
			cells = append(cells, cell{"all-reduce", transport, 2, bytes, algorithm}, cell{"all-reduce", transport, 4, bytes, algorithm})
		}
	}
	for _, c := range cells {
		call, err := c.call()
		if err != nil {
			t.Fatal(err)
		}
		one := simulate.Trial{Call: call, Seconds: 1e-6}
		microseconds, err := one.Ratio(t.Context(), &x.machine)
		if err != nil {
			t.Fatal(err)
		}
		s := sample{cell: c, Training: c.Collective == "ping-pong" || c.Algorithm != ""}
		if s.Microseconds.Median = microseconds; c.Collective == "broadcast" {
			s.Microseconds.Median *= slow
		}
		all = append(all, s)
	}
	return all
}

// TestCompare fits to measurements of an imagined machine, and finds out which others are of it.
func TestCompare(t *testing.T) {
	x := newModel("shm", ratePoints(nil), nil)
	x.machine.Cores = 2
	x, err := x.compare(t.Context(), imagined(t, "shm", 2.5))
	if err != nil {
		t.Fatal(err)
	}
	if len(x.results) != 3 {
		t.Fatalf("%+v", x.results)
	}
	for _, r := range x.results {
		if wrong := r.Collective == "broadcast"; r.holds() == wrong || r.amongRounds() && wrong {
			t.Errorf("%+v", r)
		}
	}
}

// TestReport writes tables between the lines that are for them, and machines that can be read again.
func TestReport(t *testing.T) {
	x := newModel("shm", ratePoints(nil), nil)
	c := cell{"all-gather", "shm", 4, 512, ""}
	x.results = []result{{measured{c, 1, 2, 3}, "direct", 2.4, 1.2}, {measured{c, 1, 2, 3}, "direct", 2.6, 1.3}}
	x.results[1].Bytes = 1 << 20
	r := &report{"today", []*model{x}}
	dir := t.TempDir()
	file := filepath.Join(dir, "cost.md")
	if err := os.WriteFile(file, []byte("before\n"+begin+"old\n"+end+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{r.write(file), r.writeMachines(dir)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"before\n" + begin + "today\n", end + "after\n", "| shm | 0 of 0 | 1 of 2 | 0 of 0 | 1 of 2 | 1 | 0 of 0 |",
		"| all-gather, 4 ranks | 1.20 | **1.30** |", "| all-gather, shm | 4 | 1M | direct | 2.6 | 2 | 1-3 | 1.30 |"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s\nhas no %q", text, want)
		}
	}
	if strings.Contains(string(text), "old") {
		t.Errorf("%s", text)
	}
	f, err := os.Open(filepath.Join(dir, "shm.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var m simulate.Machine
	if err := simulate.Decode(f, &m); err != nil {
		t.Error(err)
	}
	if r.write(filepath.Join(dir, "shm.json")) == nil {
		t.Error("tables are written where there is no place for them")
	}
}

func TestSamples(t *testing.T) {
	file := filepath.Join(t.TempDir(), "samples")
	all := imagined(t, "tcp", 1)
	all[0].Round = 2
	if err := appendSamples(file, all); err != nil {
		t.Fatal(err)
	}
	again, err := readSamples(file)
	if err != nil || fmt.Sprint(again) != fmt.Sprint(all) {
		t.Errorf("%v, %v, want %v", again, err, all)
	}
	if none, err := readSamples(file + "?"); err != nil || none != nil {
		t.Errorf("no file: %v, %v", none, err)
	}
	for _, text := range []string{`{`, `[]`, `{"ranks":2}`, `{"ranks":1,"microseconds":{"median":1}}`,
		`{"ranks":2,"bytes":-1,"microseconds":{"median":1}}`, `{"ranks":2,"round":1e9,"microseconds":{"median":1}}`,
		`{"ranks":2,"microseconds":{"median":-1}}`} {
		if _, err := decodeSamples(strings.NewReader(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
	for _, c := range []cell{{"all-sum", "shm", 2, 8, ""}, {"all-reduce", "shm", 2, 8, "magic"}} {
		if _, err := c.call(); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}

// TestNoise: three rounds, of which the odd one is apart in one of two cells.
func TestNoise(t *testing.T) {
	var all []sample
	for round, us := range []float64{1, 2, 1.2} {
		for i, c := range []cell{{"all-gather", "shm", 2, 8, ""}, {"all-gather", "shm", 2, 64, ""}, {"all-gather", "tcp", 2, 64, ""}} {
			s := sample{cell: c, Round: round}
			s.Microseconds.Median = []float64{us, 1, 1}[i]
			all = append(all, s)
		}
	}
	if agree, both := noise(all, "shm"); agree != 1 || both != 2 {
		t.Errorf("%d of %d agree", agree, both)
	}
	if agree, both := noise(all[:3], "shm"); agree != 0 || both != 0 {
		t.Errorf("one round: %d of %d agree", agree, both)
	}
}

func TestMedian(t *testing.T) {
	var all []sample
	for _, us := range []float64{9, 1, 4, 2} {
		s := sample{cell: cell{"all-gather", "shm", 2, 8, ""}}
		s.Microseconds.Median = us
		all = append(all, s)
	}
	if got := gather(all, "shm", false); len(got) != 1 || got[0].least != 1 || got[0].median != 3 || got[0].most != 9 {
		t.Errorf("%+v", got)
	}
}

// TestCaches reads what Linux says of caches, and takes the usual ones where it says nothing.
func TestCaches(t *testing.T) {
	dir := t.TempDir()
	describe := func(i int, kind, size, shared string) {
		at := filepath.Join(dir, fmt.Sprint("index", i))
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"type": kind, "size": size, "shared_cpu_list": shared} {
			if err := os.WriteFile(filepath.Join(at, name), []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := func(sizes ...int) {
		t.Helper()
		if got := ratePoints(cachesOf(dir)); !slices.Equal(got, sizes) {
			t.Errorf("%d, want %d", got, sizes)
		}
	}
	want(32<<10, 1<<20, 16<<20, 64<<20)
	describe(0, "Data", "48K", "0")
	describe(1, "Instruction", "64K", "0")
	describe(2, "Unified", "2048K", "0-1")
	want(48<<10, 1<<20, 4<<20)
	describe(3, "Unified", "32768K", "0-3,8-11")
	want(48<<10, 1<<20, 4<<20, 16<<20)
	for _, wrong := range [][2]string{{"much", "0"}, {"0K", "0"}, {"-5K", "0"}, {"32768K", ""}, {"32768K", "3-0"}, {"512K", "0"}} {
		describe(3, "Unified", wrong[0], wrong[1])
		want(32<<10, 1<<20, 16<<20, 64<<20)
	}
}

// TestTurns: what a run measures is known as its own again, and as no other's.
func TestTurns(t *testing.T) {
	all := turns(2)
	for i := range all {
		ranks, _ := strconv.Atoi(all[i].size)
		s := sample{cell: cell{strings.Fields(all[i].collectives)[0], all[i].transport, ranks, 8, all[i].algorithm}, Training: all[i].training, Round: all[i].round}
		for j := range all {
			if all[j].made(&s) != (i == j) {
				t.Errorf("%+v and %+v", all[i], all[j])
			}
		}
	}
	for _, o := range []options{{rounds: 0}, {rounds: 1, time: 1}, {rounds: 1, time: -1, keep: "x"}} {
		if _, err := o.measure(t.Context(), io.Discard); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

// FuzzSamples: samples that are taken can be written, and are read again as the same.
func FuzzSamples(f *testing.F) {
	f.Add([]byte(`{"collective":"all-reduce","transport":"shm","ranks":2,"bytes":8,"training":true,"round":3,"microseconds":{"median":0.25}}`))
	f.Add([]byte(`{"ranks":2,"microseconds":{"median":1e308}} {"ranks":256,"bytes":1073741824,"microseconds":{"median":5e-324}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := decodeSamples(bytes.NewReader(text))
		if err != nil {
			return
		}
		var again bytes.Buffer
		for _, s := range all {
			if err := json.NewEncoder(&again).Encode(s); err != nil {
				t.Fatal(err)
			}
			if call, err := s.call(); err == nil && (call.Block < 0 || call.Block > s.Bytes || call.Depth < 1 || call.Depth > max(1, s.Bytes)) {
				t.Errorf("%+v is played as %+v", s, call)
			}
		}
		same, err := decodeSamples(&again)
		if err != nil || !slices.Equal(same, all) {
			t.Errorf("%v, %v, want %v", same, err, all)
		}
	})
}
