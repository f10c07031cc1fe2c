package viewer

import (
	"bytes"
	"html"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/collgen/collgen/spec"
)

// TestPatterns: each of the eight patterns has its primitive, and a text in both languages.
func TestPatterns(t *testing.T) {
	list, err := patterns()
	if err != nil || len(list) != 8 {
		t.Fatalf("%d patterns, %v", len(list), err)
	}
	for _, p := range list {
		known := slices.ContainsFunc(spec.Primitives(), func(q spec.Primitive) bool { return q.Name == p.Primitive })
		han := func(s string) (n int) {
			for _, r := range s {
				if unicode.Is(unicode.Han, r) {
					n++
				}
			}
			return n
		}
		if !known || len(p.En) < 200 || han(p.Zh) < 50 || han(p.Chinese) == 0 || han(p.En) > 0 {
			t.Errorf("%+v", p)
		}
	}
}

// TestSite: names are text, patterns come first, and the policy has the hash of the style.
func TestSite(t *testing.T) {
	s := &Site{Ranks: 4, Primitives: []SitePrimitive{
		{Name: "Mine", Doc: "<script>alert(1)</script>", Algorithms: []SiteAlgorithm{{Name: `"><img src=x>`, File: "mine-x"}}},
		{Name: "AllReduce", Bound: &SiteCost{Alpha: "log", Gamma: "0"}}, {Name: "Broadcast"},
	}}
	var b bytes.Buffer
	if err := WriteSite(&b, s); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if strings.Contains(page, "<script") || strings.Contains(page, "<img src=x") {
		t.Error("markup of a name is markup of the page")
	}
	var at []int
	for _, name := range []string{"Broadcast", "AllReduce", "Mine"} {
		at = append(at, strings.Index(page, `<section class="card" id="`+name+`">`))
	}
	if at[0] < 0 || !slices.IsSorted(at) {
		t.Errorf("primitives are at %v", at)
	}
	style := page[strings.Index(page, "<style>")+len("<style>") : strings.Index(page, "</style>")]
	if !strings.Contains(html.UnescapeString(page), "style-src "+hash(style)) {
		t.Error("the policy has no hash of the style")
	}
}
