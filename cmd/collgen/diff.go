package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// change is what has to happen to a generated file.
type change struct {
	File   string `json:"file"`
	Change string `json:"change"`         // none, write or remove
	Diff   string `json:"diff,omitempty"` // for check

	path     string
	old, new []byte // nil: there is none
}

// around is the number of lines around a difference that a diff shows.
const around = 3

// diff returns the change as a unified diff, empty if there is none.
func (x change) diff() string {
	if x.Change == "none" {
		return ""
	}
	from, to := relativeName(x.path), relativeName(x.path)
	if x.old == nil {
		from = "/dev/null"
	}
	if x.new == nil {
		to = "/dev/null"
	}
	return fmt.Sprintf("--- %s\n+++ %s\n%s", from, to, hunks(lines(x.old), lines(x.new)))
}

func lines(content []byte) []string {
	all := strings.SplitAfter(string(content), "\n")
	return slices.DeleteFunc(all, func(line string) bool { return line == "" })
}

// edit is one line of a diff: it stands in the old file (-), in the new one (+), or in both ( ).
type edit struct {
	sign byte
	line string
}

// hunks returns the parts of a unified diff.
func hunks(old, new []string) string {
	edits := compare(old, new)
	var b strings.Builder
	oldLine, newLine, i := 1, 1, 0
	for i < len(edits) {
		if edits[i].sign == ' ' && !differsWithin(edits[i:], around) {
			oldLine, newLine, i = oldLine+1, newLine+1, i+1
			continue
		}
		end := i
		for end < len(edits) && (differsWithin(edits[end:], around) || differsBefore(edits[i:end], around)) {
			end++
		}
		inOld, inNew := writeHunk(&b, edits[i:end], oldLine, newLine)
		oldLine, newLine, i = oldLine+inOld, newLine+inNew, end
	}
	return b.String()
}

func writeHunk(b *strings.Builder, edits []edit, oldLine, newLine int) (inOld, inNew int) {
	var body strings.Builder
	for _, e := range edits {
		if e.sign != '+' {
			inOld++
		}
		if e.sign != '-' {
			inNew++
		}
		fmt.Fprintf(&body, "%c%s", e.sign, e.line)
		if !strings.HasSuffix(e.line, "\n") {
			body.WriteString("\n\\ No newline at end of file\n")
		}
	}
	if inOld == 0 {
		oldLine--
	}
	if inNew == 0 {
		newLine--
	}
	fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n%s", oldLine, inOld, newLine, inNew, body.String())
	return inOld, inNew
}

func isDifference(e edit) bool { return e.sign != ' ' }

// differsWithin reports whether there is a difference in the first n edits or right after them.
func differsWithin(edits []edit, n int) bool {
	return slices.ContainsFunc(edits[:min(n+1, len(edits))], isDifference)
}

// differsBefore reports whether there is one in the last n edits.
func differsBefore(edits []edit, n int) bool {
	return slices.ContainsFunc(edits[max(0, len(edits)-n):], isDifference)
}

// compare finds the fewest edits that make new of old.
func compare(old, new []string) []edit {
	common := commonLines(old, new)
	var edits []edit
	i, j := 0, 0
	for i < len(old) || j < len(new) {
		switch {
		case i < len(old) && j < len(new) && old[i] == new[j]:
			edits = append(edits, edit{' ', old[i]})
			i, j = i+1, j+1
		case j == len(new) || i < len(old) && common[i+1][j] >= common[i][j+1]:
			edits = append(edits, edit{'-', old[i]})
			i++
		default:
			edits = append(edits, edit{'+', new[j]})
			j++
		}
	}
	return edits
}

// commonLines returns a table of how many lines, in order, old[i:] and new[j:] have in common.
func commonLines(old, new []string) [][]int {
	common := make([][]int, len(old)+1)
	for i := range common {
		common[i] = make([]int, len(new)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(new) - 1; j >= 0; j-- {
			if old[i] == new[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	return common
}

// words returns a line that says what is wrong with the file, empty if nothing is.
func (x change) words() string {
	what := "differs"
	switch {
	case x.Change == "none":
		return ""
	case x.old == nil:
		what = "is missing"
	case x.new == nil:
		what = "is not generated any more"
	}
	return fmt.Sprintf("\n  %s %s", relativeName(x.path), what)
}

// write makes the change.
func (x change) write() error {
	switch x.Change {
	case "none":
		return nil
	case "remove":
		return os.Remove(x.path)
	}
	return replaceFile(x.path, x.new)
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
