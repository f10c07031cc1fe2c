package selection

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// drawRule draws a rule of few different limits, so that they often meet.
func drawRule() Rule {
	limit := func(of ...int) int { return of[rand.IntN(len(of))] }
	r := Rule{
		Transport: append(Transports, "", "")[rand.IntN(len(Transports)+2)], Algorithm: some[rand.IntN(len(some))].Name,
		MinSize: limit(0, 0, 1, 3), MaxSize: limit(0, 0, 3, 8), MaxPerHost: limit(0, 0, 1, 3),
		MaxBytes: limit(0, 1, 10, 10, 100),
	}
	if r.Algorithm == "few" {
		r.MaxSize = limit(3, 8)
	}
	return r
}

// drawCall draws a call about the limits of rules.
func drawCall() (c Call, bytes int) {
	sizes, of := []int{1, 2, 3, 4, 8, 9}, []int{0, 1, 2, 10, 11, 100, 101}
	c = Call{Transport: Transports[rand.IntN(len(Transports))], Size: sizes[rand.IntN(len(sizes))],
		Commutative: rand.IntN(2) == 0}
	if Spans(c.Transport) {
		c.PerHost = rand.IntN(c.Size + 1)
		if rand.IntN(2) == 0 {
			c.PerHost = min(c.PerHost, 3)
			c.Local = c.PerHost // Merge and Check look at no more
		}
	}
	return c, of[rand.IntN(len(of))]
}

// plainly returns the rule that counts as its definition has it: the first that matches, and whose algorithm serves.
func plainly(table []Rule, c Call, bytes int) int {
	perHost := c.PerHost
	if perHost == 0 {
		perHost = c.Size
	}
	return slices.IndexFunc(table, func(r Rule) bool {
		a := Find(some, r.Algorithm)
		return (r.Transport == "" || r.Transport == c.Transport) && c.Size >= r.MinSize &&
			(r.MaxSize == 0 || c.Size <= r.MaxSize) &&
			(r.MaxPerHost == 0 || perHost <= r.MaxPerHost) && (r.MaxBytes == 0 || bytes <= r.MaxBytes) &&
			(a.Name != "few" || c.Size <= 8) && (a.Name != "sums" || c.Commutative) &&
			(a.Name != "four" || c.Size <= 4) && (a.Name != "level" || c.Local > 0 && c.Size%c.Local == 0)
	})
}

// TestSelectIsFirstMatch draws tables and calls: Select, Explain and the plain definition agree, and Merge changes
// nothing but rules that no call gets.
func TestSelectIsFirstMatch(t *testing.T) {
	for range 500 {
		var table []Rule
		for range rand.IntN(7) {
			table = append(table, drawRule())
		}
		cut := rand.IntN(len(table) + 1)
		merged := Merge(table[:cut], table[cut:], some)
		if err := Legal(merged, some); err != nil {
			t.Fatalf("merged from %+v: %v", table, err)
		}
		for range 50 {
			c, bytes := drawCall()
			want := plainly(table, c, bytes)
			x := Explain(table, some, c, bytes)
			if got := Select(table, some, c, bytes); got != want || x.Line != want+1 {
				t.Fatalf("%+v, %d bytes: rule %d and %+v, want %d of %+v", c, bytes, got, x, want, table)
			}
			m := Select(merged, some, c, bytes)
			if (m < 0) != (want < 0) || m >= 0 && merged[m] != table[want] {
				t.Fatalf("%+v, %d bytes: merged rule %d of %+v, want %d of %+v", c, bytes, m, merged, want, table)
			}
			if len(x.Passed) != max(want, 0) && want >= 0 {
				t.Fatalf("passed %+v before %d", x.Passed, want)
			}
		}
	}
}

// TestUnproved: an algorithm that was not proved for so many ranks carries a call out if that may be, and not
// otherwise.
func TestUnproved(t *testing.T) {
	table := []Rule{{Algorithm: "four", MaxBytes: 10}, {Algorithm: "any", MaxBytes: 20}, {Algorithm: "four"}}
	for _, tc := range []struct {
		c           Call
		bytes, want int
		why         string
	}{
		{Call{Size: 4}, 10, 0, ""},
		{Call{Size: 5}, 10, 1, "its algorithm was not proved for 5 ranks"},
		{Call{Size: 5, Unproved: true}, 10, 0, ""},
		{Call{Size: 5}, 30, -1, "its algorithm was not proved for 5 ranks"},
	} {
		x := Explain(table, some, tc.c, tc.bytes)
		if got := Select(table, some, tc.c, tc.bytes); got != tc.want || x.Line != tc.want+1 {
			t.Errorf("%+v: rule %d, %+v", tc, got, x)
		}
		if tc.why != "" && x.Passed[len(x.Passed)-1].Why != tc.why {
			t.Errorf("%+v: %+v", tc, x.Passed)
		}
	}
}

func TestDepth(t *testing.T) {
	for _, tc := range []struct{ piece, count, bytes, want int }{
		{0, 100, 800, 1}, {64, 0, 0, 1}, {64, 1, 8, 1}, {64, 8, 64, 1}, {64, 9, 72, 2}, {64, 100, 800, 13},
		{4, 100, 800, 100},
	} {
		if got := (&Rule{PieceBytes: tc.piece}).Depth(tc.count, tc.bytes); got != tc.want {
			t.Errorf("%+v: got %d", tc, got)
		}
	}
}

// TestWords has rules of all kinds in words.
func TestWords(t *testing.T) {
	for _, tc := range []struct {
		rule Rule
		want string
	}{
		{Rule{}, "all calls: a"},
		{Rule{MinSize: 2, MaxSize: 8}, "2 to 8 ranks: a"},
		{Rule{MinSize: 3, MaxSize: 3, Transport: "shm"}, "shm, 3 ranks: a"},
		{Rule{MaxSize: 1}, "one rank: a"},
		{Rule{MaxSize: 8, MaxPerHost: 1, MaxBytes: 9}, "at most 8 ranks, at most 1 on a host, at most 9 bytes: a"},
		{Rule{MinSize: 3, MaxBytes: 9}, "at least 3 ranks, at most 9 bytes: a"},
		{Rule{MaxSize: 8, PieceBytes: 4}, "at most 8 ranks: a in pieces of 4 bytes"},
		{Rule{Transport: "rdma", Predicted: true}, "rdma: a (predicted, not measured)"},
	} {
		tc.rule.Algorithm = "a"
		if got := tc.rule.String(); got != tc.want {
			t.Errorf("%+v is %q, want %q", tc.rule, got, tc.want)
		}
	}
}

// TestPassedOver: rules for another transport that stand together are reported together, all others one by one.
func TestPassedOver(t *testing.T) {
	rule := func(transport string, most int) Rule {
		return Rule{Transport: transport, MaxSize: most, Algorithm: "a"}
	}
	table := []Rule{rule("rdma", 1), rule("rdma", 2), rule("shm", 0), rule("tcp", 2), rule("tcp", 1), rule("rdma", 0),
		rule("", 0)}
	got := Words(Explain(table, []Algorithm{{Name: "a"}}, Call{Transport: "tcp", Size: 3}, 8).Passed)
	want := []string{"rules 1 to 2: they are for transport rdma", "rule 3: shm: a: it is for transport shm",
		"rule 4: tcp, at most 2 ranks: a: it is for at most 2 ranks", "rule 5: tcp, one rank: a: it is for one rank",
		"rule 6: rdma: a: it is for transport rdma"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
