package browsertest

import (
	"testing"

	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/verify/view"
)

// TestAll: the pages of all algorithms can be stepped through, and in the end all clauses are green.
func TestAll(t *testing.T) {
	x := newTab(t, 1300, 900)
	for _, a := range catalogue.Algorithms() {
		calls := a.Calls(8, 2)
		d, err := view.Of(&a, calls[len(calls)/2], false)
		if err != nil {
			t.Fatal(err)
		}
		x.open(page(t, d), "")
		steps := eval[int](x, `(() => {
			let n = 0;
			for (; !document.querySelector("#last").disabled; n++) document.querySelector("#seek").value < n
				? document.querySelector("#last").click()
				: (document.querySelector("#seek").value = n + 1, document.querySelector("#seek").dispatchEvent(new Event("input")));
			return n;
		})()`)
		if steps != d.Rounds {
			t.Errorf("%s: %d steps, want %d", a.FullName(), steps, d.Rounds)
		}
		x.has(len(d.Clauses), "#spec li.holds")
		if t.Failed() {
			t.Fatal(a.FullName())
		}
	}
}
