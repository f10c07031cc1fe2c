package browsertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/collgen/collgen/verify/view/viewer"
)

// checker is the verifier for browsers, compiled once.
var checker = sync.OnceValues(func() (*viewer.Checker, error) {
	dir, err := os.MkdirTemp("", "collgen-checker-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "checker.wasm")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", file, "github.com/collgen/collgen/verify/view/checker")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	c := new(viewer.Checker)
	if c.Wasm, err = os.ReadFile(file); err != nil {
		return nil, err
	}
	c.Exec, err = os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	return c, err
})

// door opens a page that has the verifier, and returns the plan that is on it.
func door(t *testing.T) (*tab, string) {
	t.Helper()
	x := newTab(t, 1300, 900)
	c, err := checker()
	if err != nil {
		t.Fatal(err)
	}
	d := data(t, algorithm(t, "allreduce/ring"), 3)
	x.open(pageWith(t, d, c), "")
	return x, d.Plan
}

// choose has the page read a plan file, as if a person had chosen it.
func (x *tab) choose(plan string) {
	x.Helper()
	file := filepath.Join(x.TempDir(), "plan.json")
	if err := os.WriteFile(file, []byte(plan), 0o666); err != nil {
		x.Fatal(err)
	}
	x.forget()
	x.do(chromedp.SetUploadFiles(chromedp.CSS("#plan-file"), []string{file}))
}

// drop has the page get a plan file, as if a person had dropped it.
func (x *tab) drop(plan string) {
	x.Helper()
	x.forget()
	x.do(evaluate(fmt.Sprintf(`(() => {
		const files = new DataTransfer();
		files.items.add(new File([%q], "plan.json"));
		document.querySelector("#door .zone").dispatchEvent(new DragEvent("drop", { bubbles: true, dataTransfer: files }));
	})()`, plan)))
}

// forget takes away what the verifier said before: a file is read a while after it was dropped.
func (x *tab) forget() {
	x.Helper()
	x.do(evaluate(`document.querySelector("#plan-verdict").textContent = ""`))
}

// verdict waits for the verifier, and requires that it says words.
func (x *tab) verdict(words string) {
	x.Helper()
	x.until(`!["", "Proving …"].includes(document.querySelector("#plan-verdict").textContent)`)
	x.says("#plan-verdict", words)
}

// TestDoor is view (i): a right plan and a wrong one, dropped, chosen and written, and what is no plan.
func TestDoor(t *testing.T) {
	x, plan := door(t)
	x.drop(strings.Replace(plan, "allreduce/ring", "mine/ring", 1))
	x.verdict("✓ Proved")
	x.says("#name", "mine/ring")
	x.has(3, "#ranks .rank")
	x.says("#verdict", "✓ Proved")

	wrong := strings.Replace(plan, `"recv":"out[2]","from":2,"plus":"in[2]"`, `"recv":"out[2]","from":2`, 1)
	if wrong == plan {
		t.Fatalf("the plan has no such receive:\n%s", plan)
	}
	x.choose(wrong)
	x.verdict("✗ Refuted: a place does not hold what the primitive promises")
	x.says("#failure", "in0[2] is missing")
	x.has(1, "#matrix .cell.wrong.selected")
	x.picture("refuted")

	x.do(setValue("#plan", "{"))
	x.click("#plan-prove")
	x.verdict("This is no plan that can be shown: not a plan")
	x.do(setValue("#plan", plan))
	x.click("#plan-prove")
	x.verdict("✓ Proved")
	x.click("#plan-back")
	x.says("#name", "allreduce/ring")
	x.says("#plan-verdict", "")
}

// TestDoorHostile: names in a plan are text, and what a proof would take too long for can be stopped.
func TestDoorHostile(t *testing.T) {
	x, plan := door(t)
	const name = `<img src=x onerror=alert(1)></script><script>alert(2)</script>`
	x.drop(strings.Replace(plan, "allreduce/ring", strings.ReplaceAll(name, `"`, `\"`), 1))
	x.verdict("✓ Proved")
	if got := x.text("#name"); got != name {
		t.Errorf("the name is %q", got)
	}
	x.has(0, "img")
	x.drop(plan[:len(plan)-3])
	x.verdict("no plan")
	x.drop(strings.Replace(plan, `"size":3`, `"size":1000000000`, 1))
	x.verdict("size is 1000000000, and there are 3 ranks")
	x.do(evaluate(`document.querySelector("#plan-prove").click(); document.querySelector("#plan-stop").click()`))
	x.verdict("The proof was stopped.")
}

// TestNoDoor: a page without the verifier says so.
func TestNoDoor(t *testing.T) {
	x := ring(t, "")
	x.says("#door", "This page has no verifier in it.")
}
