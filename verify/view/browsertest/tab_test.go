package browsertest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/verify/view"
	"github.com/collgen/collgen/verify/view/viewer"
)

// limit is how long a test waits for its browser. It is not measured: what hangs is to end.
const limit = 10 * time.Minute

// browsers are the names of a browser that tests may use.
var browsers = []string{"chromium", "chromium-browser", "google-chrome"}

// tab is a page in a browser that reaches no network. What the page does wrong fails the test.
type tab struct {
	*testing.T
	ctx  context.Context
	from string // the address of a server of the test, which pages may load; "": none

	mu     sync.Mutex
	faults []string
}

// newTab starts a browser of its own, or leaves the test out where there is none.
func newTab(t *testing.T, width, height int) *tab {
	t.Helper()
	path := ""
	for _, name := range browsers {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		t.Skip("left out, because chromium is not installed here: what the page does in a browser; make deps installs it")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WSURLReadTimeout(limit),
		chromedp.WindowSize(width, height), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	x := &tab{T: t}
	x.ctx, cancel = chromedp.NewContext(ctx, chromedp.WithListener(x.watch))
	t.Cleanup(cancel)
	x.do()
	if _, err := chromedp.Call(x.ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.report)
	return x
}

// watch notes exceptions, messages of errors, and requests to anywhere but files and the page itself.
func (x *tab) watch(event any) {
	fault := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		fault = "exception: " + e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			fault += ", " + x.Description
		}
	case *log.EventEntryAdded: // also of what the page's policy forbids
		if e.Entry.Level == "error" {
			fault = "the browser's log: " + e.Entry.Text
		}
	case *network.EventRequestWillBeSent:
		scheme, _, _ := strings.Cut(e.Request.URL, ":")
		if !slices.Contains([]string{"file", "blob", "data"}, scheme) &&
			(x.from == "" || !strings.HasPrefix(e.Request.URL, x.from+"/")) {
			fault = "request to " + e.Request.URL
		}
	}
	if fault != "" {
		x.mu.Lock()
		x.faults = append(x.faults, fault)
		x.mu.Unlock()
	}
}

func (x *tab) report() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, f := range x.faults {
		x.Error(f)
	}
}

func (x *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	x.Helper()
	if err := chromedp.Do(x.ctx, actions...); err != nil {
		x.Fatal(err)
	}
}

// open shows a page that was written before, from a moment on: #step=3, or nothing.
func (x *tab) open(file, moment string) {
	x.Helper()
	x.do(chromedp.Navigate("file://"+file+moment), chromedp.WaitReady(chromedp.CSS("#door")))
	x.until("document.querySelector('#door').childElementCount > 0") // data that are packed take a moment
}

func (x *tab) click(selector string) {
	x.Helper()
	x.do(chromedp.Click(chromedp.CSS(selector)))
}

func (x *tab) press(keys string) {
	x.Helper()
	x.do(chromedp.KeyEvent(keys))
}

// eval returns what an expression in JavaScript is.
func eval[T any](x *tab, expression string) T {
	x.Helper()
	return run(x, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

func run[T any](x *tab, action chromedp.Action[T]) T {
	x.Helper()
	v, err := chromedp.Run(x.ctx, action)
	if err != nil {
		x.Fatal(err)
	}
	return v
}

func (x *tab) text(selector string) string {
	x.Helper()
	return eval[string](x, fmt.Sprintf("document.querySelector(%q).textContent", selector))
}

func (x *tab) count(selector string) int {
	x.Helper()
	return eval[int](x, fmt.Sprintf("document.querySelectorAll(%q).length", selector))
}

// until waits until an expression in JavaScript is true.
func (x *tab) until(expression string) {
	x.Helper()
	run(x, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(limit)))
}

// arrives waits until the page has come to rest at a step of so many.
func (x *tab) arrives(step, of int) {
	x.Helper()
	const at = `document.querySelector("#narration").textContent.includes("Step %d of %d.") &&
		document.querySelector("#seek").value === "%[1]d"`
	x.until(fmt.Sprintf(at, step, of))
}

// says requires that an element has words in it.
func (x *tab) says(selector, words string) {
	x.Helper()
	if got := x.text(selector); !strings.Contains(got, words) {
		x.Errorf("%s says %q, want %q", selector, got, words)
	}
}

// has requires so many elements.
func (x *tab) has(n int, selector string) {
	x.Helper()
	if got := x.count(selector); got != n {
		x.Errorf("%d elements are %s, want %d", got, selector, n)
	}
}

// picture keeps a picture of the page in the folder that COLLGEN_PICTURES names, for people to look at.
func (x *tab) picture(name string) {
	x.Helper()
	dir := os.Getenv("COLLGEN_PICTURES")
	if dir == "" {
		return
	}
	png := run(x, chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o666); err != nil {
		x.Fatal(err)
	}
}

// The keys that tests press.
const (
	right, left, home, end = kb.ArrowRight, kb.ArrowLeft, kb.Home, kb.End
)

// algorithm returns one of the catalogue.
func algorithm(t *testing.T, name string) *gen.Algorithm {
	t.Helper()
	for _, a := range catalogue.Algorithms() {
		if a.FullName() == name {
			return &a
		}
	}
	t.Fatalf("there is no algorithm %s", name)
	return nil
}

// data returns what a page shows of an algorithm.
func data(t *testing.T, a *gen.Algorithm, size int) *view.Data {
	t.Helper()
	d, err := view.Of(a, gen.Params{Size: size, Depth: 2, Peer: 1}, false)
	if err != nil {
		t.Fatal(err)
	}
	bound, source, _ := catalogue.LowerBound(a.Primitive)
	var others []gen.Algorithm
	for _, b := range catalogue.Algorithms() {
		if b.Primitive.Name == a.Primitive.Name {
			others = append(others, b)
		}
	}
	d.Costs = view.NewCosts(a, gen.Params{Size: size, Depth: d.Depth}, others, bound.Cost, bound.Chunks, source)
	return d
}

// page writes the page that shows d, and returns its file.
func page(t *testing.T, d *view.Data) string {
	t.Helper()
	return pageWith(t, d, nil)
}

func pageWith(t *testing.T, d *view.Data, c *viewer.Checker) string {
	t.Helper()
	var b bytes.Buffer
	if err := viewer.Write(&b, d, c); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}
