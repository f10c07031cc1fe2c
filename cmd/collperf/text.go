package main

import (
	"fmt"
	"io"
)

// quantile is one of a spread, with its name.
type quantile struct {
	name  string
	value float64
}

func (s *spread) quantiles() []quantile {
	return []quantile{{"p50", s.P50}, {"p90", s.P90}, {"p99", s.P99}, {"p99.9", s.P999}, {"max", s.Max}}
}

// printText prints the columns of nccl-tests. Both places of one size stand on one line, the second one when it is there.
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

// sameLine tells whether two results differ in nothing but the place.
func sameLine(a, b *result) bool {
	return sameTable(a, b) && a.Bytes == b.Bytes && a.InPlace && !b.InPlace
}

func sameTable(a, b *result) bool {
	return a.Collective == b.Collective && a.Transport == b.Transport && a.Ranks == b.Ranks
}

func textTimes(o *options, r *result) string {
	text := fmt.Sprintf("%9s %8s %8s %7s", number(r.Microseconds.Median), number(r.AlgBW), number(r.BusBW), wrongText(r.Wrong, "N/A"))
	if o.spread {
		for _, q := range r.Microseconds.quantiles() {
			text += fmt.Sprintf(" %8s", number(q.value))
		}
	}
	if o.overlap {
		text += fmt.Sprintf(" %8s", overlapText(r.Overlap, "N/A"))
	}
	return text
}

func textHeader(o *options, w io.Writer, r *result, further bool) {
	if further {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "# %s, %d ranks over %s", r.Collective, r.Ranks, r.Transport)
	if r.Algorithm != "" {
		fmt.Fprintf(w, ", algorithm %s", r.Algorithm)
	}
	fmt.Fprintf(w, "\n#%11s %12s %9s %7s %7s", "size", "count", "type", "redop", "root")
	places := textPlaces(o, r)
	for range places {
		fmt.Fprintf(w, " %9s %8s %8s %7s", "time", "algbw", "busbw", "#wrong")
		textMore(o, w, func(q quantile) string { return q.name }, "overlap")
	}
	fmt.Fprintf(w, "\n#%11s %12s %9s %7s %7s", "(B)", "(elements)", "", "", "")
	for _, p := range places {
		fmt.Fprintf(w, " %9s %8s %8s %7s", "(us)", "(GB/s)", "(GB/s)", p)
		textMore(o, w, func(quantile) string { return "(us)" }, "(0-1)")
	}
	fmt.Fprintln(w)
}

// textMore are the columns that are shown only if asked for.
func textMore(o *options, w io.Writer, of func(quantile) string, overlap string) {
	if o.spread {
		for _, q := range new(spread).quantiles() {
			fmt.Fprintf(w, " %8s", of(q))
		}
	}
	if o.overlap {
		fmt.Fprintf(w, " %8s", overlap)
	}
}

// textPlaces are the places that a table of such results has columns for.
func textPlaces(o *options, r *result) (names []string) {
	for _, inPlace := range o.places {
		if r.Type == "" && len(names) > 0 {
			break
		}
		if inPlace {
			names = append(names, "in")
		} else {
			names = append(names, "out")
		}
	}
	return names
}
