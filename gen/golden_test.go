package gen_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/gen/emit/text"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden compares the text, the cost, the hash and one schedule of every algorithm with its golden file.
func TestGolden(t *testing.T) {
	var want []string
	for _, a := range catalogue.Algorithms() {
		file := filepath.Join("testdata", strings.ReplaceAll(a.FullName(), "/", "-")+".txt")
		want = append(want, file)
		t.Run(a.FullName(), func(t *testing.T) { checkGolden(t, file, golden(t, &a)) })
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !slices.Contains(want, file) {
			t.Errorf("%s is the golden file of no algorithm", file)
		}
	}
}

func checkGolden(t *testing.T, file, got string) {
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s is not what the algorithm is now (-update writes it anew); - file, + now:\n%s", file, d)
	}
}

// golden returns a in text, and its schedule for 5 ranks, or 4 where it does not serve 5, root 2, and depth 2 where it
// has one.
func golden(t *testing.T, a *gen.Algorithm) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nSource: %s\n\n%s\n", a.Doc, a.Source, a.Text())
	fmt.Fprintf(&b, "alpha  %v\nbeta   %v\ngamma  %v\nhash   %x\n\n", a.Cost.Alpha, a.Cost.Beta, a.Cost.Gamma, a.Hash())
	calls := append(a.Calls(5, 2), a.Calls(4, 2)...)
	i := max(0, slices.IndexFunc(calls, func(p gen.Params) bool { return p.Root == 2 }))
	s, err := gen.Instantiate(a, calls[i])
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "%d ranks, root %d, peer %d, depth %d:\n\n%s", s.Size, s.Root, s.Peer, s.Depth, text.Table(s))
	return b.String()
}
