package main

import (
	"fmt"
	"io"
	"strings"
)

// quantile is one of a spread, with its name.
type quantile struct {
	name  string
	value float64
}

func (s *spread) quantiles() []quantile {
	return []quantile{{"p50", s.P50}, {"p90", s.P90}, {"p99", s.P99}, {"p99.9", s.P999}, {"max", s.Max}}
}

// printText prints the columns of nccl-tests. Both places of one size stand on one line, the second one when it is
// there.
func printText(o *options, w io.Writer, r, before *result) error {
	begins := before == nil || !sameLine(r, before)
	if begins {
		if before != nil {
			fmt.Fprintln(w)
		}
		if before == nil || !sameTable(r, before) {
			textHeader(o, w, r, before != nil)
		}
		op, root := r.Op, fmt.Sprint(r.Root)
		if op == "" {
			op = "none"
		}
		fmt.Fprintf(w, "%12d %12d %9s %7s %7s", r.Bytes, r.Count, r.Type, op, root)
	}
	_, err := fmt.Fprintf(w, " %s", textTimes(o, r))
	return err
}

func endText(_ *options, w io.Writer, last *result) (err error) {
	if last != nil {
		_, err = fmt.Fprintln(w)
	}
	return err
}

// sameLine reports whether two results differ in nothing but the place.
func sameLine(a, b *result) bool {
	return sameTable(a, b) && a.Bytes == b.Bytes && a.InPlace && !b.InPlace
}

func sameTable(a, b *result) bool {
	return a.Collective == b.Collective && a.Transport == b.Transport && a.Ranks == b.Ranks
}

func textTimes(o *options, r *result) string {
	text := fmt.Sprintf("%9s %8s %8s %7s", number(r.Microseconds.Median), number(r.AlgBW), number(r.BusBW), wrongText(r.Wrong, "N/A"))
	return text + textMore(o, &r.Microseconds, func(q quantile) string { return number(q.value) }, overlapText(r.Overlap, "N/A"))
}

func textHeader(o *options, w io.Writer, r *result, further bool) {
	title := "# " + r.Collective + ", " + ranksOver(r)
	if r.Algorithm != "" {
		title += ", algorithm " + r.Algorithm
	}
	if r.Registered {
		title += ", registered buffers"
	}
	if further {
		title = "\n" + title
	}
	places := fmt.Sprintf("#%51s", "")
	columns := fmt.Sprintf("#%11s %12s %9s %7s %7s", "size", "count", "type", "redop", "root")
	units := fmt.Sprintf("#%11s %12s %9s %7s %7s", "(B)", "(elements)", "", "", "")
	for _, p := range textPlaces(o, r) {
		places += fmt.Sprintf(" %*s", len(textTimes(o, r)), p)
		columns += fmt.Sprintf(" %9s %8s %8s %7s", "time", "algbw", "busbw", "#wrong")
		columns += textMore(o, new(spread), func(q quantile) string { return q.name }, "overlap")
		units += fmt.Sprintf(" %9s %8s %8s %7s", "(us)", "(GB/s)", "(GB/s)", "")
		units += textMore(o, new(spread), func(quantile) string { return "(us)" }, "(0-1)")
	}
	for _, line := range []string{title, places, columns, units} {
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// ranksOver returns who measured, in words.
func ranksOver(r *result) string {
	if r.Ranks == 1 {
		return "1 rank"
	}
	return fmt.Sprintf("%d ranks over %s", r.Ranks, r.Transport)
}

// textMore returns the columns that are shown only if asked for.
func textMore(o *options, s *spread, of func(quantile) string, overlap string) (text string) {
	if o.spread {
		for _, q := range s.quantiles() {
			text += fmt.Sprintf(" %8s", of(q))
		}
	}
	if o.overlap {
		text += fmt.Sprintf(" %8s", overlap)
	}
	return text
}

// textPlaces returns the places that a table of such results has columns for.
func textPlaces(o *options, r *result) (names []string) {
	for _, inPlace := range o.places {
		if r.Type == "" && len(names) > 0 {
			break
		}
		if inPlace {
			names = append(names, "in-place")
		} else {
			names = append(names, "out-of-place")
		}
	}
	return names
}
