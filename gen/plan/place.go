package plan

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// placer reads places, and keeps the first error.
type placer struct {
	chunks int // of a block
	err    error
}

func (p *placer) all(texts ...string) (list []gen.Place) {
	for _, t := range texts {
		list = append(list, p.one(t))
	}
	return list
}

func (p *placer) one(text string) gen.Place {
	place, err := readPlace(text, p.chunks)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("%q is no place, such as in[2], out[0..4) or scratch[1 like 3]: %w", text, err)
	}
	return place
}

// nothing is the text of the place of a message without data.
const nothing = "nothing"

// readPlace returns the place that text says: buffer[at], buffer[from..to), and "like chunk" before the closing
// bracket.
func readPlace(text string, chunks int) (p gen.Place, err error) {
	if text == nothing {
		return p, nil
	}
	buf, inside, ok := strings.Cut(text, "[")
	if p.Buf = spec.Buf(buf); !ok || p.Buf != spec.In && p.Buf != spec.Out && p.Buf != spec.Scratch {
		return p, errors.New("there are the buffers in, out and scratch")
	}
	inside, isRow := strings.CutSuffix(inside, ")")
	if !isRow {
		if inside, ok = strings.CutSuffix(inside, "]"); !ok {
			return p, errors.New("it does not end in ] or )")
		}
	}
	inside, like, isLike := strings.Cut(inside, " like ")
	from, to, hasTo := strings.Cut(inside, "..")
	if hasTo != isRow {
		return p, errors.New("a row is from..to)")
	}
	p.At, err = readNumber(from)
	p.N = 1
	if err == nil && isRow {
		var end int
		end, err = readNumber(to)
		p.N = end - p.At
	}
	p.Like = p.At % chunks
	if p.Buf == spec.Scratch {
		p.Like = 0
	}
	if err == nil && isLike {
		p.Like, err = readNumber(like)
	}
	if err == nil && p.N < 1 {
		err = errors.New("it is empty")
	}
	return p, err
}

func readNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err == nil && (n < 0 || n > maxNumber) {
		err = fmt.Errorf("%d is out of range", n)
	}
	return n, err
}

// placeText does the reverse of readPlace.
func placeText(p gen.Place, chunks int) string {
	if p.Buf == "" {
		return nothing
	}
	text := p.String()
	if p.Buf == spec.Scratch && chunks > 1 {
		text = strings.TrimSuffix(text, "]") + fmt.Sprintf(" like %d]", p.Like) // rows of scratch have chunks of one length
	}
	return text
}
