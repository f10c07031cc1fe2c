package gen

import (
	"fmt"
	"strings"

	"github.com/collgen/collgen/spec"
)

// ParseRegion returns the region that text says, in the notation of [Region.String]: out[c], out[c..+n],
// scratch[s like c], scratch[s like n[b]] or nothing. What is in it is as [spec.Parse] takes it.
func ParseRegion(text string) (Region, error) {
	buffer, inside, bracket := strings.Cut(strings.TrimSpace(text), "[")
	switch {
	case !bracket && buffer == "nothing":
		return Region{}, nil
	case !bracket || !strings.HasSuffix(inside, "]"):
		return Region{}, fmt.Errorf("%q is no region, such as out[c] or out[c..+n]", text)
	}
	r := Region{Buf: spec.Buf(strings.TrimSpace(buffer))}
	where, like, isLike := strings.Cut(strings.TrimSuffix(inside, "]"), " like ")
	at, n, isSpan := strings.Cut(where, "..+")
	err := parseInto(&r.At, at)
	if isSpan && err == nil {
		err = parseInto(&r.N, n)
	}
	switch counts, uneven := strings.CutPrefix(like, "n["); {
	case !isLike || err != nil:
	case uneven && strings.HasSuffix(counts, "]"):
		for _, count := range strings.Split(strings.TrimSuffix(counts, "]"), "][") {
			var e spec.Expr
			if err == nil {
				err = parseInto(&e, count)
			}
			r.Counts = append(r.Counts, e)
		}
	default:
		err = parseInto(&r.Like, like)
	}
	if err != nil {
		return Region{}, fmt.Errorf("%q: %w", text, err)
	}
	return r, nil
}

func parseInto(e *spec.Expr, text string) (err error) {
	*e, err = spec.Parse(text)
	return err
}
