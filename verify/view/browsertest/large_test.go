package browsertest

import (
	"slices"
	"testing"
)

// TestLarge: the page of 64 ranks with 64 chunks each steps and plays. Its frames are counted, and their times are in
// the log.
func TestLarge(t *testing.T) {
	x := newTab(t, 1300, 900)
	x.open(page(t, data(t, algorithm(t, "allreduce/ring"), 64)), "")
	x.has(64*64*2, "#matrix .cell")
	x.has(64, "#ranks .rank")
	x.says("#total", "63 + 63 = 126 steps in all, which is 2 (n − 1).")
	x.do(setValue("#speed", "4"))
	frames := eval[[]float64](x, `new Promise((done) => {
		const times = [];
		let last = performance.now();
		const look = (now) => {
			times.push(now - last);
			last = now;
			if (document.querySelector("#seek").value < 12) requestAnimationFrame(look);
			else { document.querySelector("#play").click(); done(times); }
		};
		document.querySelector("#play").click();
		requestAnimationFrame(look);
	})`)
	slices.Sort(frames)
	if len(frames) < 12 {
		t.Errorf("12 steps had %d frames", len(frames))
	}
	t.Logf("%d frames in 12 steps: median %.1f ms, 95%% within %.1f ms, the longest %.1f ms", len(frames),
		frames[len(frames)/2], frames[len(frames)*95/100], frames[len(frames)-1])
	x.press(end)
	x.says("#narration", "Every rank holds 64 of 64 finished chunks.")
	x.picture("large")
}

// TestTooLarge: of 1,024 ranks the page has the diagram alone, and says why.
func TestTooLarge(t *testing.T) {
	x := newTab(t, 1300, 900)
	x.open(page(t, data(t, algorithm(t, "allreduce/ring"), 1024)), "#step=3")
	x.says("#time-hint", "too many to show what every chunk contains")
	x.says("#time-hint", "the first 48 of 1024 ranks in their first 64 steps")
	for _, id := range []string{"ranks-card", "matrix-card", "spec-card", "tree-card"} {
		if !eval[bool](x, "document.getElementById('"+id+"').hidden") {
			t.Errorf("%s is shown", id)
		}
	}
	x.has(47, "#time .now line.message") // the 48th rank's message leaves the picture
	x.press(right)
	x.until("document.querySelector('#seek').value === '4'")
	x.says("#verdict", "Not proved")
	x.picture("too-large")
}
