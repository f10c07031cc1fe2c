package main

import (
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/gen/emit/golang"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
)

const fastDir = "../../fast"

// proofParagraph is what a generated comment says of the sizes that were proved, and the limits in the table.
var proofParagraph = regexp.MustCompile(`(?m)^// Proved for sizes (?:.+\n)*?//$|Proved\{Sizes: \d+`)

// TestRegenerate generates all of package fast where nothing is yet, and compares with what is in this repository, all
// but the sizes for which it was proved: here these are few, and make check-generate compares everything.
func TestRegenerate(t *testing.T) {
	t.Parallel()
	s := builtIn(fastDir)
	j, err := generate(t.Context(), s, verify.Options{To: 9}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.dir = t.TempDir()
	changes, err := j.changes()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range changes {
		if x.Change != "write" {
			t.Errorf("%+v", x)
		}
		if err := x.write(); err != nil {
			t.Fatal(err)
		}
	}
	want, err := generatedFiles(fastDir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := generatedFiles(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(withoutProofs(t, want), withoutProofs(t, got)); d != "" {
		t.Errorf("make generate was forgotten: %s", d)
	}
	if len(got) != len(spec.Primitives())+1 { // and their list
		t.Errorf("%d files for %d primitives and their list", len(got), len(spec.Primitives()))
	}
}

func withoutProofs(t *testing.T, files map[string][]byte) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for name, content := range files {
		if name != golang.ListFile && !proofParagraph.Match(content) {
			t.Errorf("%s does not say what was proved", name)
		}
		texts[name] = string(proofParagraph.ReplaceAll(content, nil))
	}
	return texts
}

// TestOpenFast finds the catalogue by the folder that it is generated into.
func TestOpenFast(t *testing.T) {
	s, err := open(t.Context(), fastDir)
	if err != nil {
		t.Fatal(err)
	}
	if !s.isBuiltIn || filepath.Base(s.dir) != "fast" || len(s.algorithms) != len(catalogue.Algorithms()) {
		t.Errorf("%+v", s)
	}
}

// TestFind finds where the algorithms of the catalogue are declared, and places errors.
func TestFind(t *testing.T) {
	s := builtIn("")
	s.find(t.Context())
	for _, a := range s.algorithms {
		if !a.at.variable.IsValid() {
			t.Errorf("%s is nowhere", a.FullName())
		}
	}
	found, err := s.match("send/direct")
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	for _, test := range []struct {
		err  error
		want string
	}{
		{broken, `^\.\./\.\./gen/catalogue/linear\.go:\d+:5: broken$`},
		{&gen.NodeError{Node: 1, Err: broken}, `^\.\./\.\./gen/catalogue/linear\.go:\d+:\d\d: `},
		{&verify.Failure{Node: 0}, `^\.\./\.\./gen/catalogue/linear\.go:\d+:\d\d: `},
		{&verify.Failure{Node: 7}, `^\.\./\.\./gen/catalogue/linear\.go:\d+:5: `},
		{&golang.Error{Node: 1, Err: broken}, `^\.\./\.\./gen/catalogue/linear\.go:\d+:\d\d: `},
	} {
		if got := found[0].locate(test.err).Error(); !regexp.MustCompile(test.want).MatchString(got) {
			t.Errorf("%#v is at %s, want %s", test.err, got, test.want)
		}
	}
}

// TestPassesVerifyAgain puts a pass that breaks something between the passes.
func TestPassesVerifyAgain(t *testing.T) {
	s := builtIn(t.TempDir())
	found, err := s.match("send/direct")
	if err != nil {
		t.Fatal(err)
	}
	s.algorithms = found
	j := &job{source: s, options: verify.Options{To: 4}, progress: nil, files: map[string][]byte{}}
	if err := prove(t.Context(), j); err != nil || !found[0].proved {
		t.Fatal(err)
	}
	if err := j.rewrite(func(a gen.Algorithm) gen.Algorithm { return a }); err != nil || !found[0].proved {
		t.Error("what did not change is to be proved again")
	}
	broken := func(a gen.Algorithm) gen.Algorithm {
		a.Body = a.Body[:1]
		return a
	}
	if err := j.rewrite(broken); err != nil {
		t.Fatal(err)
	}
	var f *verify.Failure
	if err := prove(t.Context(), j); !errors.As(err, &f) || f.Check != verify.Unmatched {
		t.Errorf("a message that nobody receives: %v", err)
	}
}

// TestReadBack puts mistakes into what was printed: what does not compile, or does something else, is refused, with the
// place of the algorithm.
func TestReadBack(t *testing.T) {
	s := builtIn(fastDir)
	found, err := s.match("send/direct")
	if err != nil {
		t.Fatal(err)
	}
	s.algorithms = found
	s.primitives = []spec.Primitive{found[0].Primitive}
	for _, test := range []struct{ right, wrong, want string }{
		{"", "", ""},
		{"x.Send(peer, ", "x.Send(peer+1, ",
			`^\.\./\.\./gen/catalogue/linear\.go:\d+:5: send/direct: the generated code is not the algorithm: it does\n  Send\(sum\(peer, 1\); `},
		{"x.Send(peer, ", "x.Send(uint(peer), ",
			`^the generated code does not compile: zsend\.go:\d+:\d+: cannot use uint\(peer\).+\n  x\.Send`},
		{"PointToPoint: true", "PointToPoint: false", `Send: the table says \{Name:Send .+, want `},
		{"		if err := x.Exchange(ctx); err != nil {\n			return err\n		}\n", "x.Exchange(ctx)\n",
			`send/direct: zsend\.go:\d+:\d+: the call Exchange cannot be read back$`},
	} {
		j := &job{source: s, progress: nil, files: map[string][]byte{}}
		if err := emitGo(t.Context(), j); err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(j.files["zsend.go"]), test.right, test.wrong, 1)
		if test.right != "" && text == string(j.files["zsend.go"]) {
			t.Fatalf("there is no %q in\n%s", test.right, text)
		}
		j.files["zsend.go"] = []byte(text)
		err := readBack(t.Context(), j)
		if test.want == "" && err != nil || test.want != "" &&
			(err == nil || !regexp.MustCompile(test.want).MatchString(err.Error())) {
			t.Errorf("%q for %q: %v, want %s", test.wrong, test.right, err, test.want)
		}
	}
}

// TestSelectionIsChecked before anything is generated: an algorithm that does not serve what its rule is for is
// refused.
func TestSelectionIsChecked(t *testing.T) {
	j := &job{source: builtIn(t.TempDir())}
	if err := checkRules(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	for _, a := range j.algorithms {
		if a.FullName() == "allreduce/ring" {
			a.Requires.Size = spec.Le(spec.Size, spec.Int(4))
		}
	}
	if err := checkRules(t.Context(), j); err == nil || !strings.Contains(err.Error(),
		"the selection table of AllReduce") {
		t.Errorf("a rule for sizes that are not served: %v", err)
	}
}
