package browsertest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// importing is a page that imports a trace into the trace viewer of chrome://tracing, which Go's own tools have.
const importing = `<!doctype html><link rel="icon" href="data:,"><script src="/webcomponents.min.js"></script>
<link rel="import" href="/trace_viewer_full.html">`

// TestChromeTrace: the trace viewer of chrome://tracing imports what collrun trace -format chrome prints, without a
// warning, and has all calls in it.
func TestChromeTrace(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	viewer := filepath.Join(strings.TrimSpace(string(root)), "src/internal/trace/traceviewer/static")
	if _, err := os.Stat(filepath.Join(viewer, "trace_viewer_full.html")); err != nil {
		t.Skip("left out, because this Go comes without a trace viewer: ", err)
	}
	calls := timeline(t, "chrome")
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(viewer)))
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, importing)
	})
	mux.HandleFunc("/calls", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(calls) })
	server := httptest.NewServer(mux)
	defer server.Close()
	x := newTab(t, 1200, 800)
	x.from = server.URL
	x.do(chromedp.Navigate(server.URL + "/page"))
	x.until("typeof tr === 'object' && typeof tr.importer === 'object' && typeof tr.importer.Import === 'function'")
	imported := eval[map[string]any](x, `(async () => {
		const model = new tr.Model();
		await new tr.importer.Import(model).importTraces([await (await fetch("/calls")).text()]);
		const titles = {}, names = [];
		for (const p of model.getAllProcesses()) {
			names.push(p.name);
			for (const thread of Object.values(p.threads)) {
				for (const s of thread.sliceGroup.slices) titles[s.title] = (titles[s.title] || 0) + 1;
			}
		}
		return { titles, names: names.sort(), warnings: model.importWarnings.map((w) => w.message) };
	})()`)
	titles, _ := imported["titles"].(map[string]any)
	names, _ := imported["names"].([]any)
	warnings, _ := imported["warnings"].([]any)
	if len(titles) != 2 || titles["AllReduce"] != 3*49. || titles["Barrier"] != 3. || len(names) != 3 ||
		len(warnings) > 0 {
		t.Errorf("the viewer has %v of %v, and warns of %v", titles, names, warnings)
	}
	if len(names) == 0 || !strings.HasPrefix(names[0].(string), "rank 0 (h") {
		t.Errorf("its processes are %v", names)
	}
}
