package main

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/collgen/collgen/internal/drawing/drawingtest"
)

// TestCost compares what is predicted for a ring with its formula, and looks at the order of the table.
func TestCost(t *testing.T) {
	ring := predicted(t, "cost", "-catalogue", "-n", "8", "-bytes", "8000", "-alpha", "1e-6", "-beta", "1e-9", "-gamma",
		"1e-9", "allreduce/ring", "-json")
	want := 14*(1e-6+1000e-9) + 7*1000e-9 // 2(n-1) messages of an eighth, half of them reduced
	if len(ring) != 1 || math.Abs(ring[0].Seconds-want) > 1e-9 || ring[0].Messages != 8*14 || ring[0].Bytes != 8*14*1000 {
		t.Errorf("%+v, want %v seconds", ring, want)
	}
	all := predicted(t, "cost", "-catalogue", "-n", "5", "-json", "allreduce")
	if !slices.IsSortedFunc(all, func(x, y prediction) int { return int(math.Copysign(1, x.Seconds-y.Seconds)) }) {
		t.Errorf("not sorted: %+v", all)
	}
	depths := map[string]int{}
	for _, p := range all {
		depths[p.Algorithm]++
	}
	if depths["allreduce/ring"] != 1 || depths["allreduce/chunked-ring"] != len(pieces) {
		t.Errorf("%v", depths)
	}
}

func predicted(t *testing.T, args ...string) []prediction {
	t.Helper()
	var f forecast
	decode(t, &f, args...)
	return f.Predictions
}

// TestCostOfBlocks has two lengths of blocks: each has its predictions, the fastest first, and there is a picture.
// Swing is among them, with more ranks than it is proved for.
func TestCostOfBlocks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "times.svg")
	args := []string{"cost", "-catalogue", "-n", "128", "-ranks-per-host", "8", "-near-alpha", "1e-7", "-bytes", "1K,64M",
		"-algorithms", "ring,tree,swing", "-plot", file, "allreduce"}
	var f forecast
	decode(t, &f, append(args, "-json")...)
	want := []fastest{{1 << 10, 1 << 10, "allreduce/tree"}, {64 << 20, 64 << 20, "allreduce/ring"}}
	if diff := cmp.Diff(want, f.Fastest); diff != "" || len(f.Predictions) != 6 || f.Refused != nil {
		t.Errorf("%s%+v", diff, f)
	}
	for _, p := range f.Predictions {
		if swing := p.Algorithm == "allreduce/swing"; p.Unproved != swing {
			t.Errorf("%+v", p)
		}
	}
	picture := read(t, file)
	drawingtest.Plain(t, picture)
	if large := strings.Count(picture, `r="5"`); large != 2 || strings.Count(picture, "<circle") != 8 {
		t.Errorf("%d large dots:\n%s", large, picture)
	}
	status, stdout, stderr := collgen(t, args...)
	if status != 0 || !regexp.MustCompile(`\n1K\.\.1K +allreduce/tree\n64M\.\.64M +allreduce/ring\n`).MatchString(stdout) {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}

// TestCostOfManyRanks: most steps of a ring of 4096 ranks are extrapolated. Its time is that of the formula.
func TestCostOfManyRanks(t *testing.T) {
	got := predicted(t, "cost", "-catalogue", "-n", "4096", "-bytes", "4096000", "-alpha", "1e-6", "-beta", "1e-9",
		"-gamma", "0", "-json", "allreduce/ring")
	want := 8190 * (1e-6 + 1000e-9)
	if p := got[0]; math.Abs(p.Seconds-want) > 1e-9 || p.How != "steady" || p.Messages != 8190*4096 {
		t.Errorf("%+v, want %v s", p, want)
	}
}

// TestCostOfTooMany: what would take too long says why, and the others come.
func TestCostOfTooMany(t *testing.T) {
	var f forecast
	decode(t, &f, "cost", "-catalogue", "-n", "4095", "-bytes", "8", "-depth", "16", "-algorithms", "chunked-ring,tree",
		"-json", "allreduce")
	if len(f.Predictions) != 1 || len(f.Refused) != 1 || !strings.Contains(f.Refused[0].Why, "would be empty") {
		t.Errorf("%+v", f)
	}
}

func TestBlockList(t *testing.T) {
	for text, want := range map[string]string{"1048576": "1M", "1M,8,64K": "8,64K,1M", "8..64": "8,16,32,64",
		"8..100:3": "8,24,72", "0": "0"} {
		var l blockList
		if err := l.Set(text); err != nil || l.String() != want {
			t.Errorf("%q: %v, %v, want %s", text, &l, err, want)
		}
	}
	for _, text := range []string{"", "-1", "x", "8..", "9..8", "0..8", "8..64:1", "8..64:x", "1..9T:1", "1..8,,"} {
		if err := new(blockList).Set(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// TestCostOfSharedLinks: eight ranks of a host share its link, so that what all of them send takes longer.
func TestCostOfSharedLinks(t *testing.T) {
	own := predicted(t, "cost", "-catalogue", "-n", "16", "alltoall/direct", "-json")
	shared := predicted(t, "cost", "-catalogue", "-n", "16", "-ranks-per-host", "8", "alltoall/direct", "-json")
	if own[0].Seconds*2 > shared[0].Seconds {
		t.Errorf("%v with links of their own, %v with shared ones", own[0].Seconds, shared[0].Seconds)
	}
}

// TestCostOfTwoLevels: what is near costs what it is said to, and the command line counts before a file.
func TestCostOfTwoLevels(t *testing.T) {
	file := filepath.Join(t.TempDir(), "machine.json")
	if err := os.WriteFile(file, []byte(`{"near": {"alpha": 1e-7}, "far": {"alpha": 1e-3}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	// In a ring of four ranks on two hosts every other hop is far. A block makes three.
	for _, tc := range []struct {
		args []string
		want float64
	}{
		{[]string{"-alpha", "1e-6"}, 2e-6},
		{[]string{"-alpha", "1e-6", "-near-alpha", "5e-6"}, 2*5e-6 + 1e-6},
		{[]string{"-machine", file}, 2*1e-3 + 1e-7},
		{[]string{"-machine", file, "-alpha", "1e-6", "-near-alpha", "1e-6"}, 3e-6},
	} {
		got := predicted(t, append([]string{"cost", "-catalogue", "-n", "4", "-ranks-per-host", "2", "-bytes", "4",
			"-beta", "0", "-json", "allgather/ring"}, tc.args...)...)
		if len(got) != 1 || math.Abs(got[0].Seconds-tc.want) > 1e-10 {
			t.Errorf("%q: %+v, want %v", tc.args, got, tc.want)
		}
	}
}

// TestCostPage runs the command that docs/cost.md shows with what it prints, and checks the figures around it.
func TestCostPage(t *testing.T) {
	block := regexp.MustCompile("(?s)```console\n\\$ collgen (cost .*?)\n(.*?)```").FindStringSubmatch(
		read(t, "../../docs/cost.md"))
	if block == nil {
		t.Fatal("docs/cost.md has no command")
	}
	args := strings.Fields(block[1])
	status, stdout, stderr := collgen(t, args...)
	if d := cmp.Diff(block[2], stdout); status != 0 || d != "" {
		t.Errorf("status %d: %s%s", status, d, stderr)
	}
	exact := predicted(t, append(args, "-json")...)
	if ms := exact[0].Seconds * 1e3; math.Abs(ms-4.7) > .05 || math.Abs(2*ms-9.4) > .05 {
		t.Errorf("an all-reduce takes %v ms", ms)
	}
	late := predicted(t, append(args, "-alpha", "2e-6", "-json")...)
	if more := late[0].Seconds - exact[0].Seconds; math.Abs(more-28e-6) > .5e-6 {
		t.Errorf("with latencies it takes %v s more", more)
	}
}

func TestCostRefuses(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "machine.json")
	if err := os.WriteFile(bad, []byte(`{"cores": -1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		says string
		args []string
	}{
		{"want a primitive", nil},
		{"-n 0", []string{"-n", "0", "allreduce/ring"}},
		{"no algorithm", []string{"-algorithms", "ring,nothing", "allreduce"}},
		{"not a directory", []string{"-plot", bad + "/x/y.svg", "allreduce/ring"}},
		{"alpha", []string{"-alpha", "-1", "allreduce/ring"}},
		{"cores is -1", []string{"-machine", bad, "allreduce/ring"}},
		{"no such file", []string{"-machine", bad + "?", "allreduce/ring"}},
	} {
		status, _, stderr := collgen(t, append([]string{"cost", "-catalogue"}, tc.args...)...)
		if status == 0 || !strings.Contains(stderr, tc.says) {
			t.Errorf("%q: status %d, %s", tc.args, status, stderr)
		}
	}
}
