package browsertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/collgen/collgen/verify/view/picture"
	"github.com/collgen/collgen/verify/view/viewer"
)

// TestSite: the index shows the pictures, which move, and leads to the pages.
func TestSite(t *testing.T) {
	d := data(t, algorithm(t, "allreduce/ring"), 4)
	d.Go = "// This is <b>Go</b>."
	svg, err := picture.SVG(d)
	if err != nil {
		t.Fatal(err)
	}
	file := page(t, d)
	dir := filepath.Dir(file)
	index, err := os.Create(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	err = viewer.WriteSite(index, &viewer.Site{Ranks: 4, Primitives: []viewer.SitePrimitive{{Name: "AllReduce",
		Algorithms: []viewer.SiteAlgorithm{{Name: "allreduce/ring", File: "page", Source: strings.Repeat("long", 50)}}}}})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "page.svg"), []byte(svg), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	x := newTab(t, 1300, 900)
	x.do(navigate(index.Name()))
	x.until("document.querySelector('img').naturalWidth > 100")
	x.says("#AllReduce h2", "全局规约")
	x.picture("site")
	x.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile))
	if wide := eval[int](x, "document.documentElement.scrollWidth"); wide > 360 {
		t.Errorf("on a phone the index is %d wide", wide)
	}
	if _, err := chromedp.RunResponse(x.ctx, chromedp.Click(chromedp.CSS("h3 a"))); err != nil {
		t.Fatal(err)
	}
	x.says("#name", "allreduce/ring")
	x.says("#go", "This is <b>Go</b>.")
	x.has(0, "#go b")

	x.do(navigate(filepath.Join(dir, "page.svg")))
	moved := eval[bool](x, `new Promise((done) => {
		const e = [...document.querySelectorAll("g")].find((g) => g.querySelector(":scope > animateTransform"));
		const at = () => e.getCTM();
		document.documentElement.setCurrentTime(1.4);
		const first = at();
		document.documentElement.setCurrentTime(2.1);
		done(Math.hypot(at().e - first.e, at().f - first.f) > 20);
	})`)
	if !moved {
		t.Error("the first chunk does not move")
	}
}
