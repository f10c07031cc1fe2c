package colltest

import (
	"strings"
	"testing"
)

// TestHugeCases: each primitive that has buffers has a call, whose longest buffer is longer than the limit.
func TestHugeCases(t *testing.T) {
	s := NewSuite(nothing{})
	for _, x := range s.can.Primitives {
		c, ok := s.huge(x)
		if ok != hasBuffers(x.Primitive) {
			t.Errorf("%s: %v", x.Primitive.Name, ok)
		}
		if !ok {
			continue
		}
		c.Steps[0].Count /= 1 << 16 // as long as nothing is to be kept in memory
		calls, err := c.Steps[0].Arrange(c.Size)
		if err != nil {
			t.Fatal(err)
		}
		longest := 0
		for _, call := range calls {
			if call != nil {
				longest = max(longest, len(call.In()), len(call.Out()))
			}
		}
		if n := uint64(longest); n < hugeBytes>>16 || n > hugeBytes>>15 {
			t.Errorf("%s: the longest buffer has 2^16 times %d bytes", x.Primitive.Name, longest)
		}
	}
}

// TestHugeUntested: without the memory for it, no such call is made, and it is said.
func TestHugeUntested(t *testing.T) {
	before := hugeMemory
	t.Cleanup(func() { hugeMemory = before })
	hugeMemory = 1 << 63
	s := NewSuite(nothing{})
	if found := s.Huge(t.Context(), s.can.Primitives...); len(found) > 0 || len(s.Tested) > 0 ||
		!strings.Contains(strings.Join(s.Untested(), "; "), "GiB of memory are available") {
		t.Errorf("found %v, tested %v, untested %v", found, s.Tested, s.Untested())
	}
}
