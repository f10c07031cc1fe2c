package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"text/template"
)

// texts are the document around the table, and a section for each known failure.
//
//go:embed peers
var texts embed.FS

// kept is the file with the rows of the table, at the root of the repository.
const kept = "verify/colltest/adapters/peers/rows.json"

// row is a row of the table: what came of an entrant when it was run last.
type row struct {
	Entrant, Version string
	Ranks, Checks    int      // the largest number of ranks, and the random cases of each primitive and number of ranks
	Cells            []string // by column
	Calls            int
}

// rewrite writes the rows, which results replace, and the document.
func rewrite(o options, results []*result) error {
	old, err := keptRows(os.DirFS("."), kept)
	if err != nil {
		return err
	}
	rows := merge(old, o, results)
	text, err := document(rows)
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(rows, "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(kept, append(b, '\n'), 0o666); err != nil {
		return err
	}
	return os.WriteFile(o.write, []byte(text), 0o666)
}

// keptRows returns the rows in a file.
func keptRows(dir fs.FS, name string) (rows []row, err error) {
	b, err := fs.ReadFile(dir, name)
	if err == nil {
		err = json.Unmarshal(b, &rows)
	}
	return rows, err
}

// merge returns a row for each entrant: that of results, or else the old one, if there is any.
func merge(old []row, o options, results []*result) (rows []row) {
	for i := range entrants {
		title := entrants[i].title()
		for _, r := range old {
			if r.Entrant == title && !slices.ContainsFunc(results, func(r *result) bool { return r.isRow(title) }) {
				rows = append(rows, r)
			}
		}
		for _, r := range results {
			if r.isRow(title) {
				rows = append(rows, row{title, r.version, o.ranks, o.checks, r.cells(), r.calls()})
			}
		}
	}
	return rows
}

// isRow reports whether r is what came of that entrant, and not merely that it could not be tested.
func (r *result) isRow(title string) bool { return r.missing == nil && r.entrant.title() == title }

// document returns docs/lab/peers.md with those rows.
func document(rows []row) (string, error) {
	t, err := template.New("document.md").Funcs(template.FuncMap{
		"table":    func() string { return table(rows) },
		"sections": sections,
	}).ParseFS(texts, "peers/document.md")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, nil)
	return b.String(), err
}

// table returns the rows as Markdown.
func table(rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| | version | %s | ranks | random | calls |\n", strings.Join(columns, " | "))
	b.WriteString(strings.Repeat("|---", len(columns)+5) + "|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | 1–%d | %d | %d |\n", r.Entrant, r.Version, strings.Join(r.Cells, " | "), r.Ranks,
			r.Checks, r.Calls)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// sections returns the sections whose names begin with a letter, in order.
func sections(letter string) (string, error) {
	names, err := fs.Glob(texts, "peers/"+letter+"[0-9].md")
	if err != nil || len(names) == 0 {
		return "", fmt.Errorf("there are no sections %s: %w", letter, err)
	}
	var all []string
	for _, name := range names {
		b, err := fs.ReadFile(texts, name)
		if err != nil {
			return "", err
		}
		all = append(all, strings.TrimSpace(string(b)))
	}
	return strings.Join(all, "\n\n"), nil
}
