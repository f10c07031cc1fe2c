package browsertest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/verify/view"
	"github.com/google/go-cmp/cmp"
)

// stripe is a stripe of a chunk as it is drawn: what is written on it, its colour, and its place from the left, in
// widths of a stripe.
type stripe struct {
	Text, Fill string
	At         int
}

// stripes returns those of the chunks that are drawn in elements, in their order.
func stripes(x *tab, selector string) [][]stripe {
	return eval[[][]stripe](x, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((g) =>
		[...g.querySelectorAll("rect:not(.cell-ground)")].map((r) => ({ Text: r.nextElementSibling.textContent,
			Fill: r.getAttribute("fill"), At: Math.round((r.x.baseVal.value - 1) / r.width.baseVal.value) })))`, selector))
}

// of returns the stripes of a node, by the colours of ranks.
func of(d *view.Data, node int, colours []string) []stripe {
	list := []stripe{}
	for _, r := range d.Ranks(node) {
		list = append(list, stripe{fmt.Sprint(r), colours[r], r})
	}
	return list
}

// TestContents: at each moment, all pictures show the contents that the data has, in chunks, tokens and arrows.
func TestContents(t *testing.T) {
	x := newTab(t, 1300, 900)
	for _, name := range []string{"allreduce/ring", "allreduce/recursive-doubling"} { // which overwrites what it sends
		contents(x, data(t, algorithm(t, name), 4))
	}
}

func contents(x *tab, d *view.Data) {
	x.open(page(x.T, d), "")
	var colours []string
	for rank, base := range d.Buffers[0].Base {
		first := stripes(x, fmt.Sprintf(`#matrix [data-cell="%d"]`, base))[0]
		if len(first) != 1 || first[0].Text != fmt.Sprint(rank) {
			x.Fatalf("the input of rank %d has %v", rank, first)
		}
		colours = append(colours, first[0].Fill)
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(colours)))); n != 4 {
		x.Errorf("four ranks have %d colours", n)
	}
	for moment := range d.Rounds + 1 {
		x.do(setValue("#seek", fmt.Sprint(moment)))
		cells := eval[[]int](x, `[...document.querySelectorAll("#matrix .cell")].map((g) => Number(g.dataset.cell))`)
		shown := stripes(x, "#matrix .cell")
		for i, cell := range cells {
			if diff := cmp.Diff(of(d, d.At(cell, moment), colours), shown[i]); diff != "" {
				x.Errorf("after step %d, cell %d: %s", moment, cell, diff)
			}
		}
		changed := []int{}
		for w := range slices.Chunk(d.Writes, 3) {
			if w[0] == moment-1 && !slices.Contains(changed, w[1]) {
				changed = append(changed, w[1])
			}
		}
		slices.Sort(changed)
		marked := eval[[]int](x, `[...document.querySelectorAll("#matrix .cell.changed")].map((g) => Number(g.dataset.cell))`)
		slices.Sort(marked)
		if !slices.Equal(marked, changed) {
			x.Errorf("step %d has changed %v, marked are %v", moment, changed, marked)
		}
		if moment > 0 {
			tokens(x, d, moment-1, colours)
			arrows(x, d, moment-1)
		}
	}
}

// tokens checks the chunks that move in a round: what they have, their names, and from where to where they go.
func tokens(x *tab, d *view.Data, round int, colours []string) {
	x.Helper()
	shown := stripes(x, "#ranks .token > .cell")
	names := eval[[]string](x, `[...document.querySelectorAll("#ranks .token .chunk")].map((e) => e.textContent)`)
	// By message, the ranks whose boxes are the nearest to where its arrow begins and ends.
	ends := eval[[][]int](x, `[...document.querySelectorAll("#ranks .flow")].map((path) => {
		const boxes = [...document.querySelectorAll("#ranks .rank .box")].map((b) => b.getBoundingClientRect());
		return [0, path.getTotalLength()].map((at) => {
			const p = path.getPointAtLength(at).matrixTransform(path.getScreenCTM());
			const far = boxes.map((b) => Math.hypot(b.x + b.width / 2 - p.x, b.y + b.height / 2 - p.y));
			return far.indexOf(Math.min(...far));
		});
	})`)
	for i, m := range d.Sends(round) {
		if diff := cmp.Diff(of(d, d.At(m.Cell, m.Sent), colours), shown[i]); diff != "" {
			x.Errorf("step %d, the token of rank %d: %s", round+1, m.From, diff)
		}
		in := slices.IndexFunc(d.Buffers, func(b view.Buffer) bool {
			return len(b.Base) > 0 && m.Cell >= b.Base[m.From] && m.Cell < b.Base[m.From]+b.Len[m.From]
		})
		if want := fmt.Sprintf("chunk %d", m.Cell-d.Buffers[in].Base[m.From]); d.Chunks > 1 && names[i] != want {
			x.Errorf("step %d, the token of rank %d is called %s, want %s", round+1, m.From, names[i], want)
		}
		if !slices.Equal(ends[i], []int{m.From, m.To}) {
			x.Errorf("step %d, the token of rank %d goes from and to %v, want %d", round+1, m.From, ends[i], m.To)
		}
	}
}

// arrows checks the messages of a round in the diagram of messages over time.
func arrows(x *tab, d *view.Data, round int) {
	x.Helper()
	got := eval[[][]int](x, `(() => {
		const lanes = [...document.querySelectorAll("#time .lane")].map((l) => l.y1.baseVal.value);
		return [...document.querySelectorAll("#time .now .message")].map((m) =>
			[lanes.indexOf(m.y1.baseVal.value), lanes.indexOf(m.y2.baseVal.value)]);
	})()`)
	var want [][]int
	for _, m := range d.Sends(round) {
		want = append(want, []int{m.From, m.To})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		x.Errorf("step %d, arrows: %s", round+1, diff)
	}
}

// TestChunkNumbers: the chunks of a rank are numbered in their order.
func TestChunkNumbers(t *testing.T) {
	x := ring(t, "")
	got := eval[[]string](x, `[...document.querySelectorAll("#ranks .rank:first-child .chunk")].map((e) => e.textContent)`)
	if want := []string{"0", "1", "2", "3"}; !slices.Equal(got, want) {
		t.Errorf("chunks have the numbers %v", got)
	}
}

// TestTreeColours: a leaf of the tree has the colour of its rank.
func TestTreeColours(t *testing.T) {
	d := data(t, algorithm(t, "allreduce/ring"), 5)
	x := newTab(t, 1300, 900)
	x.open(page(t, d), "#step=8")
	leaves := eval[map[string]string](x, `Object.fromEntries([...document.querySelectorAll("#tree .leaf")].map((l) =>
		[l.nextElementSibling.textContent, l.getAttribute("fill")]))`)
	for rank, base := range d.Buffers[0].Base {
		want := stripes(x, fmt.Sprintf(`#matrix [data-cell="%d"]`, base))[0][0].Fill
		if got := leaves[fmt.Sprintf("in%d[0]", rank)]; got != want {
			t.Errorf("the leaf of rank %d is %q, want %q", rank, got, want)
		}
	}
	var sum float32 // with four ranks, that in the order from the last to the first is the same
	for q := range 5 {
		sum += 1 / float32(q+3)
	}
	const inOrder = "in the order of ranks gives "
	for chunk := range 5 {
		x.click(fmt.Sprintf(`#matrix [data-cell="%d"]`, d.Buffers[1].Base[0]+chunk))
		words, want := x.text("#tree-sum"), fmt.Sprintf("%.9g", sum)
		same := strings.Contains(words, "this tree gives "+want+",") && strings.Contains(words, inOrder+"the same")
		if !same && !strings.Contains(words, inOrder+want) {
			t.Errorf("the sum in the order of ranks, %s, is not in %q", want, words)
		}
	}
}

// TestCurveNames: each curve has its name beside it, tied to its end, and no name lies over another one.
func TestCurveNames(t *testing.T) {
	x := ring(t, "")
	for _, by := range []string{"bytes", "size"} {
		x.click("input[name=by][value=" + by + "]")
		ends := eval[map[string][2]float64](x, `Object.fromEntries([...document.querySelectorAll("#plot path.curve")].map((p) =>
			[p.textContent.split("/").at(-1), p.getAttribute("d").split(/[ML]/).at(-1).split(" ").map(Number)]))`)
		if len(ends) < 10 {
			t.Fatalf("by %s: %d curves", by, len(ends))
		}
		type name struct {
			Name string
			Tie  [2]float64 // where its line ends at a curve
			Y    float64
		}
		names := eval[[]name](x, `[...document.querySelectorAll("#plot text.name")].map((e) => ({ Name: e.textContent, Y: +e.getAttribute("y"),
			Tie: [e.previousElementSibling.x1.baseVal.value, e.previousElementSibling.y1.baseVal.value] }))`)
		if len(names) != len(ends) {
			t.Errorf("by %s: %d curves have %d names", by, len(ends), len(names))
		}
		for i, n := range names {
			if end := ends[n.Name]; math.Hypot(n.Tie[0]-end[0], n.Tie[1]-end[1]) > 0.1 {
				t.Errorf("by %s: %s is tied to %v, its curve ends at %v", by, n.Name, n.Tie, end)
			}
			if i > 0 && n.Y-names[i-1].Y < 12 {
				t.Errorf("by %s: %s lies over %s", by, n.Name, names[i-1].Name)
			}
		}
		if !eval[bool](x, `(() => { const plot = document.querySelector("#plot svg").getBoundingClientRect();
			return [...document.querySelectorAll("#plot text.name")].every((e) => e.getBoundingClientRect().right <= plot.right); })()`) {
			t.Errorf("by %s: a name is cut off", by)
		}
		x.do(evaluate(`document.querySelector("#plot text.name.this").dispatchEvent(new Event("pointerenter"))`))
		x.has(1, "#plot path.curve.this.pointed")
	}
}

// TestCurves: the curves, by bytes and by ranks, are at the times that the table has; so is the ratio to the bound.
func TestCurves(t *testing.T) {
	x := ring(t, "")
	for _, by := range []string{"bytes", "size"} {
		x.click("input[name=by][value=" + by + "]")
		for _, size := range []string{"2", "7", "16"} {
			x.do(setValue("#size", size))
			// The logarithm of the time at which the curve is, by the lines of the grid.
			at := eval[float64](x, `(() => {
				const units = { ns: -9, "µs": -6, ms: -3, s: 0 };
				const ticks = [...document.querySelectorAll("#plot .tick")].map((l) => {
					const [n, unit] = l.nextElementSibling.textContent.split(" ");
					return [l.y1.baseVal.value, Math.log10(n) + units[unit]];
				});
				const here = document.querySelector("#plot .here").x1.baseVal.value;
				const points = document.querySelector("#plot path.curve.this").getAttribute("d").slice(1).split("L").map((p) =>
					p.split(" ").map(Number)), y = points.find((p) => Math.abs(p[0] - here) < 0.1)[1];
				const [[y0, t0], [y1, t1]] = ticks;
				return t0 + ((y - y0) / (y1 - y0)) * (t1 - t0);
			})()`)
			row := eval[[]string](x, `[...document.querySelectorAll("#cost-table tr.this td")].map((e) => e.textContent)`)
			bound := eval[string](x, `document.querySelector("#cost-table tbody tr:last-child .number").textContent`)
			if time := seconds(t, row[1]); math.Abs(at-math.Log10(time)) > 0.02 {
				t.Errorf("by %s, size %s: the curve is at %.3g s, and the table says %s", by, size, math.Pow(10, at), row[1])
			}
			var ratio float64
			if _, err := fmt.Sscanf(row[2], "%g", &ratio); err != nil ||
				math.Abs(ratio/(seconds(t, row[1])/seconds(t, bound))-1) > 0.02 {
				t.Errorf("%s is %s of the bound, %s", row[1], row[2], bound)
			}
		}
	}
}

// seconds reads a time such as "3 ms".
func seconds(t *testing.T, words string) float64 {
	t.Helper()
	var n float64
	var unit string
	if _, err := fmt.Sscan(words, &n, &unit); err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	return n * map[string]float64{"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1}[unit]
}

// TestDots: the ranks of a large schedule are circles, whose area is filled as far as they have their results.
func TestDots(t *testing.T) {
	x := newTab(t, 1300, 900)
	x.open(page(t, data(t, algorithm(t, "allreduce/ring"), 20)), "")
	for moment, done := range map[int]float64{0: 0, 18: 0, 19: 1, 29: 11, 38: 20} { // of 20 chunks
		x.do(setValue("#seek", fmt.Sprint(moment)))
		parts := eval[[]float64](x, `[...document.querySelectorAll("#ranks .dot-part")].map((p) =>
			(p.r.baseVal.value / p.previousElementSibling.r.baseVal.value) ** 2)`)
		if len(parts) != 20 {
			t.Fatalf("%d circles", len(parts))
		}
		for rank, part := range parts {
			if math.Abs(part-done/20) > 1e-6 {
				t.Errorf("after step %d, rank %d has %.3f of its result, want %v of 20", moment, rank, part, done)
			}
		}
	}
}
