package mutants

import (
	"errors"
	"reflect"

	"github.com/collgen/collgen/spec"
)

// Unnoticed returns the mutants of p that promise something else than p, that spec.Validate accepts, and that fit p's
// examples as p does: no example says which of the two is meant. refused is how many others there are, which an example
// refuses.
func Unnoticed(p spec.Primitive) (unnoticed []Mutant, refused int) {
	made := map[string]bool{} // several ways lead to one expression
	for _, m := range Of(p) {
		bare := m.Primitive
		bare.Examples = nil
		isNew := !made[m.String()]
		made[m.String()] = true
		switch {
		case !isNew || same(p, bare) || spec.Validate(bare) != nil:
		case spec.Validate(m.Primitive) != nil:
			refused++
		default:
			unnoticed = append(unnoticed, m)
		}
	}
	return unnoticed, refused
}

// MaxSize is how many ranks the calls have on which two specifications are compared.
const MaxSize = 5

// same reports whether p and q refuse the same calls of up to MaxSize ranks and promise the same of the others, the
// order of reductions aside: that is one word, which an example could but repeat.
func same(p, q spec.Primitive) bool {
	for size := 1; size <= MaxSize; size++ {
		for c := range p.CallsAround(size) {
			if !sameCall(p, q, c) {
				return false
			}
		}
	}
	return true
}

func sameCall(p, q spec.Primitive, c spec.Call) bool {
	x, err1 := spec.Expect(p, c)
	y, err2 := spec.Expect(q, c)
	if err1 == nil && err2 == nil {
		return reflect.DeepEqual(x.Ranks, y.Ranks)
	}
	var refused *spec.RefusedError
	return errors.As(err1, &refused) && errors.As(err2, &refused)
}
