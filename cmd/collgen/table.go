package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// table is columns of text.
type table struct{ w *tabwriter.Writer }

func newTable(w io.Writer) table { return table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

func (t table) row(cells ...any) {
	for i, cell := range cells {
		if i > 0 {
			fmt.Fprint(t.w, "\t")
		}
		fmt.Fprint(t.w, cell)
	}
	fmt.Fprintln(t.w)
}

func (t table) flush() { t.w.Flush() }

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
