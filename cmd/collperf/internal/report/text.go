package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
	"github.com/collgen/collgen/internal/figures"
)

// printText prints the columns of nccl-tests. Both places of one size are on one line, on which the second one appears
// when it has been measured.
func printText(o *Options, w io.Writer, r, before *bench.Result) error {
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

func endText(_ *Options, w io.Writer, last *bench.Result) (err error) {
	if last != nil {
		_, err = fmt.Fprintln(w)
	}
	return err
}

// sameLine reports whether two results differ in nothing but the place.
func sameLine(a, b *bench.Result) bool {
	return sameTable(a, b) && a.Bytes == b.Bytes && a.InPlace && !b.InPlace
}

func sameTable(a, b *bench.Result) bool {
	return a.Collective == b.Collective && a.Transport == b.Transport && a.Ranks == b.Ranks
}

func textTimes(o *Options, r *bench.Result) string {
	text := fmt.Sprintf("%9s %8s %8s %7s", figures.Number(r.Microseconds.Median), figures.Number(r.AlgBW),
		figures.Number(r.BusBW), wrongText(r.Wrong, "N/A"))
	return text + textMore(o, &r.Microseconds, func(q quantile) string { return figures.Number(q.value) },
		overlapText(r.Overlap, "N/A"))
}

func textHeader(o *Options, w io.Writer, r *bench.Result, further bool) {
	title := "# " + r.Collective + ", " + ranksOver(r)
	if r.Algorithm != "" {
		title += ", algorithm " + r.Algorithm
	}
	if r.Reproducible {
		title += ", reproducible"
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
		columns += textMore(o, new(bench.Spread), func(q quantile) string { return q.name }, "overlap")
		units += fmt.Sprintf(" %9s %8s %8s %7s", "(us)", "(GB/s)", "(GB/s)", "")
		units += textMore(o, new(bench.Spread), func(quantile) string { return "(us)" }, "(0-1)")
	}
	for _, line := range []string{title, places, columns, units} {
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// textMore returns the optional columns.
func textMore(o *Options, s *bench.Spread, of func(quantile) string, overlap string) (text string) {
	if o.Percentiles {
		for _, q := range quantiles(s) {
			text += fmt.Sprintf(" %8s", of(q))
		}
	}
	if o.Overlap {
		text += fmt.Sprintf(" %8s", overlap)
	}
	return text
}

// textPlaces returns the titles of the groups of columns, one for each place.
func textPlaces(o *Options, r *bench.Result) (names []string) {
	for _, inPlace := range o.Places {
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
