package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/collgen/collgen/internal/figures"
)

// report is the outcome of a run.
type report struct {
	results []result
	missing []string // what could not be built, and why
	about   string   // date, machine, versions, command
}

func (r *report) text(w io.Writer) error {
	fmt.Fprintln(w, r.about)
	for _, m := range r.missing {
		fmt.Fprintln(w, "not installed:", m)
	}
	fmt.Fprintln(w)
	if err := summary(r.results).text(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return details(r.results).text(w)
}

func (r *report) markdown(w io.Writer) error {
	fmt.Fprintf(w, "%s\n\n", r.about)
	for _, m := range r.missing {
		fmt.Fprintf(w, "Not installed: %s\n\n", m)
	}
	if err := summary(r.results).markdown(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return details(r.results).markdown(w)
}

func (r *report) json(w io.Writer) error {
	e := json.NewEncoder(w)
	for i := range r.results {
		if err := e.Encode(&r.results[i]); err != nil {
			return err
		}
	}
	return nil
}

// The table is between these lines of a Markdown file.
const (
	begin = "<!-- The table: make bench-peers writes it. -->\n"
	end   = "<!-- The end of the table. -->\n"
)

// write replaces the table in a Markdown file.
func (r *report) write(path string) error { return figures.Replace(path, begin, end, r.markdown) }

// about returns when, where, with which versions, and by which command something was measured.
func about(ctx context.Context, peers []*peer, command string) string {
	versions := make(map[string]bool)
	var list []string
	for _, p := range peers {
		if v := p.version(ctx); v != "" && !versions[v] {
			versions[v], list = true, append(list, v)
		}
	}
	return fmt.Sprintf("%s; %s. `%s`", figures.Here(), strings.Join(list, ", "), command)
}

// version returns the version of a peer's Debian package; "" if it is not known.
func (p *peer) version(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "dpkg-query", "-W", "-f", "${Version}", p.pkg).Output()
	if err != nil {
		return ""
	}
	return p.pkg + " " + string(out)
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

// summary returns a line for each row and a column for each size, with the ratios.
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
		line := g[len(g)-1]
		for j, bytes := range columns {
			if bytes == max(r.Bytes, columns[0]) {
				line[j+1] = r.ratioText()
			}
		}
	}
	return g
}

func (r *result) ratioText() string {
	if r.Missing != "" {
		return "not measured"
	}
	return number(r.Ratio)
}

// details returns a line for each result.
func details(results []result) grid {
	g := grid{{"what", "size", "ours, µs", "peer, µs", "ratio", "least-most", "rounds", "ours over the limit", "the peer"}}
	for i := range results {
		g = append(g, results[i].line())
	}
	return g
}

func (r *result) line() []string {
	line := []string{r.Row, sizeText(r.Bytes)}
	if r.Missing != "" {
		return append(line, "", "", r.ratioText(), "", "", "", r.Missing)
	}
	return append(line, number(r.Ours), number(r.Peer), number(r.Ratio), number(r.Least)+"-"+number(r.Most),
		strconv.Itoa(r.Rounds),
		number(r.Over), r.Best.String())
}

// sizeText returns a number of bytes, such as 64K; "-" for none.
func sizeText(bytes int) string {
	if bytes == 0 {
		return "-"
	}
	return figures.Size(bytes).String()
}

// number returns v with at least three significant digits; "" for 0, which is not known.
func number(v float64) string {
	switch {
	case v == 0:
		return ""
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
