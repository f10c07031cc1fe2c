package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/collgen/collgen/internal/figures"
)

// report is what a run has found.
type report struct {
	cells   []cell
	missing []string // what could not be built, and why
	about   string   // date, machine, versions, command
}

func (r *report) text(w io.Writer) error {
	fmt.Fprintln(w, r.about)
	for _, m := range r.missing {
		fmt.Fprintln(w, "not here:", m)
	}
	fmt.Fprintln(w)
	if err := summary(r.cells).text(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return details(r.cells).text(w)
}

func (r *report) markdown(w io.Writer) error {
	fmt.Fprintf(w, "%s\n\n", r.about)
	for _, m := range r.missing {
		fmt.Fprintf(w, "Not here: %s\n\n", m)
	}
	if err := summary(r.cells).markdown(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return details(r.cells).markdown(w)
}

func (r *report) json(w io.Writer) error {
	e := json.NewEncoder(w)
	for i := range r.cells {
		if err := e.Encode(&r.cells[i]); err != nil {
			return err
		}
	}
	return nil
}

// The lines of a Markdown file between which the table stands.
const (
	begin = "<!-- The table: make bench-peers writes it. -->\n"
	end   = "<!-- The end of the table. -->\n"
)

// write replaces the table in a Markdown file.
func (r *report) write(path string) error { return figures.Replace(path, begin, end, r.markdown) }

// about says when, where, of what, and how something was measured.
func about(ctx context.Context, who []*peer, command string) string {
	versions := make(map[string]bool)
	var list []string
	for _, p := range who {
		if v := p.version(ctx); v != "" && !versions[v] {
			versions[v], list = true, append(list, v)
		}
	}
	return fmt.Sprintf("%s; %s. `%s`", figures.Here(), strings.Join(list, ", "), command)
}

// version returns that of the package of a peer, where there are such packages.
func (p *peer) version(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "dpkg-query", "-W", "-f", "${Version}", p.pkg).Output()
	if err != nil {
		return ""
	}
	return p.pkg + " " + string(out)
}
