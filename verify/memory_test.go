package verify_test

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/collgen/collgen/spec"
)

// guarded is a buffer with a strip of known memory on both sides.
type guarded[T spec.Elem] struct {
	all, elements []T
}

const strip, canary = 67, 0xa5

// newGuarded is a buffer of length bytes, which is lead elements off the alignment of its memory.
func newGuarded[T spec.Elem](lead, length int) *guarded[T] {
	n := length / size[T]()
	all := make([]T, strip+lead+n+strip)
	b := raw(all)
	for i := range b {
		b[i] = canary
	}
	return &guarded[T]{all, all[strip+lead : strip+lead+n : strip+lead+n]}
}

// strayed says where the strips were written to, if they were.
func (g *guarded[T]) strayed() string {
	before := len(g.all) - strip - len(g.elements)
	for i, x := range raw(g.all) {
		at := i/size[T]() - before
		if (at < 0 || at >= len(g.elements)) && x != canary {
			return fmt.Sprintf("element %d of %d ", at, len(g.elements))
		}
	}
	return ""
}

func size[T any]() int { return int(unsafe.Sizeof(*new(T))) }

// raw is the memory of s.
func raw[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*size[T]())
}

// typed is the elements that lie in b, which came from make([]T) or is copied.
func typed[T any](b []byte) []T {
	s := make([]T, len(b)/size[T]())
	copy(raw(s), b)
	return s
}

// plain gives every NaN in s one pattern: payloads and signs of NaNs are not specified.
func plain[T spec.Elem](s []T) []T {
	switch s := any(s).(type) {
	case []float32:
		plainFloats(s, float32(math.NaN()))
	case []float64:
		plainFloats(s, math.NaN())
	case []complex64:
		plainFloats(unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(s))), 2*len(s)), float32(math.NaN()))
	case []complex128:
		plainFloats(unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(s))), 2*len(s)), math.NaN())
	case []spec.Float16:
		for i, x := range s {
			if f := x.Float32(); f != f {
				s[i] = spec.NewFloat16(float32(math.NaN()))
			}
		}
	case []spec.BFloat16:
		for i, x := range s {
			if f := x.Float32(); f != f {
				s[i] = spec.NewBFloat16(float32(math.NaN()))
			}
		}
	}
	return s
}

func plainFloats[F float32 | float64](s []F, nan F) {
	for i, x := range s {
		if x != x {
			s[i] = nan
		}
	}
}
