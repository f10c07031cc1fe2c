package main

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/collgen/collgen/gen/emit/golang"
	"github.com/collgen/collgen/verify"
	"golang.org/x/tools/go/packages"
)

// What was proved of an algorithm stands above the function that was generated from it, with the algorithm's hash. As
// long as that is the hash of the algorithm as it is now, list need not prove it again.

// recorded is what the comment of a generated function says.
type recorded struct {
	file  string
	proof verify.Summary // the sizes, the depths and the order
}

// The parts of such a comment.
var (
	recordedName   = regexp.MustCompile(`(?:^\w+|^With \w+ \d+, it) is ([^ /]+/[^ /]+)\. `)
	recordedMember = regexp.MustCompile(` (With \w+ \d+, it is )`)
	recordedSizes  = regexp.MustCompile(`Proved for sizes ((?:\d+(?:\.\.\d+)?(?:, )?)+)`)
	recordedDepths = regexp.MustCompile(`Proved for .* depths ((?:\d+(?:\.\.\d+)?(?:, )?)+).* schedules\)`)
	recordedOrder  = regexp.MustCompile(`Proved for .* Order: ([^.]+)\. `)
	recordedHash   = regexp.MustCompile(`Algorithm (0x[0-9a-f]{16})\.$`)
)

// recall takes over what the generated files in dir say of those algorithms that are as they were then.
func (s *source) recall(dir string) error {
	files, err := generatedFiles(dir)
	if err != nil {
		return err
	}
	byHash := map[string]recorded{} // by name and hash
	for name, content := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ParseComments)
		if err != nil {
			continue // what is broken says nothing
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				readRecord(byHash, filepath.Join(dir, name), d.Doc.Text())
			}
		}
	}
	for _, a := range s.algorithms {
		if r, ok := byHash[a.FullName()+" "+golang.Hash(&a.Algorithm)]; ok {
			a.proof, a.proved, a.recorded = r.proof, true, r.file
		}
	}
	return nil
}

// readRecord adds what a comment says, if it is one of an algorithm, or of the members of one.
func readRecord(to map[string]recorded, file, comment string) {
	for _, part := range recordsIn(comment) {
		readOne(to, file, part)
	}
}

// recordsIn cuts a comment into what it says of an algorithm, or of each of its members.
func recordsIn(comment string) []string {
	text := strings.Join(strings.Fields(comment), " ")
	return strings.Split(recordedMember.ReplaceAllString(text, "\n$1"), "\n")
}

// readOne adds what text says of one algorithm.
func readOne(to map[string]recorded, file, text string) {
	name, sizes, hash := recordedName.FindStringSubmatch(text), recordedSizes.FindStringSubmatch(text),
		recordedHash.FindStringSubmatch(text)
	if name == nil || sizes == nil || hash == nil {
		return
	}
	proof := verify.Summary{Algorithm: name[1]}
	var err error
	if proof.Sizes, err = readRanges(strings.TrimSuffix(sizes[1], ", ")); err != nil {
		return
	}
	proof.Depths = []int{1}
	if depths := recordedDepths.FindStringSubmatch(text); depths != nil {
		if proof.Depths, err = readRanges(strings.TrimSuffix(depths[1], ", ")); err != nil {
			return
		}
	}
	if order := recordedOrder.FindStringSubmatch(text); order != nil {
		proof.Folds = true
		if proof.Order.UnmarshalText([]byte(order[1])) != nil {
			return
		}
	}
	to[name[1]+" "+hash[1]] = recorded{file, proof}
}

// readRanges reads what text.Ranges writes.
func readRanges(text string) ([]int, error) {
	var numbers []int
	for part := range strings.SplitSeq(text, ", ") {
		var r sizeRange
		if err := r.Set(part); err != nil {
			return nil, err
		}
		for n := r.from; n <= r.to; n++ {
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
}

// generatedDir returns the folder of the files that are generated from s; empty if it is not at hand.
func (s *source) generatedDir(ctx context.Context) string {
	if s.dir != "" || !s.isBuiltIn {
		return s.dir
	}
	found, err := packages.Load(&packages.Config{Context: ctx, Mode: packages.NeedFiles}, golang.Runtime)
	if err != nil || len(found) != 1 || len(found[0].GoFiles) == 0 {
		return ""
	}
	return filepath.Dir(found[0].GoFiles[0])
}
