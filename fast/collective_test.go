package fast

import (
	"errors"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast/internal/exec"
)

// everything is what was proved of algorithms in tests of something else.
var everything = exec.Proved{Every: true}

// table is a collective with algorithms that serve some calls, and rules of every kind.
var table = exec.Collective{
	Name:    "Test",
	Reduces: true,
	Algorithms: []exec.Algorithm{
		{Name: "even", Proved: everything, Serves: func(size int) bool { return size%2 == 0 }},
		{Name: "any", Proved: everything},
		{Name: "piped", Proved: everything, Pipelined: true},
	},
	Rules: []Rule{
		{Transport: "tcp", Algorithm: "piped", MaxBytes: 100, PieceBytes: 10},
		{Algorithm: "even", MaxBytes: 100},
		{Algorithm: "any", MaxBytes: 1000, MinSize: 3, MaxSize: 5},
		{Algorithm: "piped", MinSize: 2, PieceBytes: 64},
	},
}

// TestPlan goes through the selection table.
func TestPlan(t *testing.T) {
	for _, test := range []struct {
		name               string
		carrier            string // "": goroutines
		size, count, bytes int
		opts               []Option
		algorithm          string
		depth              int
	}{
		{"the first rule", "", 4, 25, 100, nil, "even", 1},
		{"too many bytes for the first", "", 4, 101, 101, nil, "any", 1},
		{"the first does not serve three", "", 3, 1, 1, nil, "any", 1},
		{"too few ranks for the second", "", 2, 200, 200, nil, "piped", 4},
		{"too many ranks for the second", "", 6, 200, 193, nil, "piped", 4},
		{"whole pieces", "", 7, 200, 192, nil, "piped", 3},
		{"nothing to cut", "", 7, 0, 0, nil, "piped", 1},
		{"no more pieces than elements", "", 7, 2, 16 << 10, nil, "piped", 2},
		{"no rule", "", 1, 200, 200, nil, "any", 1},
		{"by name", "", 4, 25, 100, []Option{WithAlgorithm("any")}, "any", 1},
		{"by name, with the depth of its rule", "", 4, 25, 100, []Option{WithAlgorithm("piped")}, "piped", 2},
		{"by depth", "", 4, 25, 100, []Option{WithDepth(7)}, "even", 7},
		{"by both", "", 4, 25, 100, []Option{WithDepth(7), WithAlgorithm("any")}, "any", 7},
		{"the last option counts", "", 4, 25, 100, []Option{WithAlgorithm("any"), WithAlgorithm("even"), {}}, "even", 1},
		{"over another transport", "tcp", 4, 25, 100, nil, "piped", 10},
		{"too many bytes for that transport", "tcp", 4, 101, 101, nil, "any", 1},
		{"by name, with the depth for the transport", "tcp", 4, 25, 100, []Option{WithAlgorithm("piped")}, "piped", 10},
	} {
		c := newComm(0, test.size, nil)
		if test.carrier != "" {
			c.exec.Carrier = test.carrier
		}
		for range 2 { // made, and remembered
			wantPlan(t, test.name, c, test.count, test.bytes, test.opts, test.algorithm, test.depth)
		}
	}
}

// wantPlan checks what a call of table on c gets.
func wantPlan(t *testing.T, name string, c *Comm, count, bytes int, opts []Option, algorithm string, depth int) {
	t.Helper()
	a, got, err := c.exec.Plan(&table, count, bytes, Sum, opts)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	} else if a.Name != algorithm || got != depth {
		t.Errorf("%s: %s with depth %d, want %s with %d", name, a.Name, got, algorithm, depth)
	}
}

// TestPlansOfSeveral has calls of two collectives by turns, each of which gets its own.
func TestPlansOfSeveral(t *testing.T) {
	other := exec.Collective{Name: "Other", Algorithms: []exec.Algorithm{{Name: "only", Proved: everything}}}
	c := newComm(0, 4, nil)
	for range 3 {
		wantPlan(t, "the first", c, 25, 100, nil, "even", 1)
		if a, _, err := c.exec.Plan(&other, 25, 100, Sum, nil); err != nil || a.Name != "only" {
			t.Errorf("%v, %v", a, err)
		}
	}
	if len(c.exec.Plans.All) != 2 {
		t.Errorf("%d plans", len(c.exec.Plans.All))
	}
}

// TestPlanRefuses has options that no call can serve.
func TestPlanRefuses(t *testing.T) {
	for _, test := range []struct {
		opts []Option
		want string
	}{
		{[]Option{WithAlgorithm("rign")}, `no algorithm is called "rign"; there are even, any, piped`},
		{[]Option{WithAlgorithm("")}, `no algorithm is called ""`},
		{[]Option{WithAlgorithm("even")}, `algorithm "even" does not serve 3 ranks`},
		{[]Option{WithDepth(0)}, "depth is 0"},
		{[]Option{WithDepth(-1)}, "depth is -1"},
	} {
		_, _, err := newComm(0, 3, nil).exec.Plan(&table, 1, 1, Sum, test.opts)
		if !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
	none := exec.Collective{Name: "Test"}
	if _, _, err := newComm(0, 3, nil).exec.Plan(&none, 1, 1, Sum, nil); !errors.Is(err, ErrInvalidArgument) {
		t.Errorf("without algorithms: %v", err)
	}
}
