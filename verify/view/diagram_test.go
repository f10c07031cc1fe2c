package view

import (
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
)

// TestDiagram: of a large schedule there are the messages among the first ranks in the first steps, and why.
func TestDiagram(t *testing.T) {
	d, err := Of(&catalogue.AllReduceRing, gen.Params{Size: 1024, Depth: 1}, false)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(d.Clipped, "the first 48 of 1024 ranks in their first 64 steps") || d.Size != 48 ||
		d.Rounds != 64 || d.Cells != 0 || d.Call != "1024 ranks" {
		t.Errorf("%q: %d ranks, %d rounds, %d cells", d.Clipped, d.Size, d.Rounds, d.Cells)
	}
	// The last of the ranks sends to one that is not there, and the first hears from one.
	if n := len(d.Messages) / messageFields; n != 47*64 {
		t.Errorf("%d messages", n)
	}
	for m := range slices.Chunk(d.Messages, messageFields) {
		if m[1] != m[0]+1 || m[2] != m[3] {
			t.Fatalf("a message from %d to %d, sent in round %d and received in %d", m[0], m[1], m[2], m[3])
		}
	}
	if d, err = Of(&catalogue.AllReduceRing, gen.Params{Size: 64, Depth: 1}, false); err != nil || d.Clipped != "" ||
		d.Rounds != 126 {
		t.Errorf("64 ranks: %v, %q, %d rounds", err, d.Clipped, d.Rounds)
	}
}
