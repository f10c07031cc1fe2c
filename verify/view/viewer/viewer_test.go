package viewer

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/verify/view"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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

// TestSize: a page is small, also one of 64 ranks.
func TestSize(t *testing.T) {
	if _, page := write(t, "allreduce/ring"); len(page) > 150_000 {
		t.Errorf("the page of three ranks has %d bytes", len(page))
	}
	for _, a := range []*gen.Algorithm{&catalogue.AllReduceRing, &catalogue.AllToAllBruck} {
		d, err := view.Of(a, gen.Params{Size: 64, Depth: 1}, false)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := Write(&b, d, nil); err != nil {
			t.Fatal(err)
		}
		if b.Len() > 200_000 {
			t.Errorf("the page of %s for 64 ranks has %d bytes", d.Name, b.Len())
		}
		d.Plan = "" // the page does not need it
		if diff := cmp.Diff(d, unpacked(t, b.String()), cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	}
}

// unpacked returns the data of a page that has them packed.
func unpacked(t *testing.T, page string) *view.Data {
	t.Helper()
	text := regexp.MustCompile(`id="packed">(.*?)</script>`).FindStringSubmatch(page)
	if text == nil {
		t.Fatal("no data are packed")
	}
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text[1])))
	if err != nil {
		t.Fatal(err)
	}
	var d view.Data
	if err := json.NewDecoder(z).Decode(&d); err != nil {
		t.Fatal(err)
	}
	sum := func(list []int, record int) {
		for i := record; i < len(list); i++ {
			list[i] += list[i-record]
		}
	}
	sum(d.Messages, 12)
	sum(d.Writes, 3)
	sum(d.Inner, 2)
	sum(d.SetOf, 1)
	for _, list := range d.Held {
		sum(list, 2)
	}
	return &d
}
