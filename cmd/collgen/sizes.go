package main

import (
	"fmt"
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
