package main

import (
	"context"
	"errors"
	"fmt"
	"go/build"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen/emit/golang"
	"github.com/collgen/collgen/gen/readback"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
	"golang.org/x/tools/go/packages"
)

// readBack checks the types of what was generated, reads it back, and compares it with what it was generated from: what
// differs is not written.
func readBack(ctx context.Context, j *job) error {
	sources, err := j.sources(ctx)
	if err != nil {
		return err
	}
	if err := findStandardLibrary(ctx); err != nil {
		return err
	}
	generated, err := readback.NewChecker(sources).Typecheck(j.Path, j.files)
	if err != nil {
		return err
	}
	for _, p := range j.primitives {
		c := readback.Collective{Primitive: p, Rules: j.rules(p)}
		for _, a := range j.of(p) {
			c.Algorithms = append(c.Algorithms, readback.Declared{Algorithm: a.Algorithm, Hash: a.hash, Proved: provedOf(a)})
		}
		if err := generated.Check(c); err != nil {
			return j.blame(ctx, p, err)
		}
	}
	return ctx.Err()
}

// findStandardLibrary has the type checker find the sources of the standard library. A collgen that was built with
// -trimpath does not know where Go is installed, so it asks the go command.
func findStandardLibrary(ctx context.Context) error {
	if build.Default.GOROOT != "" {
		return nil
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	build.Default.GOROOT = strings.TrimSpace(string(root))
	return nil
}

// provedOf returns what the table has to say of the calls for which a was proved. It asks nothing of package golang,
// whose table is compared with it.
func provedOf(a *algorithm) readback.Proved {
	x := readback.Proved{Every: a.every.Sizes != ""}
	for _, size := range a.proof.Sizes {
		x.Sizes = max(x.Sizes, size)
	}
	if slices.Contains(a.Primitive.Params, spec.ParamPeer) {
		x.Sizes = min(x.Sizes, verify.AllPairs)
	}
	for a.HasDepth() && slices.Contains(a.proof.Depths, x.Depths+1) {
		x.Depths++
	}
	return x
}

// needed are the packages whose types generated code uses, and those that these types are made of.
var needed = []string{golang.Runtime, golang.ExecutorPath, golang.CollectivePath, specPath,
	"github.com/collgen/collgen/selection"}

// sources returns the files, without those that were generated, of the package, and of those whose types its generated
// code uses.
func (j *job) sources(ctx context.Context) (readback.Sources, error) {
	found, err := packages.Load(&packages.Config{Context: ctx, Mode: packages.NeedName | packages.NeedFiles, Dir: j.dir,
		Env: buildEnv()},
		append([]string{"."}, needed...)...)
	if err != nil {
		return nil, loadError(j.dir, err)
	}
	generated, err := generatedFiles(j.dir)
	if err != nil {
		return nil, err
	}
	sources := readback.Sources{}
	for _, p := range found {
		sources[p.PkgPath] = p.GoFiles
		if p.PkgPath == j.Path {
			sources[p.PkgPath] = slices.DeleteFunc(p.GoFiles, func(name string) bool {
				return generated[filepath.Base(name)] != nil
			})
		}
	}
	for _, path := range needed {
		if len(sources[path]) == 0 {
			return nil, errors.New("package " + path + " is not found")
		}
	}
	return sources, nil
}
