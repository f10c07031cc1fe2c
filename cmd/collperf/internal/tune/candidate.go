package tune

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/selection"
)

// candidate is what a rule can choose: an algorithm and, if that is pipelined, the size of its pieces.
type candidate struct {
	algorithm  string
	pieceBytes int // 0: a block is not cut
}

// pieceSizes are the sizes of pieces that are tried.
var pieceSizes = []int{0, 16 << 10, 64 << 10, 128 << 10, 512 << 10}

// rule returns the rule for c and so many ranks.
func (c candidate) rule(transport string, least, most int) selection.Rule {
	return selection.Rule{Transport: transport, Algorithm: c.algorithm, MinSize: least, MaxSize: most,
		PieceBytes: c.pieceBytes}
}

// variant is what distinguishes calls of one size.
type variant struct {
	algorithm string
	depth     int
}

// variant returns the variant of a call with blocks of count elements and so many bytes.
func (c candidate) variant(count, bytes int) variant {
	r := c.rule("", 0, 0)
	return variant{c.algorithm, r.Depth(count, bytes)}
}

// candidatesOf returns all candidates that rules may have for a primitive among so many ranks.
func candidatesOf(primitive, transport string, ranks int) (all []candidate) {
	for _, algorithm := range fast.Algorithms(primitive) {
		for _, bytes := range pieceSizes {
			c := candidate{algorithm, bytes}
			if legal(primitive, c.rule(transport, ranks, ranks)) {
				all = append(all, c)
			}
		}
	}
	return all
}

// legal reports whether package fast accepts a table with that rule.
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
