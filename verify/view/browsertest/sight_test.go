package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestPhone: on the width of a phone nothing but pictures has to be scrolled sideways, and each of these by itself.
func TestPhone(t *testing.T) {
	x := newTab(t, 1300, 900)
	x.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile))
	for name, size := range map[string]int{"allreduce/ring": 8, "alltoall/bruck": 8, "broadcast/binomial": 16} {
		x.open(page(t, data(t, algorithm(t, name), size)), "#step=2")
		if wide := eval[int](x, "document.documentElement.scrollWidth"); wide > 360 {
			t.Errorf("%s is %d wide", name, wide)
		}
		if high := eval[float64](x, "document.querySelector('#ranks svg').getBoundingClientRect().height"); high < 90 {
			t.Errorf("the ranks of %s are %.0f high", name, high)
		}
	}
	x.picture("phone")
	x.open(page(t, data(t, algorithm(t, "allreduce/ring"), 4)), "#step=2")
	small := eval[[]string](x, `[...document.querySelectorAll("#ranks text, #plot text")].filter((t) =>
		parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a < 8.5).map((t) => t.textContent)`)
	if len(small) > 0 {
		t.Errorf("too small to be read: %q", small)
	}
}

// TestContrast: in light and dark, texts have the contrast that WCAG asks for.
func TestContrast(t *testing.T) {
	x := newTab(t, 1300, 900)
	file := page(t, data(t, algorithm(t, "allreduce/ring"), 4))
	grounds := map[string]bool{}
	for _, theme := range []string{"light", "dark"} {
		_, err := chromedp.Call(x.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
		if err != nil {
			t.Fatal(err)
		}
		x.open(file, "#step=6")
		for _, pair := range [][2]string{{"ink", "card"}, {"soft", "card"}, {"ink", "ground"}, {"soft", "ground"},
			{"good", "good-ground"}, {"bad", "bad-ground"}, {"ink", "good-ground"}, {"card", "accent"}} {
			if c := contrast(x, pair[0], pair[1]); c < 4.5 {
				t.Errorf("%s: %s on %s has contrast %.2f", theme, pair[0], pair[1], c)
			}
		}
		for name, size := range map[string]int{"allreduce/ring": 8, "allgather/ring": 12, "alltoall/direct": 16} {
			x.open(page(t, data(t, algorithm(t, name), size)), "#step=1")
			if low := lowestContrast(x); low < 4.5 {
				t.Errorf("%s: a number in a chunk of %s has contrast %.2f", theme, name, low)
			}
		}
		grounds[eval[string](x, "getComputedStyle(document.body).backgroundColor")] = true
		x.picture(theme)
	}
	if len(grounds) != 2 {
		t.Errorf("light and dark have one ground: %v", grounds)
	}
}

// lowestContrast returns the lowest contrast of a number in a chunk with the stripe that it is on, in the colours that
// the browser has worked out.
func lowestContrast(x *tab) float64 {
	return eval[float64](x, `Math.min(...[...document.querySelectorAll(".cell text")].filter((t) =>
		t.previousElementSibling && t.matches(".on-light, .on-dark")).map((t) => {
		const light = (e) => {
			const rgb = getComputedStyle(e).fill.match(/[\d.]+/g).slice(0, 3).map((v) => v / 255);
			const [r, g, b] = rgb.map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
			return 0.2126 * r + 0.7152 * g + 0.0722 * b;
		};
		const [high, low] = [light(t), light(t.previousElementSibling)].sort((p, q) => q - p);
		return (high + 0.05) / (low + 0.05);
	}))`)
}

// contrast returns that of two colours of the page's style, as WCAG defines it.
func contrast(x *tab, a, b string) float64 {
	return eval[float64](x, fmt.Sprintf(`(() => {
		const light = (name) => {
			const probe = document.createElement("i");
			probe.style.color = "var(--" + name + ")";
			document.body.append(probe);
			const rgb = getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map((v) => v / 255);
			probe.remove();
			const [r, g, b] = rgb.map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
			return 0.2126 * r + 0.7152 * g + 0.0722 * b;
		};
		const [high, low] = [light(%q), light(%q)].sort((p, q) => q - p);
		return (high + 0.05) / (low + 0.05);
	})()`, a, b))
}

// TestReaders: what a screen reader says is there: names of pictures and buttons, and sentences that are announced.
func TestReaders(t *testing.T) {
	x := ring(t, "#step=2")
	unnamed := eval[[]string](x, `[...document.querySelectorAll("button, input, select, svg[role=img]")].filter((e) =>
		!(e.getAttribute("aria-label") || e.textContent.trim() || (e.labels && e.labels.length)) && !e.closest("[hidden]"))
		.map((e) => e.outerHTML.slice(0, 80))`)
	if len(unnamed) > 0 {
		t.Errorf("without a name: %q", unnamed)
	}
	for _, id := range []string{"narration", "tree-title", "cost-words"} {
		if !eval[bool](x, fmt.Sprintf("document.getElementById(%q).getAttribute('aria-live') === 'polite'", id)) {
			t.Errorf("%s is not announced", id)
		}
	}
	if lang := eval[string](x, "document.documentElement.lang"); lang != "en" {
		t.Errorf("the page is in %q", lang)
	}
}
