package main

import (
	"bytes"
	"fmt"
	"go/format"
	"log"
	"slices"
	"strings"
)

// table returns the Go file that says which function is for which operator and type.
func table() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\n//go:build %s\n\npackage %s\n\n", header.GeneratedWarning(), platform, header.Pkg)
	fmt.Fprintf(&b, "import (\n%q\n%q\n)\n", module+"/fast/internal/wire", module+"/spec")
	for _, s := range sets {
		name := strings.ToLower(s.name)
		fmt.Fprintf(&b, "\n// %s is what is written for %s.\nvar %s = implementation{\nname: %q,\n", name, s.name, name, name)
		b.WriteString("kernels: table[wire.Kernel]{\n")
		rows(&b, s, "", isBinary, isFoldable)
		b.WriteString("},\nfolds: table[Many]{\n")
		rows(&b, s, "fold", isFoldable)
		b.WriteString("},\nexact: row[quickSum]{\n")
		for _, k := range exactSums {
			entries(&b, kernel{types: k.types}, k.name()+s.name)
		}
		b.WriteString("},\ndivisions: row[division]{\n")
		for _, k := range kernels {
			if k.shape == isDivision {
				entries(&b, k, k.name()+s.name)
			}
		}
		fmt.Fprintf(&b, "},\ncopy: copy%s,\n}\n", s.name)
	}
	text, err := format.Source(b.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	return text
}

const module = "github.com/collgen/collgen"

// rows writes, by operator, the functions that the kernels of some shapes have.
func rows(b *bytes.Buffer, s set, prefix string, shapes ...int) {
	var ops []string
	for _, k := range kernels {
		if k.shape != isDivision {
			ops = append(ops, strings.Fields(k.ops)...)
		}
	}
	slices.Sort(ops)
	for _, op := range slices.Compact(ops) {
		var row bytes.Buffer
		for _, k := range kernels {
			if slices.Contains(shapes, k.shape) && slices.Contains(strings.Fields(k.ops), op) {
				entries(&row, k, function(prefix, k)+s.name)
			}
		}
		if row.Len() > 0 {
			fmt.Fprintf(b, "spec.Op%s: {\n%s},\n", op, &row)
		}
	}
}

// entries has the function for each of the kernel's types.
func entries(b *bytes.Buffer, k kernel, function string) {
	for _, t := range strings.Fields(k.types) {
		fmt.Fprintf(b, "spec.Type%s: %s,\n", t, function)
	}
}

func function(prefix string, k kernel) string {
	if prefix == "" {
		return k.name()
	}
	return prefix + upper(k.name())
}
