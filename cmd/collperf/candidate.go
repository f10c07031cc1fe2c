package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/selection"
)

// candidate is what a rule can choose: an algorithm and, if it is pipelined, how large its pieces are.
type candidate struct {
	algorithm  string
	pieceBytes int // 0: a block is not cut
}

// pieces are the sizes of pieces that are tried.
var pieces = []int{0, 16 << 10, 64 << 10, 128 << 10, 512 << 10}

// rule is c as a rule for that many ranks.
func (c candidate) rule(transport string, least, most int) selection.Rule {
	return selection.Rule{Transport: transport, Algorithm: c.algorithm, MinSize: least, MaxSize: most, PieceBytes: c.pieceBytes}
}

// variant is what makes a difference to a call of one size.
type variant struct {
	algorithm string
	depth     int
}

// variant returns what a call with blocks of count elements and so many bytes gets.
func (c candidate) variant(count, bytes int) variant {
	r := c.rule("", 0, 0)
	return variant{c.algorithm, r.Depth(count, bytes)}
}

// candidatesOf returns those for a primitive among so many ranks: all that may stand in a rule.
func candidatesOf(primitive, transport string, ranks int) (all []candidate) {
	for _, algorithm := range fast.Algorithms(primitive) {
		for _, bytes := range pieces {
			c := candidate{algorithm, bytes}
			if legal(primitive, c.rule(transport, ranks, ranks)) {
				all = append(all, c)
			}
		}
	}
	return all
}

// legal reports whether fast takes a table of that rule.
func legal(primitive string, r selection.Rule) bool {
	text, err := json.Marshal(fast.Tuning{Rules: map[string][]fast.Rule{primitive: {r}}})
	if err != nil {
		return false
	}
	_, err = fast.DecodeTuning(strings.NewReader(string(text)))
	return err == nil
}

// variantsOf returns the different calls of one size that candidates make.
func variantsOf(all []candidate, count, bytes int) (different []variant) {
	for _, c := range all {
		if v := c.variant(count, bytes); !slices.Contains(different, v) {
			different = append(different, v)
		}
	}
	return different
}
