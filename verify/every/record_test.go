package every_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/verify/every"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// emitted is an algorithm in the form of which Go is generated.
func emitted(a gen.Algorithm) *gen.Algorithm {
	a = gen.Prune(gen.Simplify(a))
	return &a
}

// TestRecordIsCurrent fails when an algorithm, an invariant or what is derived from them has changed since it was proved.
func TestRecordIsCurrent(t *testing.T) {
	list, err := every.Records()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != len(gen.Catalogue()) {
		t.Errorf("there are records of %d algorithms, and %d algorithms", len(list), len(gen.Catalogue()))
	}
	for _, a := range gen.Catalogue() {
		p, err := every.ProblemOf(emitted(a))
		if err != nil {
			t.Error(err)
			continue
		}
		r, ok := p.Recorded(list)
		if !ok {
			t.Errorf("%s is not as it was when it was proved: collgen prove -catalogue -write", a.FullName())
			continue
		}
		if d := gocmp.Diff([]string{"z3", "cvc5"}, r.Solvers); d != "" || r.Obligations != len(p.Obligations) || r.Sizes != p.Sizes() {
			t.Errorf("%s: %+v, with %d obligations for sizes %s: %s", a.FullName(), r, len(p.Obligations), p.Sizes(), d)
		}
	}
}

// TestRecordNotices changes what is sent, or what is lent, and asks for the record.
func TestRecordNotices(t *testing.T) {
	later := func(x *gen.Send) { x.Data.At = off(x.Data.At) }
	list, err := every.Records()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]struct {
		of gen.Algorithm
		by func(*gen.Algorithm)
	}{
		"the first send":  {gen.AllReduceRing, send(0, later)},
		"the second send": {gen.AllReduceRing, send(1, later)},
		"what is lent":    {gen.AllGatherDirect, recv(0, func(x *gen.Recv) { x.Lend = true })},
	} {
		a := *emitted(change.of)
		change.by(&a)
		p, err := every.ProblemOf(&a)
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := p.Recorded(list); ok {
			t.Errorf("%s is changed, and the record is %+v", name, r)
		}
	}
}

func TestRecords(t *testing.T) {
	list := []every.Record{{"a/b", "0x1", "all", 3, []string{"z3"}}, {"c/d", "0x2", "1..2^31", 4, []string{"z3", "cvc5"}}}
	got, err := every.ReadRecords(every.WriteRecords(list))
	if d := gocmp.Diff(list, got); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	for _, bad := range []string{"a/b 0x1 all 3", "a/b 0x1 all three z3", strings.Repeat("long", 1<<16)} {
		if _, err := every.ReadRecords([]byte(bad)); err == nil {
			t.Errorf("%q is read as a record", bad)
		}
	}
}

// FuzzReadRecords: what can be read is what is written again.
func FuzzReadRecords(f *testing.F) {
	f.Add([]byte("# comment\na/b 0x1 all 3 z3\n\nc/d 0x2 1..2^31 4 z3,cvc5\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := every.ReadRecords(text)
		if err != nil {
			return
		}
		sorted := slices.SortedStableFunc(slices.Values(list), func(a, b every.Record) int { return cmp.Compare(a.Algorithm, b.Algorithm) })
		again, err := every.ReadRecords(every.WriteRecords(list))
		if d := gocmp.Diff(sorted, again, cmpopts.EquateEmpty()); err != nil || d != "" {
			t.Errorf("%v %s", err, d)
		}
	})
}
