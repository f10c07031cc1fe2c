package fast

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
)

// tuneFile is a table for tests, which the generator's tests read as well.
const tuneFile = "../selection/testdata/tune.json"

func decodeTuning(t *testing.T) *Tuning {
	t.Helper()
	f, err := os.Open(tuneFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := DecodeTuning(f)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestChoiceIsTheGenerators: for calls of every collective, over every transport, what the runtime chooses is what the
// generator's tables say, built in and after the rules of a file.
func TestChoiceIsTheGenerators(t *testing.T) {
	for _, table := range []*Tuning{{}, decodeTuning(t)} {
		made, err := tunedBy(table, "test")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range spec.Primitives() {
			var algorithms []gen.Algorithm
			for _, a := range catalogue.Algorithms() {
				if a.Primitive.Name == p.Name {
					algorithms = append(algorithms, a)
				}
			}
			rules := selection.Merge(table.Rules[p.Name], catalogue.Rules(p, algorithms), gen.Selectable(algorithms))
			for _, transport := range selection.Transports {
				for _, size := range []int{1, 2, 3, 4, 5, 8, 9, 64} {
					c := newComm(0, size, nil)
					c.exec.Carrier, c.exec.Tuning = transport, made.rulesFor
					if selection.Spans(transport) {
						c.exec.PerHost = size/4 + 1
					}
					for bytes := 1; bytes <= 64<<20; bytes = bytes*3/2 + 1 {
						r := rules[gen.Select(rules, algorithms, c.exec.SelectionOf(true), bytes)]
						a, depth, err := c.exec.Plan(collectiveOf(p.Name), bytes, bytes, 0, 0, nil)
						if err != nil || a.Name != r.Algorithm || depth != r.Depth(bytes, bytes) {
							t.Fatalf("%s of %d bytes among %d over %s: %v, depth %d, %v; want %v", p.Name, bytes, size, transport, a, depth,
								err, r)
						}
					}
				}
			}
		}
	}
}

// TestTuningIsRefused at once, and says what is wrong where.
func TestTuningIsRefused(t *testing.T) {
	write := func(text string) string {
		name := filepath.Join(t.TempDir(), "tune.json")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	wrong := &Tuning{Rules: map[string][]Rule{"AllReduce": {{Algorithm: "binomial"}}}}
	for want, opt := range map[string]InitOption{
		"no such file":                                WithTuningFile("/nowhere/tune.json"),
		"/dev/null is not a file":                     WithTuningFile("/dev/null"),
		`unknown field "rule"`:                        WithTuningFile(write(`{"rule": {}}`)),
		"rules.Reduces: there is no such":             WithTuningFile(write(`{"rules": {"Reduces": []}}`)),
		"rules.AllReduce: rule 1, binomial: there is": WithTuning(wrong),
	} {
		begun := func(context.Context, *Comm) error { t.Error("the ranks run"); return nil }
		for _, err := range []error{Run(t.Context(), 2, begun, opt),
			func() error { _, err := Init(t.Context(), WithRank(0, 1), opt); return err }()} {
			if !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	}
	if err := Run(t.Context(), 1, func(context.Context, *Comm) error { return nil }, nil); !errors.Is(err,
		ErrInvalidArgument) {
		t.Errorf("a nil option: %v", err)
	}
}

// TestTuning has ranks follow a table, which the caller may change afterwards, also on a communicator that Split makes.
func TestTuning(t *testing.T) {
	table := decodeTuning(t)
	follows := func(c *Comm) error {
		for _, bytes := range []int{64, 65} {
			x, err := Explain(c, Query{Collective: "AllReduce", Bytes: bytes, Op: Sum})
			if err != nil {
				return err
			}
			if want := fasttest.Unless(bytes > 64, "recursive-doubling", "tree"); x.Algorithm != want {
				t.Errorf("%v: %v", c, x)
			}
		}
		return nil
	}
	if err := Run(t.Context(), 3, func(ctx context.Context, c *Comm) error {
		if c.Rank() == 0 {
			clear(table.Rules["AllReduce"])
		}
		if err := follows(c); err != nil {
			return err
		}
		d, err := c.Dup(ctx)
		if err != nil {
			return err
		}
		return errors.Join(follows(d), AllReduce(ctx, d, make([]int64, 8), Sum), d.Close())
	}, WithTuning(table)); err != nil {
		t.Error(err)
	}
}

// TestTablesDiffer has two ranks follow different tables: they are told of it.
func TestTablesDiffer(t *testing.T) {
	meeting := NewMemoryStore()
	all := fasttest.Begin(t, 2, func(rank int) (*Comm, error) {
		table := &Tuning{Rules: map[string][]Rule{"AllReduce": {{Algorithm: []string{"ring", "tree"}[rank]}}}}
		return Init(t.Context(), WithRank(rank, 2), WithStore(meeting), WithTuning(table))
	})
	defer fasttest.CloseAll(t, all)
	for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
		return AllReduce(t.Context(), c, make([]int64, 8),
			Sum)
	}) {
		var m *MismatchError
		if !errors.As(err, &m) || m.Field != "algorithm" || !strings.Contains(err.Error(),
			"selection tables (COLL_TUNE) differ") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestLocal: ranks on each host are counted only where they follow each other, and the last host alone has fewer.
func TestLocal(t *testing.T) {
	for hosts, want := range map[string]int{"a": 1, "aaaa": 4, "aabb": 2, "abcd": 1, "aabbc": 2, "aabbb": 0, "abab": 0,
		"abba": 0, "abb": 0, "aaba": 0, "aabbaa": 0} {
		w := &world{locate: func(process int) (host, link string) { return hosts[process : process+1], "tcp" }}
		processes := make([]int, len(hosts))
		for i := range processes {
			processes[i] = i
		}
		if got := w.local(processes); got != want {
			t.Errorf("%s: %d, want %d", hosts, got, want)
		}
	}
}

// TestTwoLevelNeedsHosts: an algorithm for equal hosts is refused by name on others, and no rule picks it.
func TestTwoLevelNeedsHosts(t *testing.T) {
	for local, want := range map[int]string{0: "hosts that do not have equally many",
		3: "not serve op sum among 4 ranks, 3 on each host but the last; package fast/hosts", 2: ""} {
		c := newComm(0, 4, nil)
		c.exec.Carrier, c.exec.PerHost, c.exec.Local = "mixed", max(local, 2), local
		q := Query{Collective: "AllReduce", Bytes: 1 << 20, Op: Sum}
		_, err := Explain(c, q, WithAlgorithm("two-level"))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d on each host: %v, want %q", local, err, want)
		}
		if q.Op = 0; local == 0 {
			if _, err := Explain(c, q, WithAlgorithm("two-level")); !strings.Contains(err.Error(), "does not serve 4 ranks on") {
				t.Errorf("without an op: %v", err)
			}
		}
		x, err := Explain(c, q)
		if err != nil || (x.Algorithm == "two-level") != (want == "") {
			t.Errorf("%d on each host: %v, %v", local, x, err)
		}
	}
}
