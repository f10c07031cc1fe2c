// Command _asm writes the assembly of package kernel, and its table, into a folder:
//
//	go run . [folder]
//
// A kernel is an operator (what happens to two vectors) in a shape (how memory is walked through), for an instruction
// set. What differs between AVX2 and AVX-512 is in code.go, shapes are in shape.go, and the kernels are a list, in
// kernels.go. Exact sums are in exact.go.
package main

import (
	"bytes"
	"log"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// platform is where the files are built.
const platform = "amd64 && !purego"

// header is the first line of the files: the command that writes them, from the root of the module.
var header = printer.Config{Argv: []string{"go", "generate", "./fast/internal/kernel"}, Pkg: "kernel"}

func main() {
	folder := ".."
	if len(os.Args) > 1 {
		folder = os.Args[1]
	}
	ctx := build.NewContext()
	ctx.ConstraintExpr("amd64,!purego") // which is platform, in the syntax that avo takes
	for _, set := range sets {
		for _, k := range kernels {
			k.write(&code{Context: ctx, set: set})
		}
		for _, k := range exactSums {
			(&code{Context: ctx, set: set}).exact(k)
		}
		(&code{Context: ctx, set: set}).copies()
	}
	moveBytes(ctx)
	cpuid(ctx)
	file, err := ctx.Result()
	if err != nil {
		log.Fatal(err)
	}
	var assembly, stubs bytes.Buffer
	passes := pass.Concat(pass.Compile,
		&pass.Output{Writer: nopCloser{&assembly}, Printer: printer.NewGoAsm(header)},
		&pass.Output{Writer: nopCloser{&stubs}, Printer: printer.NewStubs(header)})
	if err := passes.Execute(file); err != nil {
		log.Fatal(err)
	}
	write(filepath.Join(folder, "zkernel_amd64.s"), assembly.Bytes())
	write(filepath.Join(folder, "zkernel_amd64.go"), stubs.Bytes())
	write(filepath.Join(folder, "ztable_amd64.go"), table())
}

func write(name string, text []byte) {
	if err := os.WriteFile(name, text, 0o666); err != nil {
		log.Fatal(err)
	}
}

// nopCloser is a buffer where avo wants a file.
type nopCloser struct{ *bytes.Buffer }

func (nopCloser) Close() error { return nil }
