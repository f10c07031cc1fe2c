package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/emit/golang"
	"github.com/collgen/collgen/internal/scratch"
)

// askCode asks stage code about each candidate: does the Go code that is generated for the mutant differ from the
// schedules of the original algorithm? All of the code is built into one test of package emittest,
// TestMutatedAlgorithms.
func askCode(ctx context.Context, root string, some []candidate) error {
	b, same := &build{folder: filepath.Join(root, "fast", "internal", "emittest")}, unchanged(some)
	for _, c := range slices.Concat(same, some) {
		code, err := functionOf(c.is)
		if err != nil {
			c.fate.Asked = append(c.fate.Asked, opinion{codeStage, true, "nothing is generated for it: " + ofError(err)})
			continue
		}
		b.mutants = append(b.mutants, generated{c, code})
	}
	for len(b.mutants) > 0 {
		output, err := b.run(ctx)
		switch refused := b.refuse(output); {
		case err == nil:
			return errors.Join(b.judge(output), allUnseen(same))
		case refused == 0:
			return fmt.Errorf("the code of mutated algorithms: %w\n%s", err, output)
		}
	}
	return nil
}

// unchanged returns the original algorithms as candidates.
func unchanged(some []candidate) (all []candidate) {
	for _, c := range some {
		if !slices.ContainsFunc(all, func(d candidate) bool { return d.of.FullName() == c.of.FullName() }) {
			all = append(all, candidate{c.of, c.of, &fate{Mutant: c.of.FullName()}})
		}
	}
	return all
}

// allUnseen returns an error if the stage finds a mistake in an original algorithm.
func allUnseen(same []candidate) error {
	for _, c := range same {
		if len(c.fate.Asked) != 1 || c.fate.Asked[0].Killed {
			return fmt.Errorf("stage %s kills %s with nothing changed: %v", codeStage, c.of.FullName(), c.fate.Asked)
		}
	}
	return nil
}

// generated is a mutated algorithm and its function.
type generated struct {
	candidate
	code []byte
}

// functionOf returns the function that is generated for an algorithm, from its parameter list on.
func functionOf(a *gen.Algorithm) ([]byte, error) {
	text, err := golang.File(golang.Package{Path: golang.Runtime, Name: "fast", Command: "mutate"},
		golang.Collective{Primitive: a.Primitive, Algorithms: []golang.Proved{{Algorithm: emitted(*a)}}})
	if err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", text, 0)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		code := text[files.Position(fn.Name.End()).Offset:files.Position(fn.End()).Offset]
		if bytes.HasPrefix(code, []byte("(ctx context.Context, x *exec.Call) error {")) {
			return code, nil
		}
	}
	return nil, errors.New("it has no function")
}

// build is a test of package emittest with generated functions in it.
type build struct {
	folder  string // of the package
	mutants []generated
}

// functionsFile is the file that is added to package emittest with the functions.
const functionsFile = "zmutants.go"

// text returns the file with the functions, and the test file that lists them.
func (b *build) text() (functions, table string) {
	var code, list strings.Builder
	code.WriteString("package emittest\n\nimport (\n\t\"context\"\n\t\"math/bits\"\n\n\t\"" + golang.ExecutorPath +
		"\"\n)\n\nvar _ = bits.Len\n")
	list.WriteString("package emittest\n\nfunc init() {\n\tmutatedAlgorithms = []mutatedAlgorithm{\n")
	for i, m := range b.mutants {
		fmt.Fprintf(&code, "\nfunc mutant%d%s\n", i, m.code)
		fmt.Fprintf(&list, "\t\t{%q, mutant%d},\n", m.of.FullName(), i)
	}
	return code.String(), list.String() + "\t}\n}\n"
}

// run builds and runs the test.
func (b *build) run(ctx context.Context) (output string, err error) {
	dir, remove, err := scratch.Dir("mutate")
	if err != nil {
		return "", err
	}
	defer remove()
	functions, table := b.text()
	replace := map[string]string{}
	for name, text := range map[string]string{functionsFile: functions, "zmutants_test.go": table} {
		replace[filepath.Join(b.folder, name)] = filepath.Join(dir, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	overlay, err := writeOverlay(dir, replace)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-overlay="+overlay, "-vet=off", "-count=1", "-v", "-gcflags=-e",
		"-run=^TestMutatedAlgorithms$", ".")
	cmd.Dir = b.folder
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// refused matches an error of the compiler about a function.
var refused = regexp.MustCompile(`(?m)` + regexp.QuoteMeta(functionsFile) + `:(\d+):\d+: (.+)$`)

// refuse removes the mutants that do not compile, which counts as killed, and returns their number.
func (b *build) refuse(output string) int {
	why := map[int]string{}
	functions, _ := b.text()
	lines := strings.Split(functions, "\n")
	for _, m := range refused.FindAllStringSubmatch(output, -1) {
		line, _ := strconv.Atoi(m[1])
		for ; line > 0 && line <= len(lines); line-- {
			if name, ok := strings.CutPrefix(lines[line-1], "func mutant"); ok {
				i, _ := strconv.Atoi(name[:strings.Index(name, "(")])
				why[i] = m[2]
				break
			}
		}
	}
	var others []generated
	for i, m := range b.mutants {
		if words, ok := why[i]; ok {
			m.fate.Asked = append(m.fate.Asked, opinion{codeStage, true, "the compiler refuses it: " + oneLine(words,
				wordsLength)})
		} else {
			others = append(others, m)
		}
	}
	b.mutants = others
	return len(why)
}

// judged matches the line that the test prints for a mutant.
var judged = regexp.MustCompile(`(?m)^mutant (\d+): (.*)$`)

// judge records the results of the test.
func (b *build) judge(output string) error {
	all := judged.FindAllStringSubmatch(output, -1)
	if len(all) != len(b.mutants) {
		return fmt.Errorf("the test of mutated algorithms has judged %d of %d:\n%s", len(all), len(b.mutants), output)
	}
	for i, m := range all {
		if m[1] != strconv.Itoa(i) {
			return fmt.Errorf("the test of mutated algorithms leaves %d out", i)
		}
		b.mutants[i].fate.Asked = append(b.mutants[i].fate.Asked, opinion{codeStage, m[2] != "", oneLine(m[2], wordsLength)})
	}
	return nil
}
