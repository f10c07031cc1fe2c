package main

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed conform.html
var conformPage string

// htmlPage is the template of -html, which is filled in with a page.
var htmlPage = template.Must(template.New("conform.html").Parse(conformPage))

// The contents of a page of HTML.
type (
	page struct {
		Summary, Stopped, Written, Command string
		Complete, Matrix                   bool
		News, Known                        int
		Runs                               []pageRun
		Verdicts                           []pageRow // of each primitive, by run
	}
	pageRun struct {
		Title, Error    string
		Failures        []pageFailure
		Gone, NotTested []string
		Tables          []pageTable
	}
	pageFailure struct {
		Primitive, Problem, Note, New, Also, Again, Case, Text string
		Known                                                  bool
		Size                                                   int
		Calls, Problems                                        []string
	}
	pageTable struct {
		Name         string
		Took         time.Duration
		Cases, Calls int
		HasOps       bool
		Ops          []string
		Rows         []pageRow // of each type, by op
	}
	pageRow struct {
		Name  string
		Cells []pageCell
	}
	pageCell struct{ Text, Class string }
)

// writeHTML writes all that is known as one page, which needs nothing besides.
func (h *heading) writeHTML(w io.Writer, all *conformances) error {
	p := page{Summary: "Nothing is known yet", Command: h.String(), Complete: all.complete, Matrix: len(all.Runs) > 1,
		Written: time.Now().UTC().Format("2006-01-02 15:04:05 UTC")}
	if all.stopped != nil {
		p.Stopped = all.stopped.Error()
	}
	for _, r := range all.Runs {
		p.Runs = append(p.Runs, newPageRun(r))
		p.News += r.news()
		p.Known += len(r.Failures) - r.news()
	}
	p.Verdicts = verdicts(all.Runs)
	if len(all.Runs) > 0 {
		p.Summary = all.summary()
	}
	var b strings.Builder
	if err := htmlPage.Execute(&b, p); err != nil {
		return err
	}
	_, err := io.WriteString(w, strings.Map(shownOrSpace, b.String()))
	return err
}

// summary returns what came of the tests so far, in a sentence.
func (all *conformances) summary() string {
	var name string
	news, known, errs := 0, 0, 0
	for _, r := range all.Runs {
		if r.Name != "" {
			name = r.Name
		}
		if r.Error != "" {
			errs++
		}
		news += r.news()
		known += len(r.Failures) - r.news()
	}
	switch {
	case news > 0:
		return fmt.Sprintf("%s does not conform: new failures: %d", name, news)
	case errs > 0:
		return strings.TrimPrefix(name+": it could not be tested to the end", ": ")
	case !all.complete:
		return name + ": no new failure so far"
	case known > 0:
		return fmt.Sprintf("%s: no new failure, and %d that are known", name, known)
	}
	return name + " conforms"
}

// newPageRun returns what a page has of one environment.
func newPageRun(r *conformance) pageRun {
	x := pageRun{Title: r.Environment.String(), Error: r.Error, NotTested: r.notTested()}
	if x.Title == "" {
		x.Title = "verdict"
	}
	for _, f := range r.Failures {
		x.Failures = append(x.Failures, newPageFailure(f))
	}
	for _, k := range r.Gone {
		x.Gone = append(x.Gone, k.String()+": "+noteOrNone(k.Note))
	}
	for _, p := range r.parts {
		x.Tables = append(x.Tables, newPageTable(p))
	}
	return x
}

func newPageFailure(f *failedCase) pageFailure {
	x := pageFailure{Primitive: f.Primitive, Problem: f.problem(), Note: noteOrNone(f.Note), Known: f.Known,
		New: strings.Join(f.New, ", "), Also: strings.Join(f.Failure.Also, ", "), Again: f.Repeat,
		Case: f.Failure.Case.JSON(), Text: f.String(), Size: f.Failure.Case.Size}
	for i := range f.Failure.Case.Steps {
		x.Calls = append(x.Calls, f.Failure.Case.Steps[i].String())
	}
	for _, p := range f.Failure.Problems {
		x.Problems = append(x.Problems, p.String())
	}
	return x
}

// verdicts returns a row for each part, with the verdict of each run.
func verdicts(runs []*conformance) (rows []pageRow) {
	var names []string
	of := make([]map[string]string, len(runs))
	for i, r := range runs {
		of[i] = map[string]string{}
		for _, p := range r.parts {
			of[i][p.name] = p.verdict()
			if !p.done() {
				of[i][p.name] = "under test"
			}
			names = append(names, p.name)
		}
		primitives, _ := r.skips()
		for _, s := range primitives {
			if of[i][s.name] == "" {
				of[i][s.name] = untested
			}
			names = append(names, s.name)
		}
	}
	for _, name := range unique(names) {
		row := pageRow{Name: name}
		for i := range runs {
			row.Cells = append(row.Cells, newPageCell(of[i][name]))
		}
		rows = append(rows, row)
	}
	return rows
}

func newPageCell(verdict string) pageCell {
	switch verdict {
	case "":
		return pageCell{Text: "–"}
	case conforms:
		return pageCell{verdict, "good"}
	case failsNew:
		return pageCell{verdict, "bad"}
	}
	return pageCell{Text: verdict}
}

// unique returns each of names once, in the order of their first places.
func unique(names []string) (all []string) {
	for _, name := range names {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// newPageTable returns the numbers of cases of p by type and op.
func newPageTable(p *part) pageTable {
	t := pageTable{Name: p.name, Took: p.took.Round(time.Millisecond), Cases: p.counts.Cases, Calls: p.counts.Calls}
	var types []string
	for _, typeOp := range p.typeOps() {
		name, op, _ := strings.Cut(typeOp, " ")
		types, t.Ops = append(types, name), append(t.Ops, op)
		t.HasOps = t.HasOps || op != ""
	}
	t.Ops = unique(t.Ops)
	slices.SortStableFunc(t.Ops, func(a, b string) int { return compareTypeOps(" "+a, " "+b) })
	for _, name := range unique(types) {
		row := pageRow{Name: name}
		if name == "" {
			row.Name = "all"
		}
		for _, op := range t.Ops {
			row.Cells = append(row.Cells, p.pageCell(strings.TrimSpace(name+" "+op)))
		}
		t.Rows = append(t.Rows, row)
	}
	if !t.HasOps {
		t.Ops = []string{"cases"}
	}
	return t
}

// pageCell returns the number of cases with a type and op, and whether they fail.
func (p *part) pageCell(typeOp string) pageCell {
	failing := p.failing(typeOp)
	x := p.cells[typeOp]
	if x == nil && len(failing) == 0 {
		return pageCell{Text: "–"}
	}
	c := pageCell{Text: "0"}
	if x != nil {
		c.Text = strconv.Itoa(x.cases)
	}
	if len(failing) > 0 {
		c = pageCell{c.Text + ", fails", "bad"}
	}
	return c
}
