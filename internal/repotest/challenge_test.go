package repotest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/verify/smtproof"
)

// TestChallenge: what the page says to be proved of algorithms is what the catalogue and the record of proofs have.
func TestChallenge(t *testing.T) {
	page := read(t, "docs/lab/allreduce-challenge.md")
	wrong, rows := wrongRows(t, page)
	if len(wrong) > 0 || rows < 10 {
		t.Errorf("of %d rows, these are wrong: %q", rows, wrong)
	}
	for from, to := range map[string]string{
		"| `allreduce/tree` | 1..64 | 1..2^31 |":  "| `allreduce/tree` | 1..64 | all |",
		"| `allreduce/ring` | 1..64 |":            "| `allreduce/ring` | 1..65 |",
		"| `allreduce/ring` | 1..64 | all | comm": "| `allreduce/ring` | 1..64 | all | rank order and comm",
		"| `allreduce/tree` |":                    "| `allreduce/bush` |",
	} {
		changed := strings.Replace(page, from, to, 1)
		if wrong, _ := wrongRows(t, changed); len(wrong) != 1 || changed == page {
			t.Errorf("with %q, these rows are wrong: %q", to, wrong)
		}
	}
}

// proofRow is a row about an algorithm: its name, the sizes of schedules and of the induction, and the order of
// operands.
var proofRow = regexp.MustCompile("(?m)^\\|[^|]*\\| `([a-z]+/[^`]+)` \\| ([^|]*) \\| ([^|]*) \\| ([^|]*) \\|$")

// wrongRows returns the rows of a page that are not so, and how many there are in all.
func wrongRows(t *testing.T, page string) (wrong []string, all int) {
	records, err := smtproof.Records()
	if err != nil {
		t.Fatal(err)
	}
	rows := proofRow.FindAllStringSubmatch(page, -1)
	for _, row := range rows {
		sizes, order := "-", "rank order, one tree"
		i := slices.IndexFunc(catalogue.Algorithms(), func(a gen.Algorithm) bool { return a.FullName() == row[1] })
		if i >= 0 && catalogue.Algorithms()[i].Requires.Commutative {
			order = "commutative op, one tree"
		}
		for _, r := range records {
			if r.Algorithm == row[1] {
				sizes = r.Sizes
			}
		}
		if i < 0 || row[2] != "1..64" || row[3] != sizes || row[4] != order {
			wrong = append(wrong, row[0])
		}
	}
	return wrong, len(rows)
}
