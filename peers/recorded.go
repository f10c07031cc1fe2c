package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/collgen/collgen/internal/figures"
)

// recorded is what a Markdown file keeps of a report.
type recorded struct {
	where  string // date, machine and version of Go
	ratios []ratio
}

// ratio is a line of the table of details, with the peer at its best.
type ratio struct {
	row, size           string
	median, least, most float64
}

// readRecorded reads the table that report.write has written.
func readRecorded(path string) (*recorded, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(string(text), begin)
	table, _, ok := strings.Cut(rest, end)
	if !ok {
		return nil, fmt.Errorf("%s has no table between the lines %q and %q", path, begin, end)
	}
	where, _, _ := strings.Cut(table, ";")
	_, lines, _ := strings.Cut(table, "| "+strings.Join(details(nil)[0][:readColumns], " | ")+" |")
	_, lines, _ = strings.Cut(lines, "\n")
	r := &recorded{where: strings.Join(strings.Fields(where), " ")}
	for line := range strings.Lines(lines) {
		if strings.HasPrefix(line, "|---") {
			continue
		}
		one, err := parseRatio(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if one != nil {
			r.ratios = append(r.ratios, *one)
		}
	}
	if r.ratios == nil {
		return nil, fmt.Errorf("%s has no ratios", path)
	}
	return r, nil
}

// readColumns is how many columns of the table of details are read: up to the spread of ratios to the peer at its best.
const readColumns = 6

// parseRatio returns nil for what was not measured.
func parseRatio(line string) (*ratio, error) {
	cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
	if len(cells) < readColumns {
		return nil, fmt.Errorf("the line has %d cells: %q", len(cells), line)
	}
	r := &ratio{row: strings.TrimSpace(cells[0]), size: cells[1]}
	if cells[4] == notMeasured {
		return nil, nil
	}
	if r.size != sizeText(0) {
		if err := new(figures.Size).Set(r.size); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
	}
	least, most, _ := strings.Cut(cells[5], "-")
	for at, cell := range map[*float64]string{&r.median: cells[4], &r.least: least, &r.most: most} {
		v, err := strconv.ParseFloat(cell, 64)
		if err != nil || !(v > 0 && v < 1e6) {
			return nil, fmt.Errorf("%q is no ratio: %q", cell, line)
		}
		*at = v
	}
	return r, nil
}

// sizes returns those of all ratios, in the order in which they come first.
func (r *recorded) sizes() (all []string) {
	for i := range r.ratios {
		if size := r.ratios[i].size; size != sizeText(0) && !slices.Contains(all, size) {
			all = append(all, size)
		}
	}
	return all
}
