package spec

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// Hash identifies what p promises: the SHA-256 of a canonical text of all of p but the examples and the words meant for
// people, which are Doc and the reasons of argument errors. It is the same in every process and on every machine.
func (p Primitive) Hash() [sha256.Size]byte { return sha256.Sum256([]byte(p.canonical())) }

// canonical returns p's text: one line for each part, in the order of the type's fields.
func (p Primitive) canonical() string {
	var t strings.Builder
	fmt.Fprintf(&t, "primitive %s\n", p.Name)
	for _, x := range p.Params {
		fmt.Fprintf(&t, "param %s\n", x)
	}
	fmt.Fprintf(&t, "in blocks %v on %v\n", p.In.Blocks, p.In.On)
	fmt.Fprintf(&t, "out blocks %v on %v\n", p.Out.Blocks, p.Out.On)
	for _, b := range []Buf{In, Out} {
		for _, e := range p.buffer(b).Counts {
			fmt.Fprintf(&t, "%s counts %v\n", b, e)
		}
	}
	for _, c := range p.Pre {
		fmt.Fprintf(&t, "pre %s\n", c.canonical())
	}
	for _, c := range p.Post {
		fmt.Fprintf(&t, "post %s\n", c.canonical())
	}
	fmt.Fprintf(&t, "in place %v as %v\n", p.InPlace.InBlock, p.InPlace.OutBlock)
	fmt.Fprintf(&t, "order %v\n", p.Order)
	for _, e := range p.Errors {
		fmt.Fprintf(&t, "refuse %v\n", e.When)
	}
	return t.String()
}

func (c Clause) canonical() string {
	v := c.Value
	return fmt.Sprintf("%s where %v holds %v rank %v block %v where %v", c.Buf, c.Where, v.Kind, v.Rank, v.Block, v.Where)
}
