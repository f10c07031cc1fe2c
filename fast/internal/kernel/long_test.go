package kernel

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
)

// TestLong: of long operands a kernel, a fold and a division make what they make of them piece by piece, in pieces as
// short as those that TestKernels, TestMany and TestFinish compare with the reference.
func TestLong(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	forAll(t, func(t *testing.T, m *implementation, op spec.Op, typ spec.Type) {
		size := typ.Bytes()
		piece, n := 1024/size*size, 1<<20+3*size
		operands := [][]byte{make([]byte, n), make([]byte, n), make([]byte, n)}
		once := make([]byte, 1<<14) // to be repeated: random values take long
		for i, operand := range operands {
			kinds[typ].fill(random, spectest.Mixed, once)
			for at := 0; at < n; at += len(once) - (i+1)*size {
				copy(operand[at:], once)
			}
		}
		whole, pieces := make([]byte, n), make([]byte, n)
		compare := func(what string, do func(dst []byte, operands [][]byte)) {
			t.Helper()
			do(whole, operands)
			for from := 0; from < n; from += piece {
				to := min(from+piece, n)
				do(pieces[from:to], [][]byte{operands[0][from:to], operands[1][from:to], operands[2][from:to]})
			}
			if err := kinds[typ].difference(size, whole, pieces); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		k := m.kernel(op, typ)
		compare("a kernel", func(dst []byte, x [][]byte) { k(dst, x[0], x[1]) })
		compare("a kernel in place", func(dst []byte, x [][]byte) {
			copy(dst, x[2])
			k(dst, x[0], dst)
		})
		if many := m.folds[op][typ]; many != nil {
			compare("a fold", many)
		}
		compare("a division", func(dst []byte, x [][]byte) {
			copy(dst, x[0])
			m.finish(op, typ, dst, 3)
		})
	})
}

// ways are those in which memory is copied.
var ways = map[string]func(dst, src []byte){"Copy": Copy, "Deliver": Deliver, "best": best.copy}

// TestLongCopies: copies are whole, and nothing else is written, around every length from which on another way is
// taken.
func TestLongCopies(t *testing.T) {
	const most = 36 << 20 // more than streamed
	src := make([]byte, most)
	for i := range src {
		src[i] = byte(i*7 + i>>8 + i>>16)
	}
	dst := make([]byte, most+128)
	for name, move := range ways {
		for _, edge := range []int{0, short, delivered, 64 << 10, 1 << 20, streamed} {
			for n := max(0, edge-2); n <= edge+2; n++ {
				for _, at := range []int{0, 1, 63} {
					clear(dst[:n+128])
					move(dst[at:][:n:n], src[64-at:][:n])
					if !bytes.Equal(dst[at:][:n], src[64-at:][:n]) || bytes.Count(dst[:at], []byte{0}) != at ||
						bytes.Count(dst[at+n:n+128], []byte{0}) != 128-at {
						t.Errorf("%s of %d bytes to byte %d of a line: not whole, or more than that", name, n, at)
					}
				}
			}
		}
	}
}
