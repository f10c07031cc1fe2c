package tla

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
)

var update = flag.Bool("update", false, "write the golden files")

// TestModules compares the modules of schedules that have, between them, all kinds of instructions with their golden
// files. That they mean what the schedule does is for the checkers of tlaplus/ to find out.
func TestModules(t *testing.T) {
	for _, x := range []struct {
		a       *gen.Algorithm
		inPlace bool
	}{{&catalogue.AllReduceRecursiveDoubling, true}, {&catalogue.AllToAllDirect, true},
		{&catalogue.AllReduceTwoShot, false}, {&catalogue.BroadcastBinomial, false}} {
		s, err := gen.Instantiate(x.a, gen.Params{Size: 3, Root: 1, Depth: 1})
		if err != nil {
			t.Fatal(err)
		}
		schedule, collSpec, err := Modules(s, x.inPlace)
		if err != nil {
			t.Fatal(err)
		}
		got := schedule + "\n" + collSpec
		file := filepath.Join("testdata", strings.ReplaceAll(x.a.FullName(), "/", "-")+".tla.golden")
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
			t.Errorf("%s: - file, + now (-update writes it anew):\n%s", file, d)
		}
	}
}
