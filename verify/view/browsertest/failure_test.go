package browsertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/view"
)

// changed returns the data of a ring's plan in which the first old is new.
func changed(t *testing.T, old, new string) *view.Data {
	t.Helper()
	plan := data(t, algorithm(t, "allreduce/ring"), 3).Plan
	if !strings.Contains(plan, old) {
		t.Fatalf("%q is not in the plan\n%s", old, plan)
	}
	d, err := view.OfPlan(strings.NewReader(strings.Replace(plan, old, new, 1)), spec.Primitives(), false)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestFailure is view (h): the wrong chunk is marked, with what was expected and what was found.
func TestFailure(t *testing.T) {
	d := changed(t, `"recv":"out[2]","from":2,"plus":"in[2]"`, `"recv":"out[2]","from":2`)
	x := newTab(t, 1300, 900)
	x.open(page(t, d), "")
	x.says("#verdict", "✗ Refuted")
	x.says("#failure", "expected")
	x.says("#failure .got", "is missing")
	x.has(0, "#matrix .cell.wrong")
	x.click("#show-failure")
	x.says("#narration", fmt.Sprintf("Step %d of %d", d.Rounds, d.Rounds))
	x.has(1, fmt.Sprintf(`#matrix .cell.wrong.selected[data-cell="%d"]`, d.Failure.Cells[0]))
	marked := eval[[]string](x, `[...new Set([...document.querySelectorAll("#ranks .cell.wrong.changed .cell-ground, " +
		"#ranks .cell.wrong.selected .cell-ground")].map((e) => getComputedStyle(e).stroke))]`)
	if red := eval[string](x, "getComputedStyle(document.querySelector('#failure')).borderTopColor"); len(marked) != 1 ||
		marked[0] != red {
		t.Errorf("wrong chunks that were chosen or written in the last step have frames of %q, want %q", marked, red)
	}
	for _, left := range stripes(x, "#ranks .cell.wrong") {
		if len(left) != 2 {
			t.Errorf("a chunk with the data of %d ranks is marked as wrong", len(left))
		}
	}
	x.has(3, "#ranks .cell.wrong")
	x.says("#narration", "Every rank holds 2 of 3 finished chunks.")
	x.has(1, "#spec li.broken")
	x.says("#spec li.broken", "✗")
	x.says("#tree-title", "the finished reduction of ranks 1, 2")
	x.picture("failure")
}

// TestDeadlock: a receive without its message is marked where it waits.
func TestDeadlock(t *testing.T) {
	d := changed(t, `{"send":"in[0]","to":1},`, "")
	x := newTab(t, 1300, 900)
	x.open(page(t, d), "")
	x.says("#failure", "a receive has no message, or a message has no receive")
	x.says("#failure", "rank 1 waits")
	marks := eval[[]int](x, `(() => {
		const lanes = [...document.querySelectorAll("#time .lane")].map((l) => l.y1.baseVal.value);
		return [...document.querySelectorAll("#time .stuck-mark")].map((m) => lanes.indexOf(m.y.baseVal[0].value - 5));
	})()`)
	if !slices.Equal(marks, []int{d.Stuck[0].Rank}) {
		t.Errorf("marked are the ranks %v, and %v waits", marks, d.Stuck)
	}
	x.click("#last")
	x.picture("stuck")
}
