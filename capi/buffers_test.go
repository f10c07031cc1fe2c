package main

import (
	"errors"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/collgen/collgen/fast"
)

// TestBufferMemory has buffers that can be, and those that cannot.
func TestBufferMemory(t *testing.T) {
	backing := make([]int64, 16)
	here := uintptr(unsafe.Pointer(unsafe.SliceData(backing)))
	for name, test := range map[string]struct {
		b     buffer
		count int
		bytes int // -1: it is refused
	}{
		"one block":                {buffer{data: here, blocks: 1, passed: true}, 3, 24},
		"a block of each rank":     {buffer{data: here, blocks: eachRank, passed: true}, 3, 96},
		"no elements":              {buffer{blocks: 1, passed: true}, 0, 0},
		"not passed":               {buffer{blocks: 1}, 3, 0},
		"not passed, and nonsense": {buffer{data: 8, blocks: 1}, -3, 0},
		"NULL":                     {buffer{blocks: 1, passed: true}, 1, -1},
		"a small number":           {buffer{data: lowest - 1, blocks: 1, passed: true}, 1, -1},
		"beyond all memory":        {buffer{data: ^uintptr(0) - 15, blocks: 1, passed: true}, 3, -1},
		"a negative count":         {buffer{data: here, blocks: 1, passed: true}, -1, -1},
		"too many":                 {buffer{data: here, blocks: eachRank, passed: true}, math.MaxInt / 16, -1},
		"uneven":                   {buffer{data: here, passed: true, counts: []int{1, 0, 2, 3}}, 0, 48},
		"with gaps": {buffer{data: here, passed: true, counts: []int{1, 0, 2, 3}, displs: []int{9, 11, 4, 0}}, 0,
			88},
		"a negative length": {buffer{data: here, passed: true, counts: []int{1, -1, 2, 3}}, 0, -1},
		"a negative place":  {buffer{data: here, passed: true, counts: []int{1, 1}, displs: []int{0, -1}}, 0, -1},
		"too long": {buffer{data: here, passed: true, counts: []int{math.MaxInt / 8, math.MaxInt / 8}}, 0,
			-1},
		"too far": {buffer{data: here, passed: true, counts: []int{1}, displs: []int{math.MaxInt}}, 0, -1},
	} {
		got, err := test.b.memory(test.count, 4, 8)
		switch {
		case test.bytes < 0 && !errors.Is(err, fast.ErrInvalidArgument):
			t.Errorf("%s: %v, %d bytes", name, err, len(got))
		case test.bytes >= 0 && (err != nil || len(got) != test.bytes):
			t.Errorf("%s: %v, %d bytes, want %d", name, err, len(got), test.bytes)
		}
	}
}

// TestLieIn: in place, a buffer begins where its block is in the other one.
func TestLieIn(t *testing.T) {
	const base = 1 << 20
	for _, test := range []struct {
		whole buffer
		block int
		want  int // elements from the beginning
	}{
		{buffer{blocks: eachRank}, -1, 0},
		{buffer{blocks: eachRank}, 2, 10},
		{buffer{counts: []int{3, 4, 5}}, 2, 7},
		{buffer{counts: []int{3, 4, 5}, displs: []int{30, 20, 10}}, 1, 20},
	} {
		var part buffer
		test.whole.data = base
		if err := part.lieIn(&test.whole, test.block, 5, 3, 2); err != nil || part.data != uintptr(base+2*test.want) {
			t.Errorf("%v: %#x, want %d elements on: %v", test.whole, part.data, test.want, err)
		}
	}
	wrong := buffer{data: base, counts: []int{1, -1}}
	if err := new(buffer).lieIn(&wrong, 1, 0, 2, 2); !errors.Is(err, fast.ErrInvalidArgument) {
		t.Errorf("%v", err)
	}
	if b := (&buffer{counts: []int{1}, displs: []int{2}}).blocksOf(); !slices.Equal(b.Counts, []int{1}) ||
		!slices.Equal(b.Displs, []int{2}) {
		t.Errorf("%v", b)
	}
}
