package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/collgen/collgen/internal/figures"
)

// grid is a table to print: its first line is the head.
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

// escaped has no mark in a line that would end its column: reasons are other people's text.
func escaped(line []string) (out []string) {
	for _, text := range line {
		out = append(out, strings.ReplaceAll(text, "|", `\|`))
	}
	return out
}

// summary has a line for each row of cells, and a column for each size: the ratio, and the target it reaches.
func summary(cells []cell) grid {
	g := grid{{"peer's time over ours"}}
	for _, bytes := range columns {
		g[0] = append(g[0], figures.Size(bytes))
	}
	for i := range cells {
		c := &cells[i]
		if last := g[len(g)-1]; last[0] != c.Row {
			g = append(g, append([]string{c.Row}, make([]string, len(columns))...))
		}
		line := g[len(g)-1]
		for j, bytes := range columns {
			if bytes == max(c.Bytes, columns[0]) {
				line[j+1] = c.short()
			}
		}
	}
	return g
}

func (c *cell) short() string {
	switch v := c.verdict(); {
	case c.Missing != "":
		return v
	case c.Floor == 0:
		return number(c.Ratio)
	default:
		return number(c.Ratio) + " " + v
	}
}

// details has a line for each cell.
func details(cells []cell) grid {
	g := grid{{"what", "size", "ours, µs", "peer, µs", "ratio", "least-most", "rounds", "floor", "stretch", "at the limit", "verdict", "ours over the limit", "the peer"}}
	for i := range cells {
		g = append(g, cells[i].line())
	}
	return g
}

func (c *cell) line() []string {
	line := []string{c.Row, figures.Size(c.Bytes)}
	if c.Missing != "" {
		return append(line, "", "", "", "", "", number(c.Floor), number(c.Stretch), "", c.verdict(), "", c.Missing)
	}
	distance := "not measured"
	if c.Over > 0 {
		distance = number(c.Over)
	}
	return append(line, number(c.Ours), number(c.Peer), number(c.Ratio), number(c.Least)+"-"+number(c.Most), strconv.Itoa(c.Rounds),
		number(c.Floor), number(c.Stretch), number(c.most()), c.verdict(), distance, c.Best.String())
}

// number has three digits that count; "" is 0.
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
