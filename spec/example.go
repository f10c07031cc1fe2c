package spec

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The words for what no block of In stands for.
const (
	unchangedWord = "-"
	undefinedWord = "?"
)

func (v *validator) examples() {
	for i, x := range v.p.Examples {
		if err := x.check(v.p); err != nil {
			v.fault("Examples[%d]: %w", i, err)
		}
	}
}

// check compares x with what p promises.
func (x *Example) check(p Primitive) error {
	e, err := Expect(p, Call{Size: len(x.In), Root: x.Root, Peer: x.Peer})
	var refused *RefusedError
	switch {
	case x.Refused && err == nil:
		return fmt.Errorf("the call is to be refused, and is not")
	case x.Refused && errors.As(err, &refused):
		return nil
	case err != nil:
		return err
	}
	if n := max(len(x.Out), len(x.InAfter), len(x.InPlace), len(x.Entered)); n > len(x.In) {
		return fmt.Errorf("it lists %d ranks, but In lists %d", n, len(x.In))
	}
	words, err := x.words()
	if err != nil {
		return err
	}
	for rank := range e.Ranks {
		if err := x.checkRank(rank, &e.Ranks[rank], words); err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	return nil
}

// words returns those that stand for the blocks of In.
func (x *Example) words() (map[Term]string, error) {
	words, seen := map[Term]string{}, map[string]bool{}
	for rank, line := range x.In {
		for b, word := range strings.Fields(line) {
			switch {
			case word == undefinedWord:
				continue
			case word == unchangedWord, strings.Contains(word, "+"):
				return nil, fmt.Errorf("%q does not name a block of in", word)
			case seen[word]:
				return nil, fmt.Errorf("%q stands for two blocks of in", word)
			}
			words[Term{rank, b}], seen[word] = word, true
		}
	}
	return words, nil
}

// checkRank compares what one rank is promised.
func (x *Example) checkRank(rank int, r *RankExpectation, words map[Term]string) error {
	inAfter := line(x.InAfter, rank)
	if x.InAfter == nil {
		inAfter = strings.TrimSpace(strings.Repeat(unchangedWord+" ", len(r.In)))
	}
	for _, b := range []struct {
		name string
		has  string
		is   []Content
	}{{"in", line(x.In, rank), r.Given}, {"in, after the call,", inAfter, r.In}, {"out", line(x.Out, rank), r.Out}} {
		if has, is := strings.Fields(b.has), textOf(b.is, words); !slices.Equal(has, is) {
			return fmt.Errorf("%s is %q, and %q by the specification", b.name, strings.Join(has, " "), strings.Join(is, " "))
		}
	}
	if x.InPlace != nil && (rank >= len(x.InPlace) || x.InPlace[rank] != [2]int{r.InBlock, r.OutBlock}) {
		return fmt.Errorf("InPlace differs: by the specification, it is {%d, %d}", r.InBlock, r.OutBlock)
	}
	entered := []int(nil)
	if rank < len(x.Entered) {
		entered = x.Entered[rank]
	}
	if !slices.Equal(entered, r.Entered) {
		return fmt.Errorf("%v have entered the call before it leaves, and %v by the specification", entered, r.Entered)
	}
	return nil
}

// line returns that of a rank; empty where there are not so many.
func line(lines []string, rank int) string {
	if rank >= len(lines) {
		return ""
	}
	return lines[rank]
}

// textOf returns what blocks hold, in the words of an example.
func textOf(blocks []Content, words map[Term]string) []string {
	text := make([]string, len(blocks))
	for i, c := range blocks {
		switch c.Kind {
		case Undefined:
			text[i] = undefinedWord
		case Unchanged:
			text[i] = unchangedWord
		default:
			operands := make([]string, len(c.Terms))
			for k, t := range c.Terms {
				operands[k] = words[t]
			}
			text[i] = strings.Join(operands, "+")
		}
	}
	return text
}
