package kernel

import (
	"fmt"
	"testing"

	"github.com/collgen/collgen/spec"
)

// TestEightBits combines each of the 256 values of a type of one byte with each, and divides each.
func TestEightBits(t *testing.T) {
	for _, typ := range spec.Types() {
		if typ.Bytes() > 1 || typ == spec.TypeBool {
			continue
		}
		for _, op := range spec.Ops() {
			if !op.Takes(typ) {
				continue
			}
			t.Run(fmt.Sprintf("%v/%v", op, typ), func(t *testing.T) {
				forImplementations(t, func(t *testing.T, m *implementation) { checkBytes(t, m, op, typ) })
			})
		}
	}
}

func checkBytes(t *testing.T, m *implementation, op spec.Op, typ spec.Type) {
	a, b, got, want := make([]byte, 1<<16), make([]byte, 1<<16), make([]byte, 1<<16), make([]byte, 1<<16)
	for i := range a {
		a[i], b[i] = byte(i), byte(i>>8)
	}
	kinds[typ].combine(op, want, a, b)
	m.kernel(op, typ)(got, a, b)
	if err := kinds[typ].difference(1, got, want); err != nil {
		t.Error(err)
	}
	for _, size := range sizes {
		copy(got[:256], a)
		copy(want[:256], a)
		m.finish(op, typ, got[:256], size)
		kinds[typ].finish(op, want[:256], size)
		if err := kinds[typ].difference(1, got[:256], want[:256]); err != nil {
			t.Errorf("divided by %d: %v", size, err)
		}
	}
}
