package c

import (
	"strings"

	"github.com/collgen/collgen/spec"
)

// Signature is the function of a primitive as other languages need it to call the function.
type Signature struct {
	Function string   // "collgen_gatherv"
	Params   []string // between the communicator and the options, by name: "dst", "dst_counts", …
	Dst, Src Shape
	// Which buffer has the other one in place, and which block of it that is: "dst", "src", "dst rank", "src root"; "": a
	// call is never in place.
	InPlace string
}

// Shape is what a buffer is made of.
type Shape struct {
	Blocks int    // how many blocks it has, or EachRank
	On     string // which ranks pass it: "all", "root", or "others", which are all but the first
	Uneven bool   // it has counts and displacements
}

// EachRank is the number of blocks of a buffer with one of each rank.
const EachRank = -1

// SignatureOf returns the signature of the function of p. It fails where p has a shape that no C function is printed
// for.
func SignatureOf(p spec.Primitive) (Signature, error) {
	dst, src, at, err := shapeOf(p)
	if err != nil {
		return Signature{}, err
	}
	is := Signature{Function: functionName(p), Dst: dst.shape(), Src: src.shape(),
		InPlace: strings.TrimSpace(at.whole + " " + at.at)}
	for _, declared := range declarations(p, dst, src) {
		words := strings.FieldsFunc(declared, func(r rune) bool { return r == ' ' || r == '*' })
		is.Params = append(is.Params, words[len(words)-1])
	}
	return is, nil
}

// shape returns b as other languages need it.
func (b *buffer) shape() Shape {
	is := Shape{Blocks: EachRank, On: "all", Uneven: b.uneven}
	if b.blocks != each {
		is.Blocks = int(b.Blocks.N)
	}
	if b.on != "" {
		is.On = ranksOf[b.on].name
	}
	return is
}
