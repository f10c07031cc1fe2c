package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/collgen/collgen/internal/figures"
)

// blockList is lengths of blocks as a flag, in bytes: 8,64K,1M or 8..1M:4. They are sorted.
type blockList []int

// mostBlocks is how many there may be.
const mostBlocks = 100

// String returns the list as one writes it.
func (l *blockList) String() string {
	var texts []string
	for _, n := range *l {
		texts = append(texts, figures.Size(n).String())
	}
	return strings.Join(texts, ",")
}

// Set reads a list.
func (l *blockList) Set(text string) error {
	*l = nil
	for part := range strings.SplitSeq(text, ",") {
		if err := l.add(part); err != nil {
			return err
		}
	}
	slices.Sort(*l)
	*l = slices.Compact(*l)
	return nil
}

// add adds a length, or a range of them.
func (l *blockList) add(text string) error {
	first, rest, isRange := strings.Cut(text, "..")
	var from, to figures.Size
	if err := from.Set(first); err != nil {
		return err
	}
	if !isRange {
		*l = append(*l, int(from))
		return nil
	}
	last, times, hasFactor := strings.Cut(rest, ":")
	factor := 2
	if hasFactor {
		var err error
		if factor, err = strconv.Atoi(times); err != nil || factor < 2 {
			return fmt.Errorf("%q is no factor: want a number from 2 on", times)
		}
	}
	if err := to.Set(last); err != nil {
		return err
	}
	if from < 1 || to < from {
		return fmt.Errorf("%q is no range such as 8..1M", text)
	}
	for n := int(from); ; n *= factor {
		if *l = append(*l, n); len(*l) > mostBlocks {
			return fmt.Errorf("more than %d lengths", mostBlocks)
		}
		if n > int(to)/factor {
			return nil
		}
	}
}
