package fast

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
)

// Mutants of the generated functions: in copies of their files every term, comparison, statement and mark is one that can be
// switched to a wrong one, in a single build, and the comparison with the schedules has to see each of them.

// mutants is what the copies add: they set it. Where they are not it is nil.
var mutants *struct {
	sites []string       // what and where: "zreduce.go:120 reduceChain: …"
	plant func(site int) // switches one to be wrong; -1: none
}

// mutator makes a copy of a file.
type mutator struct {
	files *token.FileSet
	lines []string // of the file
	name  string   // of the function
	sites []string
}

// site notes one more mutant, and is its number as an expression.
func (m *mutator) site(at token.Pos, what string) ast.Expr {
	p := m.files.Position(at)
	m.sites = append(m.sites, fmt.Sprintf("%s:%d %s: %s: %s", filepath.Base(p.Filename), p.Line, m.name, what, strings.TrimSpace(m.lines[p.Line-1])))
	return number(len(m.sites) - 1)
}

func number(n int) ast.Expr { return &ast.BasicLit{Kind: token.INT, Value: fmt.Sprint(n)} }

// either is the call that chooses between right and wrong.
func (m *mutator) either(at token.Pos, what string, right, wrong ast.Expr) ast.Expr {
	return &ast.CallExpr{Fun: ast.NewIdent("plant"), Args: []ast.Expr{m.site(at, what), right, wrong}}
}

// wrongOperator is what stands in an operator's place.
var wrongOperator = map[token.Token]token.Token{token.ADD: token.SUB, token.SUB: token.ADD, token.LSS: token.LEQ, token.LEQ: token.LSS,
	token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL}

// expr is e with mutants.
func (m *mutator) expr(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.BasicLit:
		return m.either(e.Pos(), e.Value+" is one more", e, &ast.BinaryExpr{X: e, Op: token.ADD, Y: number(1)})
	case *ast.Ident:
		switch e.Name {
		case "true", "false":
			return m.either(e.Pos(), e.Name+" is not", e, &ast.UnaryExpr{Op: token.NOT, X: e})
		case "next", "prev", "root", "rank", "size", "peer":
			return m.either(e.Pos(), e.Name+" is one more", e, &ast.BinaryExpr{X: e, Op: token.ADD, Y: number(1)})
		}
		return e
	case *ast.ParenExpr:
		return &ast.ParenExpr{X: m.expr(e.X)}
	case *ast.BinaryExpr:
		x, y := m.expr(e.X), m.expr(e.Y)
		right := &ast.BinaryExpr{X: x, Op: e.Op, Y: y}
		wrong, ok := wrongOperator[e.Op]
		if !ok {
			return right
		}
		return m.either(e.Pos(), fmt.Sprintf("%v is %v", e.Op, wrong), right, &ast.BinaryExpr{X: x, Op: wrong, Y: y})
	case *ast.CallExpr:
		c := &ast.CallExpr{Fun: e.Fun}
		if s, ok := e.Fun.(*ast.SelectorExpr); ok { // x.Out.Chunk
			c.Fun = &ast.SelectorExpr{X: m.buffer(s.X), Sel: s.Sel}
		}
		for _, a := range e.Args {
			c.Args = append(c.Args, m.expr(a))
		}
		return c
	case *ast.UnaryExpr:
		if b, ok := m.buffer(e.X).(*ast.CallExpr); ok && e.Op == token.AND {
			return b
		}
		return e
	}
	return e
}

// buffer is x.In and x.Out with mutants, as pointers, and what else e is.
func (m *mutator) buffer(e ast.Expr) ast.Expr {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return e
	}
	other := map[string]string{"In": "Out", "Out": "In"}[s.Sel.Name]
	if other == "" {
		return e
	}
	of := func(name string) ast.Expr {
		return &ast.UnaryExpr{Op: token.AND, X: &ast.SelectorExpr{X: s.X, Sel: ast.NewIdent(name)}}
	}
	return m.either(e.Pos(), s.Sel.Name+" is "+other, of(s.Sel.Name), of(other))
}

// block has mutants in all statements of b.
func (m *mutator) block(b *ast.BlockStmt) {
	for i, s := range b.List {
		b.List[i] = m.stmt(s)
	}
}

// unless leaves a statement out.
func (m *mutator) unless(s ast.Stmt, what string) ast.Stmt {
	left := &ast.CallExpr{Fun: ast.NewIdent("plant"), Args: []ast.Expr{m.site(s.Pos(), what+" is left out"), ast.NewIdent("true"), ast.NewIdent("false")}}
	return &ast.IfStmt{Cond: left, Body: &ast.BlockStmt{List: []ast.Stmt{s}}}
}

// stmt is s with mutants. Messages and what is done with them may be left out.
func (m *mutator) stmt(s ast.Stmt) ast.Stmt {
	switch s := s.(type) {
	case *ast.ExprStmt:
		s.X = m.expr(s.X)
		return m.unless(s, "a call")
	case *ast.AssignStmt:
		for i := range s.Rhs {
			s.Rhs[i] = m.expr(s.Rhs[i])
		}
	case *ast.RangeStmt:
		s.X = m.expr(s.X)
		m.block(s.Body)
	case *ast.BlockStmt:
		m.block(s)
	case *ast.IfStmt:
		if s.Init != nil { // an Exchange: without it, its step is one with the next
			if strings.Contains(m.text(s), "x.Exchange") {
				return m.unless(s, "an Exchange")
			}
			return s
		}
		s.Cond = m.expr(s.Cond)
		m.block(s.Body)
		if s.Else != nil {
			s.Else = m.stmt(s.Else)
		}
	}
	return s
}

func (m *mutator) text(n ast.Node) string {
	var b bytes.Buffer
	_ = format.Node(&b, m.files, n)
	return b.String()
}

// mutate is a file with mutants in the functions that are generated for algorithms.
func (m *mutator) mutate(path string) (string, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	m.lines = strings.Split(string(source), "\n")
	f, err := parser.ParseFile(m.files, path, source, 0)
	if err != nil {
		return "", err
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Type.TypeParams != nil || !strings.Contains(m.text(fn.Type), "x *Call") {
			continue
		}
		m.name = fn.Name.Name
		m.block(fn.Body)
	}
	return m.text(f), nil
}

// TestMutatedCodeIsNotTheSchedule builds the mutants, and runs TestMutants on them.
func TestMutatedCodeIsNotTheSchedule(t *testing.T) {
	if os.Getenv(emittedVar) != "all" {
		t.Skipf("it builds the package again: only with %s=all", emittedVar)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir, overlay, m := t.TempDir(), map[string]string{}, &mutator{files: token.NewFileSet()}
	put := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay[filepath.Join(here, name)] = path
	}
	paths, err := filepath.Glob("z*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := m.mutate(path)
		if err != nil {
			t.Fatal(err)
		}
		put(path, text)
	}
	put("zplant.go", "package fast\n\nvar planted = -1\n\nfunc plant[T any](site int, right, wrong T) T {\n\tif site == planted {\n\t\treturn wrong\n\t}\n\treturn right\n}\n")
	put("zplant_test.go", fmt.Sprintf("package fast\n\nfunc init() {\n\tmutants = &struct {\n\t\tsites []string\n\t\tplant func(site int)\n\t}{%#v, func(site int) { planted = site }}\n}\n", m.sites))
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	put("overlay.json", string(list))
	out, err := exec.Command("go", "test", "-overlay", filepath.Join(dir, "overlay.json"), "-vet=off", "-count=1", "-v", "-run", "^TestMutants$", ".").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "mutants are seen") {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// TestMutants runs on mutated copies alone: see above.
func TestMutants(t *testing.T) {
	if mutants == nil {
		t.Skip("TestMutatedCodeIsNotTheSchedule runs it on mutated copies")
	}
	algorithms, used := map[string]gen.Algorithm{}, map[string]bool{}
	for _, a := range gen.Catalogue() {
		algorithms[functionName(&a)] = a
	}
	seen := 0
	for site, words := range mutants.sites {
		_, rest, _ := strings.Cut(words, " ")
		name, _, _ := strings.Cut(rest, ":")
		a, ok := algorithms[name]
		if !ok {
			t.Fatalf("no algorithm has the function %s", name)
		}
		mutants.plant(site)
		switch {
		case firstFault(t, generated(t, &a)) != "":
			seen++
		case !excuses(words, used):
			t.Errorf("not seen: %s", words)
		}
	}
	for _, name := range needless(used) {
		t.Errorf("it excuses nothing: %s", name)
	}
	t.Logf("%d of %d mutants are seen, and the others do what the code does", seen, len(mutants.sites))
}

// equivalent is mutants that do what the code does: functions and what is wrong in them, in lines that contain one text, and why.
// Each of the functions has each of them.
type equivalent struct {
	functions, what []string
	line, why       string
}

var equivalents = []equivalent{
	{of("allReduceTree broadcastBinomial broadcastScatterAllgather gatherBinomial reduceBinomial scatterBinomial"), []string{"size is one more"},
		"levels := bits.Len(uint(size - 1))", "a level more has no ranks on its other side"},
	{of("allReduceTree broadcastScatterAllgather"), []string{"- is +"}, "levels := bits.Len(uint(size - 1))", "the same"},
	{of("allReduceTree broadcastBinomial gatherBinomial reduceBinomial scatterBinomial"), []string{"< is <="}, "top != other && half < other",
		"half and other differ in a bit"},
	{of("allReduceRecursiveDoubling allReduceTree reduceBinomial"), []string{"rank is one more", "< is <="}, "partner < rank)",
		"a rank is not its own partner"},
	{of("allGatherRecursiveDoubling allReduceRecursiveDoubling"), []string{"rank is one more"}, "player = rank >> 1", "rank is even there"},
	{of("allReduceTree"), []string{"size is one more", "- is +"}, "pad := full - size", "it is set to 0 below: the root is rank 0"},
	{of("allReduceTree"), []string{"+ is -"}, "half := (rank + pad) >> j", "pad is 0 where the root is rank 0"},
	{of("allReduceTree"), []string{"- is +"}, "<<j-pad", "pad is 0 where the root is rank 0"},
	{of("allReduceTree"), []string{"0 is one more"}, "lo := max(half<<j-pad, 0)", "it differs in the half of the root alone, whose leader is rank 0"},
	{of("allReduceTree"), []string{"1 is one more"}, "theirs := min((other+1)<<j-pad", "only its sign counts, which is that of size - from"},
	{of("allReduceTree"), []string{"0 is one more", "> is >="}, "if full > 0 {", "full is 1 at least"},
	{of("allReduceTree"), []string{"1 is one more"}, "full := 1 << levels", "it is only compared with 0"},
	{of("allReduceTwoShot"), []string{"rank is one more"}, "x.Refer(x.Scratch.Slot(rank, rank), x.In.Chunk(rank))",
		"of a place that is referred to only the beginning counts"},
	{of("broadcastScatterAllgather"), []string{"size is one more", "- is +"}, "for s := range size - 1 {", "in the last turn nobody lacks anything"},
	{of("broadcastScatterAllgather"), []string{"size is one more"}, "mine = size", "a rank that lacks nothing lacks nothing"},
	{of("broadcastScatterAllgather"), []string{"size is one more"}, "theirs = size", "the same"},
	{of("broadcastScatterAllgather"), []string{"size is one more", "< is <="}, "if low == 0 && place+half < size {", "the message would have no bytes"},
	{of("reduceChain"), []string{"Out is In", "a call is left out"}, "x.Finish(x.Out.Span(0, depth))", "of one rank the average is divided by 1"},
	{of("reduceChain"), []string{"size is one more", "- is +", "< is <="}, "if i < depth && place < size-1 && rank == root {",
		"the root's place is 0; of one rank the average is divided by 1"},
	{of("reduceChain reduceScatterRing"), []string{"- is +"}, " - 1) & 1", "both are the other of two"},
}

func of(functions string) []string { return strings.Fields(functions) }

// excuses tells whether a mutant is one of them, and notes in used which it is.
func excuses(words string, used map[string]bool) bool {
	_, words, _ = strings.Cut(words, " ")
	parts := strings.SplitN(words, ": ", 3)
	i := slices.IndexFunc(equivalents, func(e equivalent) bool {
		return slices.Contains(e.functions, parts[0]) && slices.Contains(e.what, parts[1]) && strings.Contains(parts[2], e.line)
	})
	if i < 0 {
		return false
	}
	used[fmt.Sprintf("%s: %s: %s", parts[0], parts[1], equivalents[i].line)] = true
	return true
}

// needless are those of the equivalents that excuse nothing.
func needless(used map[string]bool) (all []string) {
	for _, e := range equivalents {
		for _, function := range e.functions {
			for _, what := range e.what {
				if name := fmt.Sprintf("%s: %s: %s", function, what, e.line); !used[name] {
					all = append(all, name)
				}
			}
		}
	}
	return all
}

// functionName is the name of the function that is generated for a: "allReduceTwoShot".
func functionName(a *gen.Algorithm) string {
	name := strings.ToLower(a.Primitive.Name[:1]) + a.Primitive.Name[1:]
	for word := range strings.SplitSeq(a.Name, "-") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}

// firstFault is the first difference between the code and the schedules in the sample that make test compares.
func firstFault(t *testing.T, u subject) string {
	c, fault := u.compare(t, someCalls)
	if fault == "" && c.hollow() != "" {
		t.Fatalf("%s: %s", u.FullName(), c.hollow())
	}
	return fault
}
