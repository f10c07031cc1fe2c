package viewer

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/verify/view"
)

// write returns the page of a ring of three ranks with another name.
func write(t *testing.T, name string) (*view.Data, string) {
	t.Helper()
	d, err := view.Of(&catalogue.AllReduceRing, gen.Params{Size: 3, Depth: 1}, false)
	if err != nil {
		t.Fatal(err)
	}
	d.Name = name
	var b bytes.Buffer
	if err := Write(&b, d, nil); err != nil {
		t.Fatal(err)
	}
	return d, b.String()
}

// TestHostileName: a name is text, whatever is in it.
func TestHostileName(t *testing.T) {
	const name = `</script><script>alert("&amp;%SCRIPT%")</script><!-- `
	d, page := write(t, name)
	if n := strings.Count(page, "<script"); n != 2 || strings.Contains(page, "<script>alert") ||
		strings.Contains(page, "<!-- ") {
		t.Errorf("%d scripts", n)
	}
	data := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindStringSubmatch(page)
	var back view.Data
	if err := json.Unmarshal([]byte(data[1]), &back); err != nil || back.Name != name || back.Call != d.Call {
		t.Errorf("%v, %q", err, back.Name)
	}
}

// TestPolicy: the page's policy has the hashes of what is in it, and nothing that loads.
func TestPolicy(t *testing.T) {
	_, page := write(t, "allreduce/ring")
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)[1]
	for _, element := range []string{"style", "script"} {
		for _, m := range regexp.MustCompile("(?s)<"+element+">(.*?)</"+element+">").FindAllStringSubmatch(page, -1) {
			if !strings.Contains(policy, hash(m[1])) {
				t.Errorf("the policy has no hash of the %s", element)
			}
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") ||
		strings.Contains(policy, "http") {
		t.Error(policy)
	}
	for _, loads := range []string{"src=", "href=", "url(http", "@import", "fetch(", "XMLHttpRequest", "innerHTML"} {
		if strings.Contains(page, loads) {
			t.Errorf("the page has %s", loads)
		}
	}
}

// TestSize: a page is small.
func TestSize(t *testing.T) {
	if _, page := write(t, "allreduce/ring"); len(page) > 150_000 {
		t.Errorf("the page of three ranks has %d bytes", len(page))
	}
}
