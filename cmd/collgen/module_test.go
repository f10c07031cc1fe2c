package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/collgen/collgen/verify"
)

// The tests of this file have packages of their own, in modules outside of this repository.

const example = "../../examples/neighbours"

// module makes a module that uses collgen as it is here.
func module(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	mod := strings.Replace(read(t, filepath.Join(example, "go.mod")), "=> ../..", "=> "+root, 1)
	write(t, filepath.Join(dir, "go.mod"), strings.Replace(mod, "example.org/neighbours", "example.org/theirs", 1))
	write(t, filepath.Join(dir, "go.sum"), read(t, filepath.Join(example, "go.sum")))
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// ownFiles returns the files of the example that are not generated.
func ownFiles(t *testing.T) map[string]string {
	files := map[string]string{}
	for _, name := range []string{"exchange.go", "main.go", "main_test.go", recordName} {
		files[name] = read(t, filepath.Join(example, name))
	}
	return files
}

// goCommand runs the go command in dir, which needs no network.
func goCommand(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// generatedIn returns the names of the generated files in dir.
func generatedIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := generatedFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(files))
}

// TestTheirModule does what the owner of a module does: go generate, go vet, go test, go run.
func TestTheirModule(t *testing.T) {
	t.Parallel()
	dir := module(t, ownFiles(t))
	goCommand(t, dir, "generate", "./...")
	if got, want := read(t, filepath.Join(dir, "zneighbours.go")),
		read(t, filepath.Join(example, "zneighbours.go")); got != want {
		t.Errorf("what is generated is not what is in %s:\n%s", example, got)
	}
	goCommand(t, dir, "vet", "./...")
	goCommand(t, dir, "test", "./...")
	if out := goCommand(t, dir, "run", "."); strings.Count(out, "rank ") != 4 {
		t.Errorf("the program says:\n%s", out)
	}
	goCommand(t, dir, "tool", "collgen", "check")
}

// TestSeededBug exchanges the two receives. That is refused with the place in the source and a counterexample, and
// nothing is written.
func TestSeededBug(t *testing.T) {
	t.Parallel()
	files := ownFiles(t)
	text := files["exchange.go"]
	text = strings.Replace(text, `w.Recv("prev", "out[0]")`, `w.Recv("prev", "out[1]")`, 1)
	text = strings.Replace(text, `w.Recv("next", "out[1]")`, `w.Recv("next", "out[0]")`, 1)
	if text == files["exchange.go"] {
		t.Fatal("the example is not what this test thinks it is")
	}
	files["exchange.go"] = text
	dir := module(t, files)
	for _, command := range []string{"gen", "check"} {
		status, stdout, stderr := collgen(t, command, dir)
		if status != statusFailed || stdout != "" {
			t.Errorf("collgen %s: status %d, %s", command, status, stdout)
		}
		// The receives are in the lines from which to which the messages are written.
		line := 1 + strings.Count(text[:strings.Index(text, "w.Recv")], "\n")
		place := regexp.MustCompile(
			`exchange\.go:(\d+):5: neighbours/ring fails the check "postcondition"`).FindStringSubmatch(stderr)
		if place == nil || place[1] != strconv.Itoa(line) && place[1] != strconv.Itoa(line+1) {
			t.Errorf("want line %d or the next in the error:\n%s", line, stderr)
		}
		for _, want := range []string{"size 3", "expected", "got", "rank 0"} {
			if !strings.Contains(stderr, want) {
				t.Errorf("want %q in the counterexample:\n%s", want, stderr)
			}
		}
	}
	if got := generatedIn(t, dir); got != nil {
		t.Errorf("written: %q", got)
	}
	status, stdout, _ := collgen(t, "verify", "-package", dir, "-json")
	var failure struct {
		Error   string
		Failure verify.Failure
	}
	if err := json.Unmarshal([]byte(stdout), &failure); err != nil || status != statusFailed ||
		failure.Failure.Params.Size != 3 {
		t.Errorf("verify -json: status %d, %v\n%s", status, err, stdout)
	}
	checkDrawn(t, dir)
	checkViewed(t, dir)
}

// checkViewed: view shows the first call that fails.
func checkViewed(t *testing.T, dir string) {
	d := viewed(t, "-package", dir, "-counterexample", "-ranks", "5", "neighbours/ring")
	if d.Failure == nil || d.Size != 3 || len(d.Wrong) == 0 {
		t.Errorf("view shows %d ranks, of which %v is wrong, %+v", d.Size, d.Wrong, d.Failure)
	}
}

// checkDrawn: verify writes the picture of a counterexample where it is told to, and says that it can.
func checkDrawn(t *testing.T, dir string) {
	if _, _, stderr := collgen(t, "verify", "-package", dir); !strings.Contains(stderr, "-svg FILE") {
		t.Errorf("no word of pictures in:\n%s", stderr)
	}
	file := filepath.Join(t.TempDir(), "wrong.svg")
	status, _, stderr := collgen(t, "verify", "-package", dir, "-svg", file)
	if svg := read(t, file); status != statusFailed || !strings.HasPrefix(svg, "<svg ") ||
		!strings.Contains(stderr, file) {
		t.Errorf("verify -svg: status %d\n%s", status, stderr)
	}
	if status, _, stderr := collgen(t, "verify", "-package", dir, "-svg", t.TempDir()); status != statusFailed ||
		!strings.Contains(stderr, "is a directory") {
		t.Errorf("verify -svg of a directory: status %d\n%s", status, stderr)
	}
}

// small returns an algorithm for a primitive, in a package of the name given.
func small(pkg, declarations string) string {
	return "package " + pkg + `

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

` + declarations
}

// shift is a primitive and an algorithm that gives every rank the block of the next one. Its lines are counted below.
const shift = `
var same = spec.Primitive{
	Name: "Same", Doc: "Same shifts.", In: spec.Buffer{Blocks: spec.Int(1)}, Out: spec.Buffer{Blocks: spec.Int(1)},
	Pre:  []spec.Clause{{Buf: spec.In, Value: spec.Value{Kind: spec.Input, Rank: spec.Rank, Block: spec.Block}}},
	Post: []spec.Clause{{Buf: spec.Out, Value: spec.Value{Kind: spec.Input, Rank: next, Block: spec.Int(0)}}},
}

var copying = gen.Algorithm{
	Name: "copy", Primitive: same, Doc: "It copies.", Source: "new",
	Body: []gen.Node{gen.Let{Name: "to", Is: prev}, gen.Let{Name: "from", Is: next}, gen.If{Cond: spec.Eq(spec.Size, spec.Int(1)), Then: []gen.Node{gen.Step{gen.Copy{Into: gen.Chunk(spec.Out, spec.Int(0)), From: gen.Chunk(spec.In, spec.Int(0))}}}, Else: []gen.Node{gen.Step{gen.Send{To: spec.Var("to"), Data: gen.Chunk(spec.In, spec.Int(0))}, gen.Recv{From: spec.Var("from"), Into: gen.Chunk(spec.Out, spec.Int(0))}}}}},
	Cost: gen.Cost{Alpha: spec.Int(1), Beta: spec.Int(1), Gamma: spec.Int(0)},
}

var next, prev = spec.Up(spec.Add(spec.Rank, spec.Int(1)), spec.Size), spec.Down(spec.Sub(spec.Rank, spec.Int(1)), spec.Size)
`

// TestPackages has packages whose declarations are not easy to find, or to evaluate alone.
func TestPackages(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  []string // generated files
	}{
		"declarations beside calls of what is not generated": {map[string]string{
			"a.go": strings.Replace(small("theirs", shift)+`
func init() { _ = Same[int8] }

func use(ctx context.Context, c *fast.Comm) error { return Same(ctx, c, []int8{0}, []int8{0}) }

var _ = use(nil, nil)
`, "import (", "import (\n\t\"context\"\n\t\"github.com/collgen/collgen/fast\"\n", 1)}, []string{"zsame.go"}},
		"a command": {map[string]string{
			"a.go": small("main", shift), "main.go": "package main\n\nfunc main() { println(Same[int8] " +
				"== nil) }\n"}, []string{"zsame.go"}},
		"helpers in other files": {map[string]string{
			"a.go": small("theirs", strings.Replace(strings.Replace(shift, `"copy"`, "name()", 1), "spec.Int(1)}, Out",
				"blocks}, Out", 1)),
			"b.go": `package theirs

import (
	. "strings"
	str "github.com/collgen/collgen/spec"
)

const (
	_ = iota
	one
)

type namer struct{}

// word has a method that nobody calls by its name.
func (namer) String() string { return "copy" }

func name() string { return ToLower((namer{}).String()) }

var (
	other  = Same[int8]
	blocks = str.Int(one)
)
`}, []string{"zsame.go"}},
		"an algorithm for a primitive that is not theirs": {map[string]string{
			"a.go": small("theirs", `
var mine = gen.Algorithm{
	Name: "mine", Primitive: spec.Barrier, Doc: "It waits.", Source: "new", Requires: gen.Requires{Size: spec.Le(spec.Size, spec.Int(2))},
	Body: []gen.Node{gen.If{Cond: spec.Eq(spec.Size, spec.Int(2)), Then: []gen.Node{
		gen.Let{Name: "other", Is: spec.Sub(spec.Int(1), spec.Rank)},
		gen.Step{gen.Send{To: spec.Var("other")}, gen.Recv{From: spec.Var("other")}}}}},
	Cost: gen.Cost{Alpha: spec.Int(1), Beta: spec.Int(0), Gamma: spec.Int(0)},
}
`)}, []string{"zbarrier.go"}},
		"a stale file, and a broken one": {map[string]string{
			"a.go": small("theirs", shift), "zold.go": generatedMark + "\npackage theirs\n\nfunc Old() { gone() }\n",
			"zsame.go": generatedMark + "\npackage theirs\n\nfunc Same( {\n"}, []string{"zsame.go"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := module(t, test.files)
			status, stdout, stderr := collgen(t, "gen", dir)
			if got := generatedIn(t, dir); status != 0 || !slices.Equal(got, test.want) {
				t.Fatalf("status %d, generated %q, want %q\n%s%s", status, got, test.want, stdout, stderr)
			}
			if status, stdout, stderr := collgen(t, "check", dir); status != 0 || stdout != "" {
				t.Errorf("check: status %d\n%s%s", status, stdout, stderr)
			}
			if strings.Contains(test.files["a.go"], "Same") {
				goCommand(t, dir, "build", "-o", filepath.Join(dir, "bin"), ".")
			}
		})
	}
}

// TestRefused has packages that are refused. Each error says where, and nothing is written.
func TestRefused(t *testing.T) {
	const receive = `w.Recv("prev", "out[0]")`
	for name, test := range map[string]struct {
		files map[string]string
		want  string // a pattern
	}{
		"nothing declared": {map[string]string{"a.go": "package theirs\n"}, `package theirs declares no variable`},
		"a syntax error": {map[string]string{"a.go": small("theirs", shift), "b.go": "package theirs\n\nfunc {\n"},
			`b\.go:3:6: `},
		"a declaration that calls what is not generated": {map[string]string{
			"a.go": small("theirs", strings.Replace(shift, `Doc: "It copies."`, "Doc: missing()",
				1))}, `do not compile:\n(.*\n)*.*/a\.go:16:38: undefined: missing`},
		"a declaration that panics": {map[string]string{
			"a.go": small("theirs", strings.Replace(shift, `Doc: "It copies."`, "Doc: []string{}[zero]",
				1)+"\nvar zero = len(``)\n")},
			`have no values:\n(.*\n)*.*index out of range(.*\n)*.*a\.go:16`},
		"a missing node": {map[string]string{
			"a.go": small("theirs", strings.Replace(shift, "gen.Step{gen.Copy", "nil, gen.Step{gen.Copy",
				1))}, `have no values:\n.*copying: a node is nil`},
		"two algorithms of one name": {map[string]string{
			"a.go": small("theirs", shift),
			"b.go": "package theirs\n\nvar another = copying\n"}, `[ab]\.go:\d+:5: there are two algorithms same/copy`},
		"two primitives of one name": {map[string]string{
			"a.go": small("theirs", shift+strings.NewReplacer("same", "same2", "copying", "copying2", `"copy"`, `"copy2"`,
				"spec.Rank,", "spec.Root,").Replace(shift))},
			`a\.go:\d+:5: same/copy2?: there are two primitives Same`},
		"a primitive without an algorithm": {map[string]string{
			"a.go": small("theirs", shift+"\nvar lonely = spec.Primitive{Name: "+
				"`Lonely`}\n")}, `a\.go:23:5: lonely: no algorithm`},
		"a name that is needed": {map[string]string{
			"a.go": small("theirs", shift),
			"b.go": "package theirs\n\nfunc Same() {}\n"}, `a\.go:15:5: same/copy: .* the name Same, .*b\.go:3:6`},
		"an invalid primitive": {map[string]string{
			"a.go": small("theirs", strings.Replace(shift, `Doc: "Same shifts.", `, "", 1))}, `a\.go:9:5: Same: Doc is empty`},
		"a primitive without a function": {map[string]string{
			"a.go": small("theirs", strings.Replace(shift, "Out: spec.Buffer{Blocks: spec.Int(1)}",
				"Out: spec.Buffer{Blocks: spec.Down(spec.Int(1), spec.Size)}", 1))},
			`a\.go:15:5: Same: the conditional`},
		"a cost that is too low": {map[string]string{
			"a.go": small("theirs", strings.Replace(shift, "Gamma: spec.Int(0)}", "Gamma: spec.Sub(spec.Size, spec.Int(1))}",
				1))},
			`a\.go:18:8: same/copy declares a cost that is not that of 2 ranks: Gamma is 1 there, measured 0`},
		"a cost from elsewhere": {map[string]string{
			"a.go": small("theirs", strings.Replace(shift, "Cost: gen.Cost{Alpha: spec.Int(1), Beta: spec.Int(1), Gamma: "+
				"spec.Int(0)}", "Cost: dear", 1)+
				"\nvar dear = gen.Cost{Beta: spec.Int(2)}\n")},
			`a\.go:15:5: same/copy declares a cost that is not that of 2 ranks: Beta is 2 there, measured 1`},
		"an invalid action": {map[string]string{
			"a.go": small("theirs", strings.Replace(shift, "From: gen.Chunk(spec.In, spec.Int(0))",
				"From: gen.Chunk(`nowhere`, spec.Int(0))", 1))},
			`a\.go:17:\d+: same/copy, action 0: .*nowhere`},
		"names that have a meaning": {map[string]string{
			"a.go": small("theirs", strings.Replace(shift, "gen.Step{gen.Copy",
				"named(`x`), named(`string`), named(`len`), gen.Step{gen.Copy", 1)+
				"\nfunc named(name string) gen.Node { return gen.For{Var: name, N: spec.Size, Body: []gen.Node{gen.Step{gen.Copy{"+
				"Into: gen.Chunk(spec.Out, spec.Int(0)), From: gen.Chunk(spec.In, spec.Int(0))}}}} }\n")},
			`a\.go:15:5: same/copy: .* the name "x" itself.*\n.*the name "string" is predeclared(.*\n)*.*the name "len" is`},
		"names that are needed": {map[string]string{
			"a.go": small("theirs", shift), "b.go": "package theirs\n\nfunc Same() {}\nfunc StartSame() {}\n"},
			`a\.go:15:5: same/copy: .* the name Same, .*b\.go:3:6\n.* the name StartSame, .*b\.go:4:6`},
		"a number that is a truth value": {map[string]string{
			"a.go": small("theirs", strings.Replace(shift, "gen.Chunk(spec.In, spec.Int(0))",
				"gen.Chunk(spec.In, spec.Lt(spec.Rank, spec.Int(0)))", 1))},
			`a\.go:17:\d+: same/copy: .* truth value`},
		"room in channels that no transport promises": {map[string]string{"exchange.go": strings.Replace(read(t,
			filepath.Join(example, "exchange.go")),
			receive, "), w.Step(\n"+receive, 1)},
			`exchange\.go:\d+:\d+: neighbours/ring fails the check "room": .*, which no transport promises\n(.*\n)*.*recv .* from 1\n +waits for rank 0, step 0: send in.0. to 1`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := module(t, test.files)
			if _, _, stderr := collgen(t, "verify", "-n", "1..2", "-package", dir); isOfVerify(name) &&
				!regexp.MustCompile(test.want).MatchString(stderr) {
				t.Errorf("verify: want %s in\n%s", test.want, stderr)
			}
			status, stdout, stderr := collgen(t, "gen", dir)
			if status != statusFailed || stdout != "" || !regexp.MustCompile(test.want).MatchString(stderr) {
				t.Errorf("status %d, want %s in\n%s%s", status, test.want, stdout, stderr)
			}
			if got := generatedIn(t, dir); got != nil {
				t.Errorf("written: %q", got)
			}
		})
	}
}

// isOfVerify reports whether verify has to refuse what TestRefused has under that name, and not gen alone.
func isOfVerify(name string) bool {
	return slices.Contains([]string{"names that have a meaning", "names that are needed",
		"a number that is a truth value"}, name)
}

// TestLibrary has a package that is no command, with tests in it and outside of it: they do not keep gen and check from
// reading its declarations, before there is generated code and after, and they run.
func TestLibrary(t *testing.T) {
	t.Parallel()
	const test = `

import (
	"context"
	"testing"

	"github.com/collgen/collgen/fast"%s
)

func %s(t *testing.T) {
	err := fast.Run(t.Context(), 2, func(ctx context.Context, c *fast.Comm) error {
		dst := []int8{0}
		err := %sSame(ctx, c, dst, []int8{7})
		if dst[0] != 7 {
			t.Error(dst)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
`
	dir := module(t, map[string]string{
		"a.go":        small("theirs", shift),
		"a_test.go":   "package theirs" + fmt.Sprintf(test, "", "TestInside", ""),
		"out_test.go": "package theirs_test" + fmt.Sprintf(test, "\n\n\t\"example.org/theirs\"", "TestOutside", "theirs."),
	})
	for range 2 {
		if status, stdout, stderr := collgen(t, "gen", dir); status != 0 {
			t.Fatalf("status %d\n%s%s", status, stdout, stderr)
		}
	}
	if status, stdout, stderr := collgen(t, "check", dir); status != 0 || stdout != "" {
		t.Errorf("check: status %d\n%s%s", status, stdout, stderr)
	}
	if out := goCommand(t, dir, "test", "-v", "."); !strings.Contains(out, "PASS: TestInside") ||
		!strings.Contains(out, "PASS: TestOutside") {
		t.Errorf("go test:\n%s", out)
	}
}

// TestInTheWay does not write over a file of someone else.
func TestInTheWay(t *testing.T) {
	t.Parallel()
	dir := module(t, map[string]string{"a.go": small("theirs", shift), "zsame.go": "package theirs\n"})
	status, _, stderr := collgen(t, "gen", dir)
	if status != statusFailed || !strings.Contains(stderr, "zsame.go is in the way") {
		t.Errorf("status %d\n%s", status, stderr)
	}
	if read(t, filepath.Join(dir, "zsame.go")) != "package theirs\n" {
		t.Error("the file is not what it was")
	}
}

// TestCheck finds what is edited, missing and stale, and gen mends it.
func TestCheck(t *testing.T) {
	t.Parallel()
	dir := module(t, map[string]string{"a.go": small("theirs", shift)})
	file, stale := filepath.Join(dir, "zsame.go"), filepath.Join(dir, "zstale.go")
	expect := func(change string, wantStatus int, wantDiff, wantWords string) {
		t.Helper()
		status, stdout, stderr := collgen(t, "check", dir)
		if status != wantStatus || !strings.Contains(stdout, wantDiff) || (status == 0) != (stdout+stderr == "") {
			t.Errorf("%s: status %d, want %q in\n%s%s", change, status, wantDiff, stdout, stderr)
		}
		if !strings.HasSuffix(stderr, wantWords) {
			t.Errorf("%s: want %q at the end of\n%s", change, wantWords, stderr)
		}
	}
	expect("nothing there", statusFailed, "--- /dev/null\n", "zsame.go is missing\n")
	var changes []change
	decode(t, &changes, "gen", "-json", dir)
	if len(changes) != 1 || changes[0].File != "zsame.go" || changes[0].Change != "write" {
		t.Errorf("gen: %+v", changes)
	}
	good := read(t, file)
	write(t, file, strings.Replace(good, "return nil", "return ctx.Err()", 1))
	write(t, stale, generatedMark+"\npackage theirs\n")
	expect("edited, and a stale one", statusFailed, "zstale.go\n+++ /dev/null\n",
		"zsame.go differs\n  "+relativeName(stale)+" is not generated any more\n")
	_, stdout, _ := collgen(t, "check", "-json", dir)
	if err := json.Unmarshal([]byte(stdout), &changes); err != nil || len(changes) != 2 ||
		!strings.Contains(changes[0].Diff, "\n-\treturn ctx.Err()\n+\treturn nil\n") {
		t.Errorf("check -json: %v\n%s", err, stdout)
	}
	if status, stdout, stderr := collgen(t, "gen", dir); status != 0 || strings.Count(stdout, "\n") != 2 {
		t.Errorf("gen: status %d\n%s%s", status, stdout, stderr)
	}
	if read(t, file) != good || isThere(stale) {
		t.Error("gen has not mended what was wrong")
	}
	expect("mended", 0, "", "")
}

// TestNearTemp has a module so near the folder for temporary files that the go command writes relative names for the
// files that the driver is made of.
func TestNearTemp(t *testing.T) {
	for name, temp := range map[string]string{"a sibling": "..", "inside": "temp"} {
		t.Run(name, func(t *testing.T) {
			dir := module(t, map[string]string{"a.go": small("theirs", strings.Replace(shift, `Source: "new"`, `Sauce: "new"`,
				1))})
			temp := filepath.Join(dir, temp)
			if err := os.MkdirAll(temp, 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("TMPDIR", temp)
			status, _, stderr := collgen(t, "gen", dir)
			if status != statusFailed || !strings.Contains(stderr, "\n"+relativeName(filepath.Join(dir, "a.go"))+":16:") {
				t.Errorf("status %d, want the place in a.go:\n%s", status, stderr)
			}
		})
	}
}
