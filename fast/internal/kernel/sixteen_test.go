package kernel

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
)

// TestSixteenBits combines each of the 65,536 values of a 16-bit type, as the first operand and as the second one, with
// many special and random partners; with all 65,536, if COLLGEN_SOAK is set: -run TestSixteenBits/min/bfloat16/3 is one
// of 16 slices of that, of the partners whose first digit is 3.
func TestSixteenBits(t *testing.T) {
	for _, typ := range []spec.Type{spec.TypeInt16, spec.TypeUint16, spec.TypeFloat16, spec.TypeBFloat16} {
		for _, op := range spec.Ops() {
			if !op.Takes(typ) || op == spec.OpAvg { // which is Sum
				continue
			}
			for slice, some := range partners(typ) {
				t.Run(fmt.Sprintf("%v/%v/%x", op, typ, slice), func(t *testing.T) { checkPartners(t, op, typ, some) })
			}
		}
	}
}

// checkPartners combines every value with some, by every implementation.
func checkPartners(t *testing.T, op spec.Op, typ spec.Type, some []uint16) {
	all := everyValue()
	want, got, b := make([]byte, len(all)), make([]byte, len(all)), make([]byte, len(all))
	orders := [][2][]byte{{all, b}, {b, all}}
	if soak() {
		orders = orders[:1] // the other one comes with other partners
	}
	for _, partner := range some {
		for i := range view[uint16](b) {
			view[uint16](b)[i] = partner
		}
		for _, operands := range orders {
			kinds[typ].combine(op, want, operands[0], operands[1])
			for _, c := range candidates {
				if c.missing != "" {
					continue
				}
				c.kernel(op, typ)(got, operands[0], operands[1])
				if err := kinds[typ].difference(2, got, want); err != nil {
					t.Fatalf("%s: with %04x: %v", c.name, partner, err)
				}
			}
		}
	}
}

// TestSixteenBitsDivided divides each of the 65,536 values.
func TestSixteenBitsDivided(t *testing.T) {
	for _, typ := range []spec.Type{spec.TypeInt16, spec.TypeUint16, spec.TypeFloat16, spec.TypeBFloat16} {
		forImplementations(t, func(t *testing.T, m *implementation) {
			for _, size := range sizes {
				got, want := everyValue(), everyValue()
				m.finish(spec.OpAvg, typ, got, size)
				kinds[typ].finish(spec.OpAvg, want, size)
				if err := kinds[typ].difference(2, got, want); err != nil {
					t.Fatalf("%v by %d: %v", typ, size, err)
				}
			}
		})
	}
}

// everyValue returns the values of 16 bits, each once.
func everyValue() []byte {
	all := make([]byte, 2<<16)
	for i := range view[uint16](all) {
		view[uint16](all)[i] = uint16(i)
	}
	return all
}

// soak reports whether the tests may take long.
func soak() bool { return os.Getenv("COLLGEN_SOAK") != "" }

// partners are slices of values to combine with all values: of all of them, under soak.
func partners(typ spec.Type) (slices [][]uint16) {
	if soak() {
		for first := range 16 {
			slices = append(slices, view[uint16](everyValue())[first<<12:(first+1)<<12])
		}
		return slices
	}
	some := make([]byte, 2*24)
	random := rand.New(rand.NewPCG(5, uint64(typ)))
	kinds[typ].fill(random, spectest.Special, some[:32])
	kinds[typ].fill(random, spectest.Mixed, some[32:])
	return [][]uint16{view[uint16](some)}
}
