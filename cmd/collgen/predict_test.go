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
)

// TestCost compares what is predicted for a ring with its formula, and looks at the order of the table.
func TestCost(t *testing.T) {
	var ring []prediction
	decode(t, &ring, "cost", "-catalogue", "-n", "8", "-bytes", "8000", "-alpha", "1e-6", "-beta", "1e-9", "-gamma",
		"1e-9", "allreduce/ring", "-json")
	want := 14*(1e-6+1000e-9) + 7*1000e-9 // 2(n-1) messages of an eighth, half of them reduced
	if len(ring) != 1 || math.Abs(ring[0].Seconds-want) > 1e-9 || ring[0].Messages != 8*14 || ring[0].Bytes != 8*14*1000 {
		t.Errorf("%+v, want %v seconds", ring, want)
	}
	var all []prediction
	decode(t, &all, "cost", "-catalogue", "-n", "5", "-json", "allreduce")
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

// TestCostOfSharedLinks: eight ranks of a host share its link, so that what all of them send takes longer.
func TestCostOfSharedLinks(t *testing.T) {
	var own, shared []prediction
	decode(t, &own, "cost", "-catalogue", "-n", "16", "alltoall/direct", "-json")
	decode(t, &shared, "cost", "-catalogue", "-n", "16", "-ranks-per-host", "8", "alltoall/direct", "-json")
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
		var got []prediction
		decode(t, &got, append([]string{"cost", "-catalogue", "-n", "4", "-ranks-per-host", "2", "-bytes", "4", "-beta", "0",
			"-json", "allgather/ring"}, tc.args...)...)
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
	var exact, late []prediction
	decode(t, &exact, append(args, "-json")...)
	if ms := exact[0].Seconds * 1e3; math.Abs(ms-4.7) > .05 || math.Abs(2*ms-9.4) > .05 {
		t.Errorf("an all-reduce takes %v ms", ms)
	}
	decode(t, &late, append(args, "-alpha", "2e-6", "-json")...)
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
		{"ranks", []string{"-n", "0", "allreduce/ring"}},
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
