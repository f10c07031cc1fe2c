package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/collgen/collgen/internal/figures"
)

// report is what was found.
type report struct {
	about  string // date, machine, command
	models []*model
}

// markdown writes everything as tables.
func (r *report) markdown(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n", r.about)
	r.prices(&b)
	r.counts(&b)
	for _, x := range r.models {
		x.ratios(&b)
	}
	r.outside(&b)
	_, err := w.Write(b.Bytes())
	return err
}

// prices is what was fitted.
func (r *report) prices(b *bytes.Buffer) {
	b.WriteString("| fitted |")
	for _, k := range r.models[0].knobs {
		fmt.Fprintf(b, " %s |", k.Name)
	}
	b.WriteString(" misfit |\n|" + strings.Repeat("---|", len(r.models[0].knobs)+2) + "\n")
	for _, x := range r.models {
		fmt.Fprintf(b, "| %s |", x.transport)
		for i := range x.knobs {
			fmt.Fprintf(b, " %s |", inUnits(x.knobs[i].Is))
		}
		fmt.Fprintf(b, " %.3f |\n", x.misfit)
	}
	b.WriteString("\n")
}

// inUnits returns a price in picoseconds or nanoseconds, whichever is usual for it.
func inUnits(seconds float64) string {
	if seconds < 1e-9 {
		return fmt.Sprintf("%.1f ps", seconds*1e12)
	}
	return fmt.Sprintf("%.0f ns", seconds*1e9)
}

// counts is how many cells hold.
func (r *report) counts(b *bytes.Buffer) {
	b.WriteString("| within 25 % |")
	for _, n := range sizes {
		fmt.Fprintf(b, " %s ranks |", n)
	}
	b.WriteString(" all | outside, but among the rounds | odd rounds within 25 % of even ones |\n|" + strings.Repeat("---|", len(sizes)+4) + "\n")
	for _, x := range r.models {
		fmt.Fprintf(b, "| %s |", x.transport)
		for _, n := range sizes {
			fmt.Fprintf(b, " %s |", x.share(func(c *result) bool { return fmt.Sprint(c.Ranks) == n }))
		}
		among := 0
		for i := range x.results {
			if c := &x.results[i]; !c.holds() && c.amongRounds() {
				among++
			}
		}
		fmt.Fprintf(b, " %s | %d | %d of %d |\n", x.share(func(*result) bool { return true }), among, x.agree, x.both)
	}
	b.WriteString("\n")
}

// share returns how many of some cells hold: "7 of 8".
func (x *model) share(of func(*result) bool) string {
	holds, all := 0, 0
	for i := range x.results {
		if c := &x.results[i]; of(c) {
			all++
			if c.holds() {
				holds++
			}
		}
	}
	return fmt.Sprintf("%d of %d", holds, all)
}

// ratios has a row for each collective and number of ranks, and a column for each size.
func (x *model) ratios(b *bytes.Buffer) {
	var columns []int
	for i := range x.results {
		columns = append(columns, column(x.results[i].Bytes))
	}
	slices.Sort(columns)
	columns = slices.Compact(columns)
	fmt.Fprintf(b, "| %s: predicted over measured |", x.transport)
	for _, bytes := range columns {
		fmt.Fprintf(b, " %s |", figures.Size(bytes))
	}
	b.WriteString("\n|" + strings.Repeat("---|", len(columns)+1) + "\n")
	for i := 0; i < len(x.results); {
		first := &x.results[i]
		cells := make([]string, len(columns))
		for ; i < len(x.results) && x.results[i].Collective == first.Collective && x.results[i].Ranks == first.Ranks; i++ {
			c := &x.results[i]
			cells[slices.Index(columns, column(c.Bytes))] = c.text()
		}
		fmt.Fprintf(b, "| %s, %d ranks | %s |\n", first.Collective, first.Ranks, strings.Join(cells, " | "))
	}
	b.WriteString("\n")
}

// column returns the size under which a cell stands: the least one that is at least one element for each rank can be
// more than 8.
func column(bytes int) int {
	if bytes < 64 {
		return 8
	}
	return bytes
}

// text returns a ratio, in bold type where it does not hold.
func (r *result) text() string {
	if r.holds() {
		return fmt.Sprintf("%.2f", r.ratio)
	}
	return fmt.Sprintf("**%.2f**", r.ratio)
}

// outside are the cells that do not hold.
func (r *report) outside(b *bytes.Buffer) {
	b.WriteString("| outside | ranks | bytes | algorithm | predicted, µs | measured, µs | least-most of the rounds | ratio |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	for _, x := range r.models {
		for i := range x.results {
			if c := &x.results[i]; !c.holds() {
				fmt.Fprintf(b, "| %s, %s | %d | %s | %s | %.4g | %.4g | %.4g-%.4g | %.2f |\n", c.Collective, c.Transport, c.Ranks,
					figures.Size(c.Bytes), c.algorithm, c.predicted, c.median, c.least, c.most, c.ratio)
			}
		}
	}
}

// The lines of a Markdown file between which the tables stand.
const (
	begin = "<!-- The tables: make bench-cost writes them. -->\n"
	end   = "<!-- The end of the tables. -->\n"
)

// write replaces the tables in a Markdown file.
func (r *report) write(path string) error { return figures.Replace(path, begin, end, r.markdown) }

// writeMachines writes what collgen cost -machine reads.
func (r *report) writeMachines(dir string) error {
	for _, x := range r.models {
		text, err := json.MarshalIndent(&x.machine, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, x.transport+".json"), append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	return nil
}
