package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/collgen/collgen/verify"
)

// maxSize is the largest communicator for which anything is proved or shown.
const maxSize = verify.MaxSize

// sizeRange is sizes from..to, both included, as a flag: 5, or 1..64.
type sizeRange struct{ from, to int }

// String returns the range as one writes it.
func (r *sizeRange) String() string {
	if r.from == r.to {
		return strconv.Itoa(r.from)
	}
	return fmt.Sprintf("%d..%d", r.from, r.to)
}

// Set reads a range.
func (r *sizeRange) Set(s string) error {
	from, to, isRange := strings.Cut(s, "..")
	if !isRange {
		to = from
	}
	var err error
	if r.from, err = strconv.Atoi(from); err == nil {
		r.to, err = strconv.Atoi(to)
	}
	if err != nil || r.from < 1 || r.to < r.from || r.to > largest {
		return fmt.Errorf("want a number of ranks or a range such as 1..64, within 1..%d", largest)
	}
	return nil
}

// largest is the largest size that one may ask for: beyond, a proof takes too long and too much memory.
const largest = 1024

// rankList is numbers of ranks as a flag: 1,2,3 or 1..8.
type rankList []int

// String returns the list as one writes it.
func (l *rankList) String() string {
	var texts []string
	for _, n := range *l {
		texts = append(texts, strconv.Itoa(n))
	}
	return strings.Join(texts, ",")
}

// Set reads a list, in which there may be ranges.
func (l *rankList) Set(text string) error {
	*l = nil
	for part := range strings.SplitSeq(text, ",") {
		var r sizeRange
		if err := r.Set(part); err != nil {
			return err
		}
		for n := r.from; n <= r.to; n++ {
			*l = append(*l, n)
		}
	}
	slices.Sort(*l)
	*l = slices.Compact(*l)
	return nil
}
