package kernel

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// asKernel returns a copy as the kernel that ignores its second operand.
func asKernel(f func(dst, src []byte)) wire.Kernel {
	return func(dst, a, _ []byte) { f(dst, a) }
}

// checkCopy copies every number of bytes up to longest, in every layout.
func checkCopy(f func(dst, src []byte)) error {
	arena := newField(3*longest + 64)
	defer arena.free()
	a, b := randomBytes(longest), randomBytes(longest)
	for _, l := range layouts {
		for n := range longest + 1 {
			for _, from := range []int{0, 1, 63, len(arena.memory) - l.operands()*n} {
				if l.dst == l.b && l.dst != l.a {
					continue // there is no second operand
				}
				if err := checkCall(asKernel(f), l, arena, from, a[:n], b[:n], a[:n], spec.TypeUint8); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func randomBytes(n int) []byte {
	random := rand.New(rand.NewPCG(7, uint64(n)))
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}

func TestCopy(t *testing.T) {
	forImplementations(t, func(t *testing.T, m *implementation) {
		if err := checkCopy(m.copy); err != nil {
			t.Error(err)
		}
	})
	if err := checkCopy(moveBytes); err != nil {
		t.Error(err)
	}
	for _, n := range []int{0, 1, short, 1 << 20, streamed - 1, streamed + 7} {
		src := randomBytes(n)
		dst := make([]byte, n+1)
		Copy(dst[:n], src)
		if !bytes.Equal(dst[:n], src) || dst[n] != 0 {
			t.Errorf("%d bytes: not a copy", n)
		}
	}
	for _, n := range []int{0, 1, delivered - 1, delivered, delivered + 1, 100003} {
		src, dst := randomBytes(n), make([]byte, n+1)
		Deliver(dst[:n], src)
		if !bytes.Equal(dst[:n], src) || dst[n] != 0 {
			t.Errorf("%d bytes: not delivered", n)
		}
	}
	if checkCopy(func(dst, src []byte) { copy(dst, src[:len(src)&^1]) }) == nil {
		t.Error("a copy without the last byte is not found")
	}
}

// TestJustBehind: the places at which REP MOVSB is slow are told from others, whole pages apart, too.
func TestJustBehind(t *testing.T) {
	memory := make([]byte, 5*4096)
	for _, x := range []struct {
		dst, src int
		want     bool
	}{
		{0, 0, false}, {1, 0, true}, {16, 0, true}, {63, 0, true}, {64, 0, false}, {0, 1, false}, {4096, 0, false},
		{4097, 0, true}, {8192 + 32, 0, true}, {0, 4095, true}, {100, 4096 + 99, true}, {100, 4096 + 100, false},
		{100, 4096 + 101, false},
	} {
		if got := justBehind(memory[x.dst:x.dst+8], memory[x.src:x.src+8]); got != x.want {
			t.Errorf("%d is just behind %d: %t", x.dst, x.src, got)
		}
	}
	if justBehind(nil, nil) {
		t.Error("nothing is just behind nothing")
	}
}
