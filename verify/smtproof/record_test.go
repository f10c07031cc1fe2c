package smtproof_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	_ "github.com/collgen/collgen/internal/lessgc" // proofs leave much garbage
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/smtproof"
)

// emitted returns an algorithm in the form of which Go is generated.
func emitted(a gen.Algorithm) *gen.Algorithm {
	a = gen.Prune(gen.Simplify(a))
	return &a
}

// inductive returns the algorithms of the catalogue that need a proof for every size: all but those that serve no sizes
// but those that are tried.
func inductive() []gen.Algorithm {
	return slices.DeleteFunc(catalogue.Algorithms(),
		func(a gen.Algorithm) bool { return verify.TriesAll(&a, verify.MaxSize) })
}

// TestRecordIsCurrent fails when an algorithm, an invariant or what is derived from them has changed since it was
// proved.
func TestRecordIsCurrent(t *testing.T) {
	list, err := smtproof.Records()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(inductive()); len(list) != n {
		t.Errorf("there are records of %d algorithms, and %d algorithms that serve more sizes than are tried", len(list), n)
	}
	for _, a := range inductive() {
		p, err := smtproof.ProblemOf(emitted(a))
		if err != nil {
			t.Error(err)
			continue
		}
		r, ok := p.Recorded(list)
		if !ok {
			t.Errorf("%s is not as it was when it was proved: collgen prove -catalogue -write", a.FullName())
			continue
		}
		if d := gocmp.Diff([]string{"z3", "cvc5"}, r.Solvers); d != "" || r.Obligations != len(p.Obligations) ||
			r.Sizes != p.Sizes() || r.Scripts != p.ScriptsFor(r.Solvers) || len(r.Versions) != len(r.Solvers) {
			t.Errorf("%s: %+v, with %d obligations for sizes %s: %s", a.FullName(), r, len(p.Obligations), p.Sizes(), d)
		}
	}
}

// TestRecordNotices changes what is sent, or what is lent, and asks for the record.
func TestRecordNotices(t *testing.T) {
	later := func(x *gen.Send) { x.Data.At = off(x.Data.At) }
	list, err := smtproof.Records()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]struct {
		of gen.Algorithm
		by func(*gen.Algorithm)
	}{
		"the first send":  {catalogue.AllReduceRing, send(0, later)},
		"the second send": {catalogue.AllReduceRing, send(1, later)},
		"what is lent":    {catalogue.AllGatherDirect, recv(0, func(x *gen.Recv) { x.Lend = true })},
	} {
		a := *emitted(change.of)
		change.by(&a)
		p, err := smtproof.ProblemOf(&a)
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := p.Recorded(list); ok {
			t.Errorf("%s is changed, and the record is %+v", name, r)
		}
	}
}

// TestChanges has records that are new, gone, stronger, weaker and only different: none of that is left unsaid.
func TestChanges(t *testing.T) {
	of := func(name, digest, sizes string, obligations int, scripts string, versions ...string) smtproof.Record {
		return smtproof.Record{Algorithm: name, Digest: digest, Sizes: sizes, Obligations: obligations,
			Solvers: []string{"z3", "cvc5"}[:len(versions)], Scripts: scripts, Versions: versions}
	}
	var before []smtproof.Record
	for name := range strings.FieldsSeq("same more fewer other gone alone sizes count newer options") {
		before = append(before, of("a/"+name, "0x1", "all", 3, "0x2", "4", "1"))
	}
	now := []smtproof.Record{before[0], of("a/more", "0x11", "all", 5, "0x12", "4", "1"),
		of("a/fewer", "0x11", "1..2^31", 2, "0x12", "4"), of("a/other", "0x11", "all", 3, "0x12", "4", "1"),
		of("a/new", "0x1", "all", 4, "0x2", "4", "1"), of("a/alone", "0x1", "all", 3, "0x12", "4"),
		of("a/sizes", "0x1", "1..2^31", 3, "0x2", "4", "1"), of("a/count", "0x1", "all", 2, "0x2", "4", "1"),
		of("a/newer", "0x1", "all", 3, "0x2", "4", "2"), of("a/options", "0x1", "all", 3, "0x12", "4", "1")}
	want := []string{
		"a/more: 5 obligations, 2 more than before",
		"a/fewer: 2 obligations, 1 fewer than before; for sizes 1..2^31 instead of all; by z3 instead of z3,cvc5",
		"a/other: 3 obligations, as many as before, and not the same",
		"a/new: 4 obligations, and none before",
		"a/alone: by z3 instead of z3,cvc5",
		"a/sizes: for sizes 1..2^31 instead of all",
		"a/count: 2 obligations, 1 fewer than before",
		"a/newer: by options or versions of the solvers that were not recorded",
		"a/options: by options or versions of the solvers that were not recorded",
		"a/gone: no record any more; it was of 3 obligations",
	}
	if d := gocmp.Diff(want, smtproof.Changes(before, now)); d != "" {
		t.Error(d)
	}
}

// TestRecords reads a record of before, and one with the scripts' hash and the solvers' versions.
func TestRecords(t *testing.T) {
	list := []smtproof.Record{{Algorithm: "a/b", Digest: "0x1", Sizes: "all", Obligations: 3, Solvers: []string{"z3"}},
		{"c/d", "0x2", "1..2^31", 4, []string{"z3", "cvc5"}, "0x3", []string{"4.8.12", "1.0.3"}}}
	got, err := smtproof.ReadRecords(smtproof.WriteRecords(list))
	if d := gocmp.Diff(list, got); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	for _, bad := range []string{"a/b 0x1 all 3", "a/b 0x1 all three z3", "a/b 0x1 all 3 z3 0x2",
		strings.Repeat("long", 1<<16)} {
		if _, err := smtproof.ReadRecords([]byte(bad)); err == nil {
			t.Errorf("%q is read as a record", bad)
		}
	}
}

// FuzzReadRecords: what can be read is what is written again.
func FuzzReadRecords(f *testing.F) {
	f.Add([]byte("# comment\na/b 0x1 all 3 z3\n\nc/d 0x2 1..2^31 4 z3,cvc5\ne/f 0x3 all 4 z3,cvc5 0x4 4.8,1.0\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := smtproof.ReadRecords(text)
		if err != nil {
			return
		}
		sorted := slices.SortedStableFunc(slices.Values(list),
			func(a, b smtproof.Record) int { return cmp.Compare(a.Algorithm, b.Algorithm) })
		again, err := smtproof.ReadRecords(smtproof.WriteRecords(list))
		if d := gocmp.Diff(sorted, again, cmpopts.EquateEmpty()); err != nil || d != "" {
			t.Errorf("%v %s", err, d)
		}
	})
}
