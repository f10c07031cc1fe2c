package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/internal/scratch"
	"golang.org/x/tools/go/packages"
)

// evaluate finds the values of variables: a program that prints them is compiled from what they depend on. It is put
// in the place of their package by the go command's -overlay, so that nothing is written there, and names that are not
// exported are at hand.
func evaluate(ctx context.Context, dir string, pkg *packages.Package, found []variable) (*gen.Declarations, error) {
	work, remove, err := scratch.Dir("driver")
	if err != nil {
		return nil, err
	}
	defer remove()
	files, err := driverFiles(dir, pkg, found)
	if err != nil {
		return nil, err
	}
	o, err := newOverlay(work, files)
	if err != nil {
		return nil, err
	}
	program, values := filepath.Join(work, "driver"), filepath.Join(work, "values")
	build := []string{"build", "-buildvcs=false", "-ldflags=-s -w", "-overlay", o.list, "-o", program, "."}
	if err := o.run(ctx, dir, "go", build...); err != nil {
		return nil, fmt.Errorf("the declarations of package %s do not compile:\n%w", pkg.Name, err)
	}
	if err := o.run(ctx, dir, program, values); err != nil {
		return nil, fmt.Errorf("the declarations of package %s have no values:\n%w", pkg.Name, err)
	}
	f, err := os.Open(values)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return gen.DecodeDeclarations(f)
}

// driverFiles returns the files that take the place of those of the package in dir.
func driverFiles(dir string, pkg *packages.Package, found []variable) (map[string][]byte, error) {
	needed := newClosure(pkg)
	for _, v := range found {
		needed.need(v.object)
	}
	hidden, err := hideGenerated(dir)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{filepath.Join(dir, "collgen_driver.go"): driver(found)}
	tests, err := filepath.Glob(filepath.Join(escape(dir), "*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range append(tests, slices.Collect(maps.Keys(hidden))...) { // whose package is not main
		files[name] = []byte("package main\n")
	}
	for _, f := range pkg.Syntax {
		name := pkg.Fset.File(f.FileStart).Name()
		if _, ok := hidden[name]; ok {
			continue
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files[name] = needed.reduce(f, content)
	}
	return files, nil
}

// overlay is files that take the place of others for the go command.
type overlay struct {
	list    string            // the name of the file for -overlay
	Replace map[string]string // by the name of the file that is replaced
}

func newOverlay(work string, files map[string][]byte) (*overlay, error) {
	o := &overlay{filepath.Join(work, "overlay.json"), map[string]string{}}
	for name, content := range files {
		o.Replace[name] = filepath.Join(work, fmt.Sprintf("%d.go", len(o.Replace)))
		if err := os.WriteFile(o.Replace[name], content, 0o600); err != nil {
			return nil, err
		}
	}
	list, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	return o, os.WriteFile(o.list, list, 0o600)
}

// run runs a program. What it has to say is in its error, with the names of the files that were replaced.
func (o *overlay) run(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, buildEnv()
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		return nil
	}
	return fmt.Errorf("%s%w", o.original(dir, string(out)), err)
}

// original returns text with the names of the files that were replaced, whichever way the go command, which prefers
// short names, writes their replacements when it runs in dir.
func (o *overlay) original(dir, text string) string {
	for name, replacement := range o.Replace {
		text = strings.ReplaceAll(text, replacement+":", relativeName(name)+":")
		if short, err := filepath.Rel(dir, replacement); err == nil {
			text = strings.ReplaceAll(text, "."+string(filepath.Separator)+short+":", relativeName(name)+":")
			text = strings.ReplaceAll(text, short+":", relativeName(name)+":")
		}
	}
	return text
}

// driver returns the program that writes what variables hold.
func driver(found []variable) []byte {
	var primitives, algorithms strings.Builder
	for _, v := range found {
		to := &primitives
		if v.isAlgorithm {
			to = &algorithms
		}
		fmt.Fprintf(to, "%q: %s, ", v.name, v.name)
	}
	return fmt.Appendf(nil, driverText, genPath, specPath, primitives.String(), algorithms.String())
}

// driverText is a program that writes to the file that its argument names. Its own names are such as nobody else gives.
const driverText = `package main

import (
	collgen_gen %q
	collgen_log "log"
	collgen_os "os"
	collgen_spec %q
)

func main() {
	collgen_values := collgen_gen.Declarations{
		Primitives: map[string]collgen_spec.Primitive{%s},
		Algorithms: map[string]collgen_gen.Algorithm{%s},
	}
	collgen_file, collgen_err := collgen_os.Create(collgen_os.Args[1])
	if collgen_err == nil {
		collgen_err = collgen_values.Encode(collgen_file)
	}
	if collgen_err != nil {
		collgen_log.Fatal(collgen_err)
	}
}
`

// buildEnv returns the environment of the go command: what it builds is to run here.
func buildEnv() []string {
	return append(os.Environ(), "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
}
