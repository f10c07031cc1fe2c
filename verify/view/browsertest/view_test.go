package browsertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// ring opens the page of a ring all-reduce of four ranks.
func ring(t *testing.T, moment string) *tab {
	t.Helper()
	x := newTab(t, 1300, 900)
	x.open(page(t, data(t, algorithm(t, "allreduce/ring"), 4)), moment)
	return x
}

// TestRanks is view (a): in a step each of the four ranks sends a chunk, and what arrives is in the receiver's box.
func TestRanks(t *testing.T) {
	x := ring(t, "")
	x.has(4, "#ranks .rank")
	x.has(16, "#ranks .rank .cell")
	x.has(0, "#ranks .token")
	stripes := "#ranks .rank .cell rect:not(.cell-ground)"
	x.has(16, stripes)
	x.click("#next")
	x.arrives(1, 6)
	x.until(fmt.Sprintf("document.querySelectorAll(%q).length === 20", stripes)) // four chunks have a second stripe
	x.has(4, "#ranks .token")
	x.has(4, "#ranks .flow")
	x.has(4, "#ranks .token .plus")
	x.picture("ring")
	moving := eval[bool](x, `(() => {
		const at = () => document.querySelector("#ranks .token").getAttribute("transform");
		document.querySelector("#next").click();
		return new Promise((done) => {
			const first = at();
			const look = () => at() === first ? requestAnimationFrame(look) : done(true);
			requestAnimationFrame(look);
		});
	})()`)
	if !moving {
		t.Error("the chunk does not move")
	}
}

// TestTime is view (b): a click on a column goes there.
func TestTime(t *testing.T) {
	x := ring(t, "")
	x.has(24, "#time line.message")
	x.has(12, "#time .reduced")
	x.do(clickAt("#time svg", 62+4.5*110, 60))
	x.says("#narration", "Step 5 of 6")
	x.has(4, "#time .now line.message")
	if got := eval[string](x, "location.hash"); !strings.HasPrefix(got, "#step=5") {
		t.Errorf("the address is %s", got)
	}
}

// TestMatrix is views (c) and (e): a click on a chunk chooses it, here and in the tree.
func TestMatrix(t *testing.T) {
	d := data(t, algorithm(t, "allreduce/ring"), 4)
	x := newTab(t, 1300, 900)
	x.open(page(t, d), "#step=6")
	x.has(32, "#matrix .cell")
	x.has(16, "#matrix .cell.full")
	chosen := fmt.Sprintf(`#matrix [data-cell="%d"]`, d.Buffers[1].Base[2]+3)
	x.click(chosen)
	x.has(1, chosen+".selected")
	x.says("#tree-title", "out[3] of rank 2 holds the finished reduction of all 4 ranks")
	x.has(4, "#tree .leaf")
	x.has(4, "#tree .join") // three reductions, and the end
	leaves := eval[[]string](x, "[...document.querySelectorAll('#tree g:has(> .leaf) text')].map((t) => t.textContent)")
	slices.Sort(leaves)
	if want := []string{"in0[3]", "in1[3]", "in2[3]", "in3[3]"}; !slices.Equal(leaves, want) {
		t.Errorf("the leaves are %v, want %v", leaves, want)
	}
	x.says("#tree-sum", "(in2[3] ⊕ (in1[3] ⊕ (in0[3] ⊕ in3[3]))). in2[3] is chunk 3 of what rank 2 passes in.")
	x.says("#tree-sum", "make 2 different sums of the same numbers")
	x.do(focus("#matrix svg:nth-of-type(2)"))
	x.press(right) // the last column, so it stays
	x.press(left)
	x.says("#tree-title", "out[2] of rank 2")
	x.click("#back")
	x.says("#narration", "Step 5 of 6")
	x.says("#tree-title", "After step 5, out[2] of rank 2")
}

// TestSpecification is view (d): a clause turns green when it holds, and not before.
func TestSpecification(t *testing.T) {
	x := ring(t, "#step=5")
	x.has(2, "#spec li")
	x.has(1, "#spec li.holds")
	x.says("#spec li", "○")
	x.says("#spec li", "holds on 0 of 4 ranks")
	x.click("#last")
	x.has(2, "#spec li.holds")
	x.says("#spec li", "✓")
	x.says("#spec li", "holds on 4 of 4 ranks")
	x.says("#phases", "Steps 1 to 3 (3 = n − 1, for n = 4 ranks)")
	x.says("#phases", "Why 3: at first a chunk has the data of 1 rank at most. "+
		"Each step adds that of one more rank, until it has that of all 4.")
	x.says("#phases", "Why 3: at first every rank has 1 of 4 finished chunks. "+
		"Each step brings it one more, until it has all 4.")
	x.says("#total", "3 + 3 = 6 steps in all, which is 2 (n − 1).")
}

// TestSteps is view (g): buttons, keys, the slider, speed and the address.
func TestSteps(t *testing.T) {
	x := ring(t, "#step=3")
	x.says("#narration", "Step 3 of 6")
	x.press(home)
	x.says("#narration", "Before the call")
	x.press(end)
	x.says("#narration", "Step 6 of 6")
	x.press(left)
	x.says("#narration", "Step 5 of 6")
	x.press(right)
	x.arrives(6, 6)
	x.do(setValue("#speed", "16"), setValue("#seek", "1"))
	x.says("#narration", "Step 1 of 6")
	x.press(" ")
	x.arrives(6, 6)
	x.click("#first")
	x.click("#play")
	x.arrives(6, 6)
	x.do(evaluate(`location.hash = "#step=2"`))
	x.arrives(2, 6)
	said := eval[string](x, "document.querySelector('#seek').getAttribute('aria-valuetext')")
	if said != "after step 2 of 6" {
		t.Errorf("the slider says %q", said)
	}
}

// TestHave: the root of a broadcast has the block from the start, and then twice as many have it after each step.
func TestHave(t *testing.T) {
	x := newTab(t, 1300, 900)
	x.open(page(t, data(t, algorithm(t, "broadcast/binomial"), 8)), "")
	x.says("#narration", "Rank 0 alone has data.")
	said := []string{"1 rank of 8 has", "2 ranks of 8 have", "4 ranks of 8 have", "Every rank holds 1 of 1"}
	for moment, words := range said {
		x.do(setValue("#seek", fmt.Sprint(moment)))
		x.says("#narration", words)
	}
	x.says("#total", "1 + 1 + 1 = 3 steps in all, which is log₂ n, for n = 8 ranks.")
}

// TestText: all steps are there as a table of text.
func TestText(t *testing.T) {
	x := ring(t, "")
	x.click("#text summary")
	x.until("document.querySelectorAll('#text tbody tr').length === 6")
	x.says("#text tbody", "rank 0 sends in[0] to rank 1, where it makes out[0] = in[0] ⊕ received")
	x.says("#text tbody", "rank 3 finishes out[0]")
	x.open(page(t, data(t, algorithm(t, "scan/chain"), 3)), "")
	x.click("#text summary")
	x.until("document.querySelectorAll('#text tbody tr').length > 0")
	x.says("#text tbody", "rank 0 sends in[0] to rank 1, where it makes out[0] = received ⊕ in[0]")
}

// TestCost is view (f): the time of this algorithm by hand, the curves, and the table, by bytes and by ranks.
func TestCost(t *testing.T) {
	x := ring(t, "")
	const mib = 20 // its logarithm
	x.do(setValue("#alpha", "1"), setValue("#beta", "1"), setValue("#gamma", "1"), setValue("#bytes", fmt.Sprint(mib)))
	// 6 × 10 µs + 1.5 × 2^20 / 10 GB/s + 0.75 × 2^20 / 10 GB/s = 60 + 157.3 + 78.6 µs
	x.says("#cost-words", "allreduce/ring with 4 ranks: 6·α + 1.5·D·β + 0.75·D·γ = 60 µs + 157 µs + 78.6 µs = 296 µs.")
	x.has(1, "#plot path.curve.this")
	x.has(1, "#plot path.curve.bound")
	x.has(1, "#plot text.name.this")
	x.do(evaluate(`document.querySelector("#cost-table tr.this").dispatchEvent(new Event("pointerenter"))`))
	x.has(1, "#plot path.curve.this.pointed")
	x.has(1, "#plot .pointed")
	x.says("#cost-table tr.this", "allreduce/ring")
	x.says("#cost-table tr.this", "2 * (size - 1)")
	first := "#cost-table tbody tr td"
	x.do(setValue("#bytes", "3"))
	fewest := x.text(first)
	x.do(setValue("#bytes", "33"))
	if most := x.text(first); fewest == most {
		t.Errorf("%s is the fastest for 8 bytes and for 8 GiB", most)
	}
	before := eval[string](x, "document.querySelector('#plot path.curve.this').getAttribute('d')")
	x.click("input[name=by][value=size]")
	if eval[string](x, "document.querySelector('#plot path.curve.this').getAttribute('d')") == before {
		t.Error("the curve by ranks is that by bytes")
	}
	x.do(setValue("#size", "18"))
	x.says("#cost-words", "allreduce/ring with 64 ranks: 126·α")
	x.picture("cost")
}

// TestChainCost compares with the formula of the tutorials for a chain of k ranks and S pieces: (S + k - 2)·N/(S·B).
func TestChainCost(t *testing.T) {
	x := newTab(t, 1300, 900)
	x.open(page(t, data(t, algorithm(t, "broadcast/chain"), 8)), "")
	x.do(setValue("#depth", "4"))                                             // of 16 pieces
	x.says("#cost-words", "broadcast/chain with 8 ranks: 22·α + 1.38·D·β = ") // (16 + 8 - 2) / 16 = 1.375
}
