package viewer

import (
	"encoding/json"
	"html/template"
	"io"
	"slices"

	"github.com/collgen/collgen/spec"
)

// Site is what an index of primitives and algorithms says.
type Site struct {
	Ranks      int // that pictures have where they can
	Primitives []SitePrimitive
}

// SitePrimitive is a primitive with its algorithms.
type SitePrimitive struct {
	Name, Doc  string
	Promises   []spec.Condition
	Bound      *SiteCost // nil: nothing is known
	Algorithms []SiteAlgorithm
}

// SiteCost is a cost as formulas; empty where nothing is declared.
type SiteCost struct{ Alpha, Beta, Gamma, Chunks string }

// SiteAlgorithm is an algorithm. Its page is File.html, and its picture File.svg.
type SiteAlgorithm struct {
	Name, File, Call, Doc, Source, Requires, Proved string
	SiteCost
}

// pattern is what the index says of one of the patterns that tutorials have, in two languages.
type pattern struct{ Primitive, Chinese, En, Zh string }

// patterns returns them, the simplest first.
func patterns() (list []pattern, err error) {
	err = json.Unmarshal([]byte(joined([]string{"patterns.json"})), &list)
	return list, err
}

var sitePage = template.Must(template.New("site.html").Parse(joined([]string{"site.html"})))

// sitePrimitive is a SitePrimitive with what is said of its pattern.
type sitePrimitive struct {
	SitePrimitive
	Chinese, English, ChineseText string
}

// WriteSite writes the index. The primitives that tutorials explain come first.
func WriteSite(w io.Writer, s *Site) error {
	texts, err := patterns()
	if err != nil {
		return err
	}
	style := joined([]string{"view.css", "site.css"})
	page := struct {
		Style             template.CSS
		StyleHash         string
		Ranks, Algorithms int
		Primitives        []sitePrimitive
	}{Style: template.CSS(style), StyleHash: hash(style), Ranks: s.Ranks}
	place := func(name string) int {
		i := slices.IndexFunc(texts, func(t pattern) bool { return t.Primitive == name })
		return (i + len(texts) + 1) % (len(texts) + 1) // behind all where there is no text
	}
	for _, p := range s.Primitives {
		x := sitePrimitive{SitePrimitive: p}
		if i := place(p.Name); i < len(texts) {
			x.Chinese, x.English, x.ChineseText = texts[i].Chinese, texts[i].En, texts[i].Zh
		}
		page.Primitives = append(page.Primitives, x)
		page.Algorithms += len(p.Algorithms)
	}
	slices.SortStableFunc(page.Primitives, func(a, b sitePrimitive) int { return place(a.Name) - place(b.Name) })
	return sitePage.Execute(w, page)
}
