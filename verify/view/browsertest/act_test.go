package browsertest

import (
	"fmt"

	"github.com/chromedp/chromedp"
)

// clickAt clicks on a point of a picture, in its own lengths.
func clickAt(selector string, x, y float64) chromedp.Action[chromedp.Void] {
	return evaluate(fmt.Sprintf(`(() => {
		const e = document.querySelector(%q), box = e.getBoundingClientRect(), size = e.viewBox.baseVal;
		e.dispatchEvent(new MouseEvent("click", { bubbles: true,
			clientX: box.left + %v * box.width / size.width, clientY: box.top + %v * box.height / size.height }));
	})()`, selector, x, y))
}

func focus(selector string) chromedp.Action[chromedp.Void] {
	return evaluate(fmt.Sprintf("document.querySelector(%q).focus()", selector))
}

// setValue does what a person does who moves a slider or picks from a list.
func setValue(selector, value string) chromedp.Action[chromedp.Void] {
	return evaluate(fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		e.value = %q;
		e.dispatchEvent(new Event("input", { bubbles: true }));
		e.dispatchEvent(new Event("change", { bubbles: true }));
	})()`, selector, value))
}

func evaluate(script string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](script)
}

// navigate opens a file of any kind.
func navigate(file string) chromedp.Action[chromedp.Void] { return chromedp.Navigate("file://" + file) }
