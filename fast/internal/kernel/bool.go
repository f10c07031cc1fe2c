package kernel

import (
	"encoding/binary"
	"sync"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Tidy makes a 1 of every byte that is neither 0 nor 1, and writes nothing else. Go takes a bool for one of the two, so
// that a program may do anything with another byte.
func Tidy(bools []byte) {
	for ; len(bools) >= 8; bools = bools[8:] {
		if binary.NativeEndian.Uint64(bools)&^0x0101010101010101 != 0 {
			tidyEach(bools[:8])
		}
	}
	tidyEach(bools)
}

func tidyEach(bools []byte) {
	for i, b := range bools {
		if b > 1 {
			bools[i] = 1
		}
	}
}

// onBools returns k, a function of the program on bools, with operands that are bools. They come from other ranks, in
// whose memory they may be and may still change, so k gets copies.
func onBools(k wire.Kernel) wire.Kernel {
	return func(dst, a, b []byte) {
		copies := boolCopies.Get().(*[2][Piece]byte)
		for len(dst) > 0 {
			n := min(len(dst), Piece)
			x, y := copies[0][:n], copies[1][:n]
			copy(x, a[:n])
			copy(y, b[:n])
			Tidy(x)
			Tidy(y)
			k(dst[:n], x, y)
			dst, a, b = dst[n:], a[n:], b[n:]
		}
		boolCopies.Put(copies)
	}
}

// boolCopies has memory for copies of two operands.
var boolCopies = sync.Pool{New: func() any { return new([2][Piece]byte) }}
