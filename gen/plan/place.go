package plan

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// placer reads places of a rank, and keeps the first error.
type placer struct {
	s    *gen.Schedule
	rank int
	err  error
}

func (p *placer) all(texts ...string) (list []gen.Place) {
	for _, t := range texts {
		list = append(list, p.one(t))
	}
	return list
}

func (p *placer) one(text string) gen.Place {
	place, like, err := readPlace(text)
	if err == nil && place.Buf != "" {
		err = p.length(&place, like)
	}
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("%q is no place, such as in[2], out[0..4) or scratch[1 like 3]: %w", text, err)
	}
	return place
}

// length fills in how long a place is. Like are the numbers that the file has for it, nil if it has none.
func (p *placer) length(x *gen.Place, like []int) (err error) {
	if p.s.Primitive.IsUneven() {
		x.Length, err = p.lengthOfBlock(x, like)
		return err
	}
	if x.Buf != spec.Scratch {
		x.Like = x.At % p.s.Chunks
	}
	if len(like) > 0 {
		x.Like = like[0]
	}
	if len(like) > 1 {
		err = errors.New("it is like more than one chunk")
	}
	return err
}

// lengthOfBlock returns the length of a place that is an uneven block. Of a slot of scratch, like says it.
func (p *placer) lengthOfBlock(x *gen.Place, like []int) (l spec.Length, err error) {
	of := p.s.Primitive.In
	switch x.Buf {
	case spec.Scratch:
		if n := p.s.Primitive.Arity(); len(like) != n {
			example := []string{"2", "2,3"}[n-1]
			return l, fmt.Errorf("a slot says which block it is as long as: scratch[0 like %s]", example)
		}
		copy(l[:], like)
		return l, nil
	case spec.Out:
		of = p.s.Primitive.Out
	}
	if like != nil {
		return l, errors.New("a block of in or out is as long as it is")
	}
	return of.Length(p.s.Env(p.rank), x.At)
}

// nothing is the text of the place of a message without data.
const nothing = "nothing"

// readPlace returns the place that text says: buffer[at] or buffer[from..to). Before the closing bracket there may be
// "like" and numbers, which it returns; nil: there are none.
func readPlace(text string) (p gen.Place, like []int, err error) {
	if text == nothing {
		return p, nil, nil
	}
	buf, inside, ok := strings.Cut(text, "[")
	if p.Buf = spec.Buf(buf); !ok || p.Buf != spec.In && p.Buf != spec.Out && p.Buf != spec.Scratch {
		return p, nil, errors.New("there are the buffers in, out and scratch")
	}
	inside, isRow := strings.CutSuffix(inside, ")")
	if !isRow {
		if inside, ok = strings.CutSuffix(inside, "]"); !ok {
			return p, nil, errors.New("it does not end in ] or )")
		}
	}
	inside, likes, isLike := strings.Cut(inside, " like ")
	from, to, hasTo := strings.Cut(inside, "..")
	if hasTo != isRow {
		return p, nil, errors.New("a row is from..to)")
	}
	p.At, err = readNumber(from)
	p.N = 1
	if err == nil && isRow {
		var end int
		end, err = readNumber(to)
		p.N = end - p.At
	}
	if err == nil && isLike {
		like, err = readNumbers(likes)
	}
	if err == nil && p.N < 1 {
		err = errors.New("it is empty")
	}
	return p, like, err
}

// readNumbers returns one number or two.
func readNumbers(text string) (list []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		n, err := readNumber(part)
		if err != nil || len(list) == 2 {
			return nil, cmp.Or(err, errors.New("more than two numbers after like"))
		}
		list = append(list, n)
	}
	return list, nil
}

func readNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err == nil && (n < 0 || n > maxNumber) {
		err = fmt.Errorf("%d is out of range", n)
	}
	return n, err
}

// placeText does the reverse of what a placer does.
func placeText(p gen.Place, s *gen.Schedule) string {
	if p.Buf == "" {
		return nothing
	}
	text, like := p.String(), ""
	switch {
	case p.Buf != spec.Scratch:
		return text
	case s.Primitive.Arity() == 2:
		like = fmt.Sprintf(" like %d,%d", p.Length[0], p.Length[1])
	case s.Primitive.Arity() == 1:
		like = fmt.Sprintf(" like %d", p.Length[0])
	case s.Chunks > 1:
		like = fmt.Sprintf(" like %d", p.Like)
	}
	end := len(text) - 1 // its closing bracket
	return text[:end] + like + text[end:]
}
