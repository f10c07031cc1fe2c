package browsertest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/collgen/collgen/fast/trace"
)

// TestTimeline: the page of collrun trace draws the calls, and says what each of them is, by pointer and by keyboard.
func TestTimeline(t *testing.T) {
	page := timeline(t, "html")
	file := filepath.Join(t.TempDir(), "calls.html")
	if err := os.WriteFile(file, page, 0o600); err != nil {
		t.Fatal(err)
	}
	x := newTab(t, 1200, 800)
	x.do(chromedp.Navigate("file://"+file), chromedp.WaitReady(chromedp.CSS("#table tr")))
	if n := eval[int](x, "document.querySelectorAll('#table tr').length"); n != 1+150 {
		t.Errorf("the table has %d lines", n)
	}
	// The first bar of the second rank is under the pointer; between two bars there is nothing.
	about := func() string { return eval[string](x, "document.getElementById('about').textContent") }
	point := func(row int, ns float64) {
		place := eval[[]float64](x, fmt.Sprintf(`(() => {
			const box = chart.getBoundingClientRect();
			return [box.left + names + (%g - from) / (to - from) * (box.width - names), box.top + %d * high + 10];
		})()`, ns, row))
		x.do(chromedp.MouseClickXY(place[0], place[1]))
	}
	point(1, 40_000)
	if got := about(); !strings.HasPrefix(got, "rank 1, world, call 1: AllReduce ring sum float32 × 100") ||
		!strings.HasSuffix(got, ": done") {
		t.Errorf("the first bar is %q", got)
	}
	coloured := eval[bool](x, `(() => {
		const at = (ns, row) => [...chart.getContext("2d").getImageData((names + (ns - from) / (to - from) *
			(chart.clientWidth - names)) * devicePixelRatio, (row * high + 8) * devicePixelRatio, 1, 1).data];
		return at(40000, 0).join() === "0,114,178,255" && at(40000, 2).join() === "0,114,178,255" && at(91000, 0)[3] === 0;
	})()`)
	if !coloured {
		t.Error("a bar has another colour, or there is one where no call is")
	}
	before := eval[string](x, "document.getElementById('range').textContent")
	x.click("#in")
	if eval[string](x, "document.getElementById('range').textContent") == before {
		t.Error("it does not zoom")
	}
	for range 200 {
		x.press("n")
	}
	if got := about(); !strings.Contains(got, "rank 2, world, call 50: Barrier") || !strings.Contains(got, "rank died") {
		t.Errorf("the last call is %q", got)
	}
	if !eval[bool](x, "document.getElementById('about').className === 'bad'") {
		t.Error("a failure is not marked")
	}
	x.press(kb.ArrowLeft)
	x.press("a")
	if got := eval[string](x, "document.getElementById('range').textContent"); got != before {
		t.Errorf("it shows %s, not %s", got, before)
	}
	x.picture("timeline")
	x.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile))
	x.until("chart.clientWidth < 360")
	if wide := eval[int](x, "document.documentElement.scrollWidth"); wide > 360 {
		t.Errorf("on a phone it is %d wide", wide)
	}
	// What is written at the bottom does not overlap.
	overlaps := eval[bool](x, `(() => {
		const proto = CanvasRenderingContext2D.prototype, real = proto.fillText, spans = [];
		proto.fillText = function (words, x, y) {
			if (y > rows.length * high) spans.push([x, x + this.measureText(words).width]);
		};
		draw();
		proto.fillText = real;
		return spans.length < 2 || spans.some(([, end], i) => i + 1 < spans.length && end > spans[i + 1][0]);
	})()`)
	if overlaps {
		t.Error("on a phone the times overlap")
	}
}

// timeline returns what collrun trace prints of three ranks with 50 calls each.
func timeline(t *testing.T, format string) []byte {
	t.Helper()
	dir := t.TempDir()
	for rank := range 3 {
		job := "train-" + strings.Repeat("0", 60)
		of := trace.Trace{Header: trace.Header{Format: trace.Format, Rank: rank, Size: 3, Job: job, Host: "h",
			Origin: time.Unix(1000, 0), Written: 5e6, Reason: "on demand"}}
		for seq := range uint64(50) {
			e := trace.Entry{Comm: "world", ID: 1, Rank: rank, Size: 3, Seq: seq + 1, Primitive: "AllReduce", Algorithm: "ring",
				Op: "sum", Type: "float32", Count: 100, Peer: -1, Depth: 1, Start: int64(seq)*1e5 + int64(rank),
				State: trace.Done, End: int64(seq)*1e5 + 80_000}
			if seq == 49 {
				e.Primitive, e.State, e.Error = "Barrier", trace.Failed, "rank 2: rank died"
			}
			of.Entries = append(of.Entries, e)
		}
		var b bytes.Buffer
		if err := of.Write(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("rank-%d.jsonl", rank)), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.Command("go", "run", "./cmd/collrun", "trace", "-format", format, dir)
	run.Dir = "../../.."
	page, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	return page
}
