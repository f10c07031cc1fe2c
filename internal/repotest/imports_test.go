package repotest

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
)

const module = "github.com/collgen/collgen"

// importRule says what a package, tests aside, may import besides the standard library.
type importRule struct {
	pattern string   // the packages it is for, by their path in the module: see matches
	may     []string // patterns of packages of this module, and paths of other modules
	never   []string // packages of this module that are not to be reached through others either
}

// importRules are those of this module. The first that fits a package counts; every package has to have one.
var importRules = []importRule{
	{pattern: "spec"},
	{pattern: "spec/mutants", may: []string{"spec"}},
	{pattern: "spec/spectest", may: []string{"spec", "pgregory.net/rapid"}},
	{pattern: "selection"},
	{pattern: "gen", may: []string{"spec", "selection"}, never: []string{"fast"}},
	{pattern: "gen/words", may: []string{"spec", "gen"}, never: []string{"fast"}},
	{pattern: "gen/catalogue", may: []string{"spec", "selection", "gen"}, never: []string{"fast"}},
	{pattern: "gen/emit/golang", may: []string{"spec", "gen", "gen/induct", "gen/emit/text", "github.com/dave/jennifer"},
		never: []string{"fast"}},
	{pattern: "gen/emit/c", may: []string{"spec", "gen/emit/text"}, never: []string{"fast"}},
	{pattern: "gen/emit/python", may: []string{"spec", "gen/emit/c", "gen/emit/text"}, never: []string{"fast"}},
	{pattern: "gen/emit/*", may: []string{"spec", "gen", "gen/induct"}, never: []string{"fast"}},
	{pattern: "gen/induct", may: []string{"spec", "gen"}, never: []string{"fast"}},
	{pattern: "gen/plan", may: []string{"spec", "gen"}, never: []string{"fast"}},
	{pattern: "gen/readback", may: []string{"spec", "gen"}, never: []string{"fast", "gen/emit/golang"}},
	{pattern: "gen/cost", may: []string{"gen"}, never: []string{"fast"}},
	{pattern: "gen/cost/simulate", may: []string{"spec", "gen"}, never: []string{"fast"}},
	{pattern: "ref", may: []string{"spec"}},
	{pattern: "verify", may: []string{"spec", "gen", "verify/counterexample"}, never: []string{"fast"}},
	{pattern: "verify/view", may: []string{"spec", "gen", "gen/cost", "gen/emit/text", "gen/plan", "verify",
		"verify/counterexample"}, never: []string{"fast"}},
	{pattern: "verify/view/checker", may: []string{"spec", "verify/view"}, never: []string{"fast"}},
	{pattern: "verify/view/picture", may: []string{"spec", "verify/view"}, never: []string{"fast"}},
	{pattern: "verify/view/viewer", may: []string{"spec", "verify/view"}, never: []string{"fast"}},
	{pattern: "verify/counterexample", may: []string{"spec", "gen"}, never: []string{"fast"}},
	{pattern: "verify/interp", may: []string{"spec", "gen"}, never: []string{"fast"}},
	{pattern: "verify/colltest", may: []string{"spec", "spec/spectest", "ref"}, never: []string{"fast", "gen"}},
	{pattern: "verify/smtproof", may: []string{"spec", "gen", "gen/induct", "gen/emit/smt", "verify"},
		never: []string{"fast"}},
	{pattern: "verify/replay", may: []string{"spec", "gen", "internal/events"}, never: []string{"fast"}},
	{pattern: "verify/bugs", may: []string{"spec", "gen", "gen/catalogue", "verify", "verify/internal/edit"},
		never: []string{"fast"}},
	{pattern: "verify/internal/edit", may: []string{"spec", "gen"}},
	{pattern: "verify/proofsuite", may: nil, never: []string{"spec", "gen", "fast", "verify", "ref"}},
	{pattern: "verify/mutate", may: []string{"spec", "gen", "gen/catalogue", "gen/emit/golang", "verify", "verify/bugs",
		"verify/smtproof", "verify/internal/*", "internal/gomutants", "internal/scratch",
		"golang.org/x/tools"}, never: []string{"fast"}},
	{pattern: "verify/colltest/adapters", may: []string{"verify/colltest", "verify/colltest/remote", "internal/peerlibs",
		"internal/scratch"}, never: []string{"fast", "gen"}},
	{pattern: "verify/colltest/remote", may: []string{"spec", "verify/colltest", "internal/scratch", "golang.org/x/sys"},
		never: []string{"fast", "gen"}},
	{pattern: "fast", may: []string{"spec", "selection", "fast/internal/*", "fast/internal/rdma/device", "fast/health",
		"fast/hooks", "fast/trace", "internal/events", "golang.org/x/sys"}, never: []string{"gen", "verify"}},
	{pattern: "fast/collective", may: []string{"fast", "fast/internal/exec", "fast/internal/wire", "spec"},
		never: []string{"gen", "verify"}},
	{pattern: "fast/neighbor", may: []string{"fast", "fast/collective", "fast/internal/exec", "fast/internal/wire"},
		never: []string{"gen", "verify"}},
	{pattern: "fast/hosts", may: []string{"spec", "fast", "fast/quantized", "fast/internal/exec", "fast/internal/failure",
		"fast/internal/kernel", "fast/internal/wire"},
		never: []string{"gen", "verify"}},
	{pattern: "fast/quantized", may: []string{"spec", "fast", "fast/internal/exec", "fast/internal/kernel",
		"fast/internal/wire"}, never: []string{"gen", "verify"}},
	{pattern: "fast/object", may: []string{"fast", "fast/internal/exec", "fast/internal/wire"},
		never: []string{"gen", "verify"}},
	{pattern: "fast/message", may: []string{"spec", "fast", "fast/internal/exec", "fast/internal/fork",
		"fast/internal/message", "fast/internal/wire"}, never: []string{"gen", "verify"}},
	{pattern: "fast/scalar", may: []string{"fast"}, never: []string{"gen", "verify"}},
	{pattern: "fast/trace", may: []string{"fast/internal/failure"}, never: []string{"fast", "gen", "verify"}},
	{pattern: "fast/health", may: []string{"fast/internal/failure"}, never: []string{"fast", "gen", "verify"}},
	{pattern: "fast/hooks", never: []string{"fast", "gen", "verify"}},
	{pattern: "fast/storetest", may: []string{"fast"}, never: []string{"gen", "verify"}},
	{pattern: "fast/internal/exec", may: []string{"spec", "selection", "fast/internal/wire", "fast/internal/kernel",
		"fast/internal/transport",
		"internal/events"}, never: []string{"fast"}},
	{pattern: "fast/internal/secure", may: []string{"fast/internal/wire"}, never: []string{"fast"}},
	{pattern: "fast/internal/mesh", may: []string{"fast/internal/wire", "fast/internal/mailbox", "fast/internal/secure",
		"golang.org/x/sys"},
		never: []string{"fast"}},
	{pattern: "fast/internal/store", may: []string{"fast/internal/wire", "fast/internal/secure", "golang.org/x/sys"},
		never: []string{"fast"}},
	{pattern: "fast/internal/launch", may: []string{"fast/internal/wire", "fast/internal/secure", "fast/internal/store",
		"golang.org/x/sys"},
		never: []string{"fast"}},
	{pattern: "fast/internal/inproc", may: []string{"fast/internal/wire", "fast/internal/kernel", "fast/internal/linkbase",
		"fast/internal/mailbox", "internal/events"}, never: []string{"fast"}},
	{pattern: "fast/internal/control", may: []string{"fast/internal/wire"}, never: []string{"fast"}},
	{pattern: "fast/internal/failure", may: []string{"fast/internal/wire"}, never: []string{"fast"}},
	{pattern: "fast/internal/memory", may: []string{"fast/internal/wire", "fast/internal/control", "fast/internal/setup",
		"fast/internal/shm",
		"fast/internal/transport", "golang.org/x/sys"}, never: []string{"fast"}},
	{pattern: "fast/internal/membership", may: []string{"fast/internal/wire", "fast/internal/agree",
		"fast/internal/control", "fast/internal/failure",
		"fast/internal/mesh", "fast/internal/setup"}, never: []string{"fast"}},
	{pattern: "fast/internal/deadlock", may: []string{"fast/internal/control", "fast/internal/failure",
		"fast/internal/flight", "fast/internal/mesh",
		"fast/internal/wire"}, never: []string{"fast"}},
	{pattern: "fast/internal/flight", may: []string{"spec", "fast/health", "fast/internal/exec",
		"fast/internal/failure", "fast/internal/relatomic", "fast/internal/transport", "fast/internal/tsc",
		"fast/internal/wire", "fast/trace"}, never: []string{"fast"}},
	{pattern: "fast/internal/monitor", may: []string{"fast/health", "fast/internal/control", "fast/internal/exec",
		"fast/internal/failure", "fast/internal/wire"}, never: []string{"fast"}},
	{pattern: "fast/internal/message", may: []string{"spec", "fast/health", "fast/internal/cma", "fast/internal/control",
		"fast/internal/failure", "fast/internal/kernel", "fast/internal/wire"}, never: []string{"fast"}},
	{pattern: "fast/internal/bootstrap", may: []string{"fast/internal/wire", "fast/internal/launch", "fast/internal/mesh",
		"fast/internal/rdma",
		"fast/internal/rdma/device", "fast/internal/secure", "fast/internal/setup",
		"fast/internal/store"}, never: []string{"fast"}},
	{pattern: "fast/internal/setup", may: []string{"fast/internal/*", "fast/internal/rdma/device", "golang.org/x/sys"},
		never: []string{"fast"}},
	{pattern: "fast/internal/transport", may: []string{"fast/internal/wire", "internal/events"}, never: []string{"fast"}},
	{pattern: "fast/internal/agree", may: []string{"fast/internal/wire"}, never: []string{"fast"}},
	{pattern: "fast/internal/exchangetest", may: []string{"spec", "fast/internal/wire", "pgregory.net/rapid"},
		never: []string{"fast"}},
	{pattern: "fast/internal/access", may: []string{"fast/internal/bootstrap", "fast/internal/control",
		"fast/internal/deadlock",
		"fast/internal/exec", "fast/internal/flight", "fast/internal/inproc",
		"fast/internal/transport"}, never: []string{"fast"}},
	{pattern: "fast/internal/fasttest", may: []string{"fast/internal/access", "fast/internal/bootstrap",
		"fast/internal/inproc",
		"fast/internal/rdma", "fast/internal/rdma/fabric", "fast/internal/rdma/vm", "fast/internal/store",
		"fast/internal/wire",
		"golang.org/x/sys"}, never: []string{"fast"}},
	{pattern: "fast/internal/operation", may: []string{"fast", "fast/internal/fasttest"}},
	{pattern: "fast/internal/commtest"},
	{pattern: "fast/internal/emittest"},
	{pattern: "fast/internal/jobtest"},
	{pattern: "fast/internal/simtest"},
	{pattern: "fast/internal/cma", may: []string{"golang.org/x/sys"}, never: []string{"fast"}},
	{pattern: "fast/internal/shm", may: []string{"fast/internal/wire", "fast/internal/cma", "fast/internal/kernel",
		"fast/internal/linkbase",
		"fast/internal/relatomic", "internal/events", "golang.org/x/sys"},
		never: []string{"fast"}},
	{pattern: "fast/internal/linkbase", may: []string{"fast/internal/wire", "fast/internal/kernel",
		"fast/internal/linkproto"}, never: []string{"fast"}},
	{pattern: "fast/internal/tcp", may: []string{"fast/internal/wire", "fast/internal/linkproto", "fast/internal/linkbase",
		"internal/events",
		"golang.org/x/sys"}, never: []string{"fast"}},
	{pattern: "fast/internal/rdma/vm"},
	{pattern: "fast/internal/verbs/fake"},
	{pattern: "fast/internal/rdma", may: []string{"fast/internal/wire", "fast/internal/linkproto",
		"fast/internal/linkbase", "fast/internal/verbs", "golang.org/x/sys"},
		never: []string{"fast"}},
	{pattern: "fast/internal/rdma/device", may: []string{"fast/internal/rdma", "fast/internal/verbs"},
		never: []string{"fast"}},
	{pattern: "fast/internal/rdma/fabric", may: []string{"fast/internal/rdma"}, never: []string{"fast"}},
	{pattern: "fast/internal/...", may: []string{"spec", "fast/internal/wire", "golang.org/x/sys"},
		never: []string{"fast"}},
	{pattern: "capi", may: []string{"spec", "fast", "fast/message"}, never: []string{"gen", "verify"}},
	{pattern: "cmd/collgen", may: []string{"spec", "spec/mutants", "spec/spectest", "selection", "gen", "gen/catalogue",
		"gen/cost", "gen/cost/simulate", "gen/emit/*", "gen/induct", "gen/plan", "gen/readback", "verify", "verify/colltest",
		"verify/colltest/remote", "verify/smtproof", "verify/replay", "verify/view", "verify/view/*",
		"internal/drawing", "internal/figures", "internal/lessgc", "internal/scratch", "internal/program",
		"golang.org/x/tools"}, never: []string{"fast"}},
	{pattern: "cmd/collperf", may: []string{"fast", "cmd/collperf/internal/*", "internal/*"},
		never: []string{"gen", "verify"}},
	{pattern: "cmd/collperf/internal/machine", may: []string{"internal/*", "golang.org/x/sys"}, never: []string{"fast"}},
	{pattern: "cmd/collperf/internal/ranks", may: []string{"fast", "cmd/collperf/internal/machine"},
		never: []string{"gen", "verify"}},
	{pattern: "cmd/collperf/internal/limits", may: []string{"fast", "fast/collective", "cmd/collperf/internal/machine",
		"internal/*", "golang.org/x/sys"},
		never: []string{"gen", "verify"}},
	{pattern: "cmd/collperf/internal/bench", may: []string{"spec", "fast", "fast/collective", "fast/hosts",
		"fast/quantized",
		"cmd/collperf/internal/machine", "internal/*"},
		never: []string{"gen", "verify"}},
	{pattern: "cmd/collperf/internal/report", may: []string{"cmd/collperf/internal/bench", "cmd/collperf/internal/limits",
		"internal/*"},
		never: []string{"gen", "verify"}},
	{pattern: "cmd/collperf/internal/raster", may: []string{"internal/drawing", "golang.org/x/image"},
		never: []string{"fast"}},
	{pattern: "cmd/collperf/internal/tune", may: []string{"selection", "fast", "cmd/collperf/internal/*", "internal/*"},
		never: []string{"gen", "verify"}},
	{pattern: "cmd/collrun", may: []string{"fast", "fast/trace", "cmd/collrun/internal/*", "internal/scratch"},
		never: []string{"gen", "verify"}},
	{pattern: "cmd/collrun/internal/timeline", may: []string{"cmd/collrun/internal/diagnosis", "fast/trace"}},
	{pattern: "cmd/collrun/internal/*", may: []string{"fast", "fast/trace", "golang.org/x/sys"},
		never: []string{"gen", "verify"}},
	{pattern: "cmd/collvet", may: []string{"cmd/collvet/internal/*", "golang.org/x/tools"}, never: []string{"fast"}},
	{pattern: "cmd/collvet/internal/*", may: []string{"golang.org/x/tools"}, never: []string{"fast"}},
	{pattern: "cmd/*", may: []string{"fast", "golang.org/x/sys"}, never: []string{"gen", "verify"}},
	{pattern: "tlaplus", may: []string{"spec", "gen", "gen/catalogue", "gen/emit/tla", "internal/events",
		"internal/events/edit", "internal/scratch"}, never: []string{"fast"}},
	{pattern: "tlaplus/job", may: []string{"fast"}, never: []string{"gen", "verify"}},
	{pattern: "internal/crossvet", may: []string{"golang.org/x/tools"}},
	{pattern: "internal/*"},
	{pattern: "internal/drawing/drawingtest"},
	{pattern: "internal/events/edit", may: []string{"internal/events"}},
	{pattern: "peers", may: []string{"internal/*"}},
	{pattern: "examples"},
	{pattern: "examples/*", may: []string{"fast", "fast/collective", "fast/scalar"}, never: []string{"gen", "verify"}},
}

func TestImports(t *testing.T) {
	for _, platform := range []string{"linux/amd64", "darwin/arm64"} {
		for _, v := range importViolations(t, ".", platform) {
			t.Errorf("on %s: %s", platform, v)
		}
	}
}

// TestImportRulesCanFail breaks each rule in a module of its own.
func TestImportRulesCanFail(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "go.mod", "module "+module+"\n\ngo 1.26\n")
	for pkg, imports := range map[string][]string{
		"spec":                       {"tools"},
		"spec/mutants":               {"spec", "ref"},
		"spec/spectest":              {"spec", "ref"},
		"selection":                  {"spec"},
		"ref":                        {"spec", "tools"},
		"gen":                        {"ref"},
		"gen/emit/golang":            {"gen", "gen/emit/text", "verify"},
		"gen/emit/text":              {"spec", "ref"},
		"gen/induct":                 {"gen", "verify"},
		"gen/readback":               {"gen", "gen/emit/golang"},
		"gen/cost/simulate":          {"gen", "gen/emit/golang"},
		"verify":                     {"gen", "ref"},
		"verify/smtproof":            {"verify", "ref"},
		"verify/internal/edit":       {"gen", "ref"},
		"verify/mutate":              {"verify", "ref"},
		"fast":                       {"spec", "fast/internal/shm", "gen"},
		"fast/internal/wire":         {"fast/internal/tcp"},
		"fast/internal/shm":          {"fast/internal/wire", "fast/internal/secure"},
		"fast/internal/secure":       {"fast/internal/wire"},
		"fast/internal/mesh":         {"fast/internal/secure", "fast/internal/agree"},
		"fast/internal/agree":        {"fast/internal/secure"},
		"fast/internal/store":        {"fast/internal/launch"},
		"fast/internal/launch":       {"fast/internal/store", "fast/internal/mesh"},
		"fast/internal/exchangetest": {"fast/internal/wire", "fast/internal/shm"},
		"fast/internal/tcp":          nil,
		"fast/internal/tcp/deeper":   {"fast/internal/tcp"},
		"cmd/collgen":                {"gen", "bridge"},
		"cmd/collrun":                {"spec"},
		"examples/hello":             {"spec"},
		"tlaplus":                    {"gen", "verify"},
		"peers":                      {"internal/figures", "fast"},
		"internal/figures":           {"spec"},
		"bridge":                     {"fast"},
		"tools":                      nil,
	} {
		text := "package p\n"
		for _, i := range imports {
			text += fmt.Sprintf("import _ %q\n", path.Join(module, i))
		}
		writeFile(t, dir, pkg+"/p.go", text)
	}
	want := []string{
		"bridge has no import rule",
		"cmd/collgen imports bridge",
		"cmd/collgen reaches fast",
		"cmd/collrun imports spec",
		"examples/hello imports spec",
		"fast imports gen",
		"fast reaches gen",
		"fast/internal/agree imports fast/internal/secure",
		"fast/internal/exchangetest imports fast/internal/shm",
		"fast/internal/launch imports fast/internal/mesh",
		"fast/internal/mesh imports fast/internal/agree",
		"fast/internal/shm imports fast/internal/secure",
		"fast/internal/store imports fast/internal/launch",
		"fast/internal/tcp/deeper imports fast/internal/tcp",
		"fast/internal/wire imports fast/internal/tcp",
		"gen imports ref",
		"gen/cost/simulate imports gen/emit/golang",
		"gen/emit/golang imports verify",
		"gen/emit/text imports ref",
		"gen/induct imports verify",
		"gen/readback imports gen/emit/golang",
		"gen/readback reaches gen/emit/golang",
		"internal/figures imports spec",
		"peers imports fast",
		"ref imports tools",
		"selection imports spec",
		"spec imports tools",
		"spec/mutants imports ref",
		"spec/spectest imports ref",
		"tlaplus imports verify",
		"tools has no import rule",
		"verify imports ref",
		"verify/internal/edit imports ref",
		"verify/mutate imports ref",
		"verify/smtproof imports ref",
	}
	if d := cmp.Diff(want, importViolations(t, dir, "linux/amd64")); d != "" {
		t.Error(d)
	}
}

func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	file := path.Join(dir, name)
	if err := os.MkdirAll(path.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// importViolations returns the imports in the module in dir that no rule allows, sorted.
func importViolations(t *testing.T, dir, platform string) []string {
	t.Helper()
	goos, goarch, _ := strings.Cut(platform, "/")
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps,
		Dir:  dir,
		Env:  append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
	}, "./...")
	if err != nil || len(pkgs) == 0 {
		t.Fatalf("loading the packages of %s: got %d, %v", dir, len(pkgs), err)
	}
	var found []string
	for _, p := range pkgs {
		found = append(found, violationsOf(p)...)
	}
	slices.Sort(found)
	return found
}

func violationsOf(p *packages.Package) (found []string) {
	name, _ := inModule(p.PkgPath)
	i := slices.IndexFunc(importRules, func(r importRule) bool { return matches(r.pattern, name) })
	if i < 0 {
		return []string{name + " has no import rule"}
	}
	rule := importRules[i]
	for imported := range p.Imports {
		if !allowed(rule.may, imported) {
			imported, _ = inModule(imported)
			found = append(found, name+" imports "+imported)
		}
	}
	reached := make(map[string]bool)
	reach(p, reached)
	for _, never := range rule.never {
		if reached[module+"/"+never] {
			found = append(found, name+" reaches "+never)
		}
	}
	return found
}

// inModule returns the path of a package in this module, or the whole path if it is another module's.
func inModule(pkg string) (name string, ours bool) {
	if pkg == module {
		return ".", true
	}
	return strings.CutPrefix(pkg, module+"/")
}

// allowed reports whether an import is of the standard library or one of may.
func allowed(may []string, imported string) bool {
	name, ours := inModule(imported)
	if !ours && !strings.Contains(strings.Split(imported, "/")[0], ".") {
		return true
	}
	return slices.ContainsFunc(may, func(pattern string) bool {
		return ours && matches(pattern, name) || !ours && strings.HasPrefix(name+"/", pattern+"/")
	})
}

// matches reports whether name is one of the packages of pattern: DIR/... is all those below DIR, and otherwise pattern
// is one of path.Match.
func matches(pattern, name string) bool {
	if dir, ok := strings.CutSuffix(pattern, "/..."); ok {
		return strings.HasPrefix(name, dir+"/")
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// reach marks all packages that p imports, through whatever others.
func reach(p *packages.Package, reached map[string]bool) {
	for name, imported := range p.Imports {
		if !reached[name] {
			reached[name] = true
			reach(imported, reached)
		}
	}
}
