package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/collgen/collgen/internal/scratch"
	"github.com/collgen/collgen/verify/view/viewer"
)

// checkerPath is the verifier for browsers.
const checkerPath = "github.com/collgen/collgen/verify/view/checker"

// buildChecker compiles the verifier for browsers, in the module of the current folder.
func buildChecker(ctx context.Context) (*viewer.Checker, error) {
	work, remove, err := scratch.Dir("checker")
	if err != nil {
		return nil, err
	}
	defer remove()
	root, err := goOutput(ctx, nil, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(work, "checker.wasm")
	_, err = goOutput(ctx, []string{"GOOS=js", "GOARCH=wasm"}, "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w",
		"-o", file, checkerPath)
	if err != nil {
		return nil, fmt.Errorf("the verifier for browsers is compiled in a module that requires collgen: %w", err)
	}
	c := new(viewer.Checker)
	var err1, err2 error
	c.Wasm, err1 = os.ReadFile(file)
	c.Exec, err2 = os.ReadFile(filepath.Join(strings.TrimSpace(root), "lib", "wasm", "wasm_exec.js"))
	return c, errors.Join(err1, err2)
}

// goOutput runs the go command with more variables. What it has to say of an error is in the error.
func goOutput(ctx context.Context, variables []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), variables...)
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("go %s: %w\n%s", args[0], err, failed.Stderr)
	}
	return string(out), err
}
