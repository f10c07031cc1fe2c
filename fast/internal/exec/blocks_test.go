package exec

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
)

// TestCheckBlocks: blocks lie in their buffer, and beside each other; empty ones lie anywhere in it.
func TestCheckBlocks(t *testing.T) {
	for _, test := range []struct {
		is     Blocks
		length int
		want   string // "": they are right
	}{
		{Blocks{Counts: []int{2, 0, 3}}, 5, ""},
		{Blocks{Counts: []int{}}, 0, ""},
		{Blocks{Counts: []int{2, 3}, Displs: []int{3, 0}}, 5, ""},
		{Blocks{Counts: []int{2, 3}, Displs: []int{0, 4}}, 9, ""},
		{Blocks{Counts: []int{4, 0, 1}, Displs: []int{0, 2, 4}}, 5, ""},
		{Blocks{Counts: []int{1, 0}, Displs: []int{0, 1}}, 1, ""},
		{Blocks{Counts: []int{2, 4, 0}, Displs: []int{4, 0, 2}}, 6, ""},
		{Blocks{Counts: []int{2, 2}}, 5, "have 4 elements, and len(dst) is 5"},
		{Blocks{Counts: []int{2, 4}}, 5, "block 1 of dst has 4 elements from 2 on, and len(dst) is 5"},
		{Blocks{Counts: []int{2, -1}}, 3, "block 1 of dst has -1 elements"},
		{Blocks{Counts: []int{math.MaxInt, math.MaxInt}}, 5, "block 0 of dst has"},
		{Blocks{Counts: []int{1, math.MaxInt}, Displs: []int{0, 4}}, 5, "block 1 of dst has"},
		{Blocks{Counts: []int{1, 1}, Displs: []int{0, math.MaxInt}}, 5, "block 1 of dst has"},
		{Blocks{Counts: []int{1, 1}, Displs: []int{-1, 0}}, 5, "block 0 of dst has 1 elements from -1 on"},
		{Blocks{Counts: []int{0}, Displs: []int{6}}, 5, "block 0 of dst has 0 elements from 6 on"},
		{Blocks{Counts: []int{3, 2}, Displs: []int{0, 2}}, 5, "two blocks of dst have element 2"},
		{Blocks{Counts: []int{2, 3}, Displs: []int{2, 0}}, 5, "two blocks of dst have element 2"},
		{Blocks{Counts: []int{5, 1, 1}, Displs: []int{0, 6, 3}}, 7, "two blocks of dst have element 3"},
		{Blocks{Counts: []int{1, 1}, Displs: []int{0}}, 2, "dst has 1 Displs and 2 Counts"},
	} {
		err := CheckBlocks(test.is, "AllGatherV", "dst", test.length, false)
		if test.want == "" && err == nil {
			continue
		}
		if test.want == "" || !errors.Is(err, wire.ErrInvalidArgument) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v of %d elements: %v, want %q", test.is, test.length, err, test.want)
		}
	}
}

// TestShare: buffers share memory if their blocks do; what lies between blocks is not theirs.
func TestShare(t *testing.T) {
	memory := make([]byte, 12)
	for _, test := range []struct {
		dst, src []extent // in memory[0:] and memory[2:]
		want     bool
	}{
		{[]extent{{8, 10}, {0, 2}}, []extent{{0, 6}}, false},
		{[]extent{{8, 10}, {0, 3}}, []extent{{0, 6}}, true},
		{[]extent{{7, 10}, {0, 2}}, []extent{{0, 6}}, true},
		{[]extent{{4, 5}}, []extent{{0, 6}}, true},
		{[]extent{{0, 12}}, []extent{{3, 4}}, true},
		{[]extent{{4, 4}}, []extent{{0, 6}}, false},
		{[]extent{{0, 12}}, []extent{{3, 3}}, false},
		{[]extent{{2, 4}, {6, 8}}, []extent{{2, 4}, {6, 8}}, false},
		{[]extent{{2, 4}, {6, 8}}, []extent{{2, 4}, {5, 8}}, true},
		{nil, []extent{{0, 6}}, false},
	} {
		b := &blocks{dst: test.dst, src: test.src}
		if got := b.share(memory, memory[2:]); got != test.want {
			t.Errorf("%v and %v share memory: %t, want %t", test.dst, test.src, got, test.want)
		}
	}
}
