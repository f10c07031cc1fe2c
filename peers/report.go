package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
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
func (r *report) write(path string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(old, []byte(begin))
	_, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		return fmt.Errorf("%s has no place for the table: the lines %q and %q", path, begin, end)
	}
	out := bytes.NewBuffer(append(bytes.Clone(before), begin...))
	if err := r.markdown(out); err != nil {
		return err
	}
	out.WriteString(end)
	out.Write(after)
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// about says when, where, of what, and how something was measured.
func about(ctx context.Context, who []*peer, command string) string {
	versions := make(map[string]bool)
	var list []string
	for _, p := range who {
		if v := p.version(ctx); v != "" && !versions[v] {
			versions[v], list = true, append(list, v)
		}
	}
	return fmt.Sprintf("%s, %s, %s/%s, %s; %s. `%s`", time.Now().Format(time.DateOnly), processor(), runtime.GOOS, runtime.GOARCH,
		runtime.Version(), strings.Join(list, ", "), command)
}

// version is that of the package of a peer, where there are such packages.
func (p *peer) version(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "dpkg-query", "-W", "-f", "${Version}", p.pkg).Output()
	if err != nil {
		return ""
	}
	return p.pkg + " " + string(out)
}

// processor names it, with the number of cores.
func processor() string {
	name := "a processor without a name"
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			name = strings.TrimSpace(value)
		}
	}
	return fmt.Sprintf("%d cores of %s", runtime.NumCPU(), name)
}
