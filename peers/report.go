package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/collgen/collgen/internal/figures"
)

// report is the outcome of a run.
type report struct {
	results []result
	missing []string // what could not be built, and why
	leftOut []string // who does not take part in what, and why
	about   string   // date, machine, versions, command
}

// errNothing says that there is not one ratio.
var errNothing = errors.New("nothing was compared")

// check returns errNothing if nothing was compared, with a reason if there is one.
func (r *report) check() error {
	reason := "no cell is selected"
	for i := range r.results {
		if r.results[i].Missing == "" {
			return nil
		}
		reason = r.results[i].Missing
	}
	return fmt.Errorf("%w: %s", errNothing, reason)
}

// notes returns what is not in the tables.
func (r *report) notes() (all []string) {
	for _, m := range r.missing {
		all = append(all, "Not installed: "+m)
	}
	for _, l := range r.leftOut {
		all = append(all, "Left out: "+l)
	}
	return all
}

// tables returns the tables of a report.
func (r *report) tables() []grid {
	return []grid{summary(r.results), meansTable(r.results), details(r.results)}
}

func (r *report) text(w io.Writer) error {
	fmt.Fprintln(w, strings.Join(append([]string{r.about}, r.notes()...), "\n"))
	for _, g := range r.tables() {
		fmt.Fprintln(w)
		if err := g.text(w); err != nil {
			return err
		}
	}
	return nil
}

func (r *report) markdown(w io.Writer) error {
	fmt.Fprintln(w, strings.Join(append([]string{r.about}, r.notes()...), "\n\n"))
	fmt.Fprintln(w)
	return markdown(w, r.tables())
}

// ratios writes the tables without the details.
func (r *report) ratios(w io.Writer) error {
	fmt.Fprintf(w, "%s\n\n", r.about)
	return markdown(w, r.tables()[:2])
}

func markdown(w io.Writer, tables []grid) error {
	for i, g := range tables {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := g.markdown(w); err != nil {
			return err
		}
	}
	return nil
}

func (r *report) json(w io.Writer) error {
	e := json.NewEncoder(w)
	for i := range r.results {
		if err := e.Encode(&r.results[i]); err != nil {
			return err
		}
	}
	for _, m := range means(r.results) {
		if err := e.Encode(m); err != nil {
			return err
		}
	}
	return nil
}

// The table is between the lines begin and end of a Markdown file, and the ratios alone between beginRatios and end.
const (
	begin       = "<!-- The table: make bench-peers writes it. -->\n"
	beginRatios = "<!-- The ratios: make bench-peers writes them. -->\n"
	end         = "<!-- The end of the table. -->\n"
)

// write replaces the table in a Markdown file.
func (r *report) write(path string) error { return figures.Replace(path, begin, end, r.markdown) }

// writeRatios replaces the ratios in a Markdown file.
func (r *report) writeRatios(path string) error {
	return figures.Replace(path, beginRatios, end, r.ratios)
}

// about returns when, where, with which versions, and by which command something was measured.
func about(ctx context.Context, peers []*peer, command string) string {
	versions := make(map[string]bool)
	var list []string
	for _, p := range peers {
		if v := p.versionText(ctx); v != "" && !versions[v] {
			versions[v], list = true, append(list, v)
		}
	}
	return fmt.Sprintf("%s; %s. `%s`", figures.Here(), strings.Join(list, ", "), command)
}

// grid is a table; its first line is the head.
type grid [][]string

func (g grid) text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, line := range g {
		fmt.Fprintln(t, strings.Join(line, "\t"))
	}
	return t.Flush()
}

func (g grid) markdown(w io.Writer) (err error) {
	for i, line := range g {
		if i == 1 {
			_, err = fmt.Fprintf(w, "|%s\n", strings.Repeat("---|", len(line)))
		}
		if err == nil {
			_, err = fmt.Fprintf(w, "| %s |\n", strings.Join(escaped(line), " | "))
		}
	}
	return err
}

// escaped returns the cells of a line with their column separators escaped: reasons may be the text of other programs.
func escaped(line []string) (out []string) {
	for _, text := range line {
		out = append(out, strings.ReplaceAll(text, "|", `\|`))
	}
	return out
}

// summary returns a line for each row and a column for each size, with the ratios to peers at their defaults and at
// their best.
func summary(results []result) grid {
	g := grid{{"peer's time over ours"}}
	for _, bytes := range columns {
		g[0] = append(g[0], sizeText(bytes))
	}
	for i := range results {
		r := &results[i]
		if last := g[len(g)-1]; last[0] != r.Row {
			g = append(g, append([]string{r.Row}, make([]string, len(columns))...))
		}
		at := slices.Index(columns, max(r.Bytes, columns[0]))
		g[len(g)-1][at+1] = r.ratiosText()
	}
	return g
}

const notMeasured = "not measured"

func (r *result) ratiosText() string {
	if r.Missing != "" {
		return notMeasured
	}
	return r.Default.ratioText() + " / " + r.Best.ratioText()
}

func (s *standing) ratioText() string {
	if s.Rounds == 0 {
		return notMeasured
	}
	return number(s.Ratio)
}

// details returns a line for each result: first with the peer at its best, then at its default.
func details(results []result) grid {
	g := grid{{"what", "size", "ours, µs", "peer, µs", "ratio", "least-most", "rounds", "ours over the limit", "the peer",
		"at its default, µs", "ratio to that", "the peer at its default"}}
	for i := range results {
		g = append(g, results[i].line())
	}
	return g
}

func (r *result) line() []string {
	line := []string{r.Row, sizeText(r.Bytes)}
	if r.Missing != "" {
		return append(line, "", "", notMeasured, "", "", "", r.Missing, "", "", "")
	}
	b, d := &r.Best, &r.Default
	return append(line, number(r.Ours), number(b.Time), number(b.Ratio), number(b.Least)+"-"+number(b.Most),
		strconv.Itoa(b.Rounds), number(r.Over), b.Peer.String(), number(d.Time), d.ratioText(), d.Peer.Who)
}

// sizeText returns a number of bytes, such as 64K; "-" for none.
func sizeText(bytes int) string {
	if bytes == 0 {
		return "-"
	}
	return figures.Size(bytes).String()
}

// number returns v with two digits behind the point, or fewer if it is long, or more so that it is not 0; "" for 0,
// which is not known.
func number(v float64) string {
	switch {
	case v == 0:
		return ""
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v < 0.01:
		return strconv.FormatFloat(max(v, 1e-6), 'f', 6, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
