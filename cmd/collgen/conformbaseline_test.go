package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
	"github.com/collgen/collgen/verify/colltest"
)

// TestConformBaseline: what is written is known the next time, what is not known fails, and what no longer fails is
// named.
func TestConformBaseline(t *testing.T) {
	path := filepath.Join(t.TempDir(), "known.json")
	status, out, errs := conform(t, "spoil", "-write-baseline", path)
	known, err := readBaseline(path)
	want := knownFailure{Primitive: "Broadcast", Form: "apart", Kind: colltest.Value, With: []string{"int8"},
		Values: "ordinary", Ranks: 1}
	if status != statusFailed || err != nil || cmp.Diff([]knownFailure{want}, known) != "" {
		t.Fatalf("status %d, %v, %+v\n%s\n%s", status, err, known, out, errs)
	}
	known[0].Note = "issue 42"
	write := func(k knownFailure) {
		if err := writeBaselineFile(path, []knownFailure{k}); err != nil {
			t.Fatal(err)
		}
	}
	write(known[0])
	again := filepath.Join(t.TempDir(), "again.json")
	status, out, errs = conform(t, "spoil", "-baseline", path, "-write-baseline", again)
	if status != 0 || !strings.Contains(out, "fails as known\n  known: Broadcast of int8") ||
		!strings.Contains(out, "issue 42") || strings.Contains(out, "again:") {
		t.Errorf("known: status %d\n%s\n%s", status, out, errs)
	}
	if same, err := readBaseline(again); err != nil || cmp.Diff(known, same) != "" {
		t.Errorf("%v, %+v", err, same)
	}
	status, out, errs = conform(t, "right", "-baseline", path, "-write-baseline", again)
	if status != 0 || !strings.Contains(out, "gone: Broadcast of int8, apart") || !strings.Contains(out, "issue 42") {
		t.Errorf("gone: status %d\n%s\n%s", status, out, errs)
	}
	if none, err := readBaseline(again); err != nil || len(none) > 0 {
		t.Errorf("%v, %+v", err, none)
	}
	other := known[0]
	other.Kind = colltest.Hang
	write(other)
	status, out, _ = conform(t, "spoil", "-baseline", path)
	if status != statusFailed || !strings.Contains(out, "FAILS") || !strings.Contains(out, "gone: Broadcast") {
		t.Errorf("another kind: status %d\n%s", status, out)
	}
}

// TestConformBaselineOutputs: known failures have their place in each output.
func TestConformBaselineOutputs(t *testing.T) {
	dir := t.TempDir()
	path, junit, html := filepath.Join(dir, "known.json"), filepath.Join(dir, "r.xml"), filepath.Join(dir, "r.html")
	k := knownFailure{Primitive: "Broadcast", Form: "apart", Kind: colltest.Value, With: []string{"*"}, Values: "ordinary",
		Ranks: 1, Note: "see #42"}
	if err := writeBaselineFile(path, []knownFailure{k}); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"-json", "-tap"} {
		status, out, errs := conform(t, "spoil", "-baseline", path, flag, "-junit", junit, "-html", html)
		if status != 0 {
			t.Fatalf("status %d\n%s\n%s", status, out, errs)
		}
		var r conformance
		if flag == "-tap" {
			if p := readTAP(t, out).points[0]; p.ok || p.directive != `TODO known: see \#42` {
				t.Errorf("%+v", p)
			}
		} else if err := json.Unmarshal([]byte(out), &r); err != nil || !r.Failures[0].Known || r.Failures[0].Note != k.Note {
			t.Errorf("%v, %s", err, out)
		}
		if c := readJUnit(t, junit).named(0, "Broadcast int8"); c.Failure != nil ||
			c.Skipped.Message != "it fails as known: see #42" || !strings.Contains(c.Output, "again: collgen") {
			t.Errorf("%+v", c)
		}
		page, err := os.ReadFile(html)
		if text := htmlText(t, string(page)); err != nil || !strings.Contains(text, "This failure is known: see #42") {
			t.Errorf("%v, %s", err, text)
		}
	}
}

// reduced returns a failure of an AllReduce, changed.
func reduced(change func(f *colltest.Failure, s *colltest.Step)) *failedCase {
	f := failure(colltest.Value, "element 3 is 4", colltest.Step{Primitive: "AllReduce", Type: spec.TypeInt8,
		Op: spec.OpSum, Count: 3})
	f.Also = []string{"int16 sum"}
	change(f, &f.Case.Steps[0])
	return &failedCase{Primitive: "AllReduce", Failure: f}
}

// TestKnown: an entry stands for failures that are the same in each respect, and for no others.
func TestKnown(t *testing.T) {
	type (
		failure = colltest.Failure
		step    = colltest.Step
	)
	env := environment{{name: "A", value: "b"}, {name: "C", unset: true}}
	same := func(*failure, *step) {}
	known := []knownFailure{reduced(same).entry(env)}
	known[0].Says = "element 3"
	for name, x := range map[string]struct {
		change func(*failure, *step)
		env    environment
		known  bool
	}{
		"the same":              {same, env, true},
		"more ranks":            {func(f *failure, _ *step) { f.Case.Size = 5 }, env, true},
		"longer":                {func(_ *failure, s *step) { s.Count = 9 }, env, true},
		"one type":              {func(f *failure, _ *step) { f.Also = nil }, env, true},
		"fewer ranks":           {func(f *failure, _ *step) { f.Case.Size = 1 }, env, false},
		"another kind":          {func(f *failure, _ *step) { f.Problems[0].Kind = colltest.Stray }, env, false},
		"another text":          {func(f *failure, _ *step) { f.Problems[0].Text = "no" }, env, false},
		"in place":              {func(_ *failure, s *step) { s.InPlace = true }, env, false},
		"another primitive":     {func(_ *failure, s *step) { s.Primitive = "Reduce" }, env, false},
		"another op":            {func(_ *failure, s *step) { s.Op = spec.OpMax }, env, false},
		"other values":          {func(_ *failure, s *step) { s.Values.Kind = spectest.Special }, env, false},
		"several times":         {func(_ *failure, s *step) { s.Repeat = 2 }, env, false},
		"another value":         {same, environment{{name: "A", value: "x"}, {name: "C", unset: true}}, false},
		"set empty":             {same, environment{{name: "A", value: "b"}, {name: "C"}}, false},
		"without -env":          {same, nil, false},
		"with another variable": {same, append(env, setting{name: "D"}), false},
		"two calls": {func(f *failure, s *step) {
			f.Case.Steps = append(f.Case.Steps, *s)
		}, env, false},
	} {
		f := reduced(x.change)
		if f.judge(x.env, known); f.Known != x.known || (f.New != nil) != (name == "another op") {
			t.Errorf("%s: known %v, new %v", name, f.Known, f.New)
		}
	}
	more := reduced(func(f *failure, _ *step) { f.Also = append(f.Also, "float32 sum") })
	if more.judge(env, known); more.Known || cmp.Diff(more.New, []string{"float32 sum"}) != "" ||
		!strings.Contains(more.String(), "new with float32 sum") {
		t.Errorf("another type: %+v", more)
	}
	known = append(known, known[0])
	known[1].With = []string{"float32 sum"}
	more.New = nil
	if more.judge(env, known); !more.Known || more.New != nil {
		t.Errorf("two entries: %+v", more)
	}
}

// TestGone: an entry is gone if all that could show it was tried, and did not.
func TestGone(t *testing.T) {
	type (
		run   = conformance
		known = knownFailure
	)
	same := func(*colltest.Failure, *colltest.Step) {}
	entry := reduced(same).entry(nil)
	for name, x := range map[string]struct {
		change func(r *run, p *part, k *known)
		with   string // that is gone
	}{
		"tested":              {func(*run, *part, *known) {}, "int8 sum, int16 sum"},
		"one type is left":    {func(_ *run, p *part, _ *known) { delete(p.cells, "int16 sum") }, "int8 sum"},
		"it fails":            {func(r *run, _ *part, _ *known) { r.Failures = append(r.Failures, reduced(same)) }, ""},
		"interrupted":         {func(_ *run, p *part, _ *known) { p.interrupted = true }, ""},
		"one case":            {func(_ *run, p *part, _ *known) { p.onlyCase = true }, ""},
		"left out":            {func(_ *run, p *part, _ *known) { p.counts.LeftOut = 1 }, ""},
		"another environment": {func(r *run, _ *part, _ *known) { r.Environment = environment{{name: "A"}} }, ""},
		"fewer ranks":         {func(_ *run, _ *part, k *known) { k.Ranks = 9 }, ""},
		"another form":        {func(_ *run, _ *part, k *known) { k.Form = "in-place" }, ""},
		"no soak":             {func(_ *run, _ *part, k *known) { k.Part = colltest.Soak }, ""},
		"slow":                {func(_ *run, p *part, k *known) { p.counts.Unconfirmed, k.Kind = 1, colltest.Hang }, ""},
		"any type":            {func(_ *run, _ *part, k *known) { k.With = []string{"*"} }, "*"},
	} {
		r := newConformance(nil)
		p := r.beginPart("AllReduce")
		for _, typ := range []spec.Type{spec.TypeInt8, spec.TypeInt16} {
			r.tried(p.name, colltest.Case{Size: 3, Steps: []colltest.Step{{Primitive: "AllReduce", Type: typ, Op: spec.OpSum}}},
				nil)
		}
		p.took = time.Second
		k := entry
		x.change(r, p, &k)
		r.Gone = r.gone([]known{k})
		with := ""
		for _, g := range r.Gone {
			with += strings.Join(g.With, ", ")
		}
		if with != x.with {
			t.Errorf("%s: %q is gone, want %q", name, with, x.with)
		}
		all := &conformances{Runs: []*run{r}}
		left := all.baseline([]known{k})
		if isLeft := len(left) > 0; isLeft != (with != strings.Join(k.With, ", ")) && name != "it fails" {
			t.Errorf("%s: %+v is left", name, left)
		}
	}
}

// TestConformBaselineUsage: a file that is not one of known failures is refused.
func TestConformBaselineUsage(t *testing.T) {
	const good = `{"primitive": "AllReduce", "form": "apart", "kind": "value", "with": ["int8 sum"], "values": "ordinary", ` +
		`"ranks": 1, "note": ""}`
	if _, err := decodeBaseline([]byte(`{"known": [` + good + `]}`)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "known.json")
	texts := []string{"", "{", "[]", "{}", `{"known": {}}`, `{"known": []} x`, `{"known": [], "more": 1}`, `{"known": [{}]}`,
		`{"known": [` + good + `], "Known": []}`}
	for _, change := range []string{`"AllReduce"|"Shuffle"`, `"apart"|"askew"`, `"value"|"odd"`, `"int8 sum"|"int9"`,
		`"int8 sum"|"int8"`, `"float32 band"|"float32 band"`, `["int8 sum"]|[]`, `"ordinary"|"plain"`, `1|0`, `"note"|"notes"`,
		`"note"|"part": "half", "note"`, `"note"|"calls": ["Shuffle", "Reduce"], "note"`, `"note"|"calls": ["Reduce"], "note"`,
		`"AllReduce"|"Barrier"`, `"note"|"environment": {"A": "b", "A": "c"}, "note"`, `"note"|"ranks": 1, "note"`} {
		from, to, _ := strings.Cut(change, "|")
		if strings.Contains(good, from) {
			texts = append(texts, `{"known": [`+strings.Replace(good, from, to, 1)+`]}`)
		}
	}
	for _, text := range texts {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if status, out, errs := conform(t, "right", "-baseline", path); status != statusUsage || out != "" ||
			!strings.Contains(errs, "-baseline "+path) {
			t.Errorf("%s: status %d\n%s\n%s", text, status, out, errs)
		}
	}
}

// TestConformDocument: the file of known failures in docs/conform.md is one, and the document names all ops.
func TestConformDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/conform.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "```json\n")
	example, _, _ := strings.Cut(after, "```")
	if known, err := decodeBaseline([]byte(example)); err != nil || len(known) != 1 || len(known[0].With) != 2 {
		t.Errorf("%v, %+v", err, known)
	}
	_, after, _ = strings.Cut(string(text), "Ops are ")
	list, _, _ := strings.Cut(after, ". ")
	ops := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
	for _, op := range spec.Ops() {
		if !slices.Contains(ops, op.String()) {
			t.Errorf("%v is not among %q", op, ops)
		}
	}
}

// FuzzBaseline: a text that is read is the same when it is written and read again.
func FuzzBaseline(f *testing.F) {
	f.Add(`{"known": [{"environment": {"A": "b", "C": null}, "primitive": "Barrier", "form": "apart", "kind": "early", ` +
		`"values": "ordinary", "ranks": 2, "calls": ["Send", "Barrier"], "part": "mixed", "says": "x", "note": "y"}]}`)
	f.Add(`{"known": [{"primitive": "AllReduce", "form": "in-place", "kind": "value", "with": ["*", "int8 sum"], ` +
		`"values": "any-bits", "ranks": 1, "note": ""}]}`)
	f.Add(`{"known": []}`)
	f.Fuzz(func(t *testing.T, text string) {
		known, err := decodeBaseline([]byte(text))
		if err != nil {
			return
		}
		again, err := decodeBaseline(encodeBaseline(known))
		if d := cmp.Diff(known, again); err != nil || d != "" {
			t.Errorf("%v: %s", err, d)
		}
	})
}

// TestForms: what form returns is a form, and other words are not.
func TestForms(t *testing.T) {
	for text, is := range map[string]bool{"apart": true, "in-place uneven displaced split started": true,
		"apart tag batched": true, "apart wrong-root": true, "": false, "uneven": false, "in-place apart": false,
		"apart started uneven": false, "apart apart": false, " apart": false, "apart  uneven": false} {
		if isForm(text) != is {
			t.Errorf("%q is a form: %v, want %v", text, !is, is)
		}
	}
}
