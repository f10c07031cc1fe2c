package colltest

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strings"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
)

// Huge is the name under which Tested has the calls of [Suite.Huge].
const Huge = "huge"

// hugeBytes is more than an int32 can count. A call of Huge takes hugeMemory bytes: two ranks have their buffers, what
// these were before, and what they should be.
var hugeBytes, hugeMemory = uint64(1 << 31), uint64(18 << 30)

// Huge makes a call of each primitive on two ranks, or the fewest from there on, whose longest buffer has more than
// 2^31 bytes. It makes none where less than 18 GiB of memory are available, or if the implementation does not have such
// calls, and Untested says so.
func (s *Suite) Huge(ctx context.Context, of ...Support) []*Failure {
	if have := min(availableMemory(), math.MaxUint); have < hugeMemory {
		s.untested = append(s.untested, fmt.Sprintf("calls with more than 2^31 bytes: %d of %d GiB of memory are available",
			have>>30, hugeMemory>>30))
		return nil
	}
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	return s.check(ctx, Huge, false, func(yield func(Case) bool) {
		for _, x := range of {
			debug.FreeOSMemory() // that of the call before
			if c, ok := s.huge(x); ok && s.can.Huge && !yield(c) {
				return
			}
		}
	})
}

// huge returns a call of one primitive with a buffer of hugeBytes, and a little more.
func (s *Suite) huge(x Support) (c Case, ok bool) {
	for _, size := range s.can.sizesFor(x.Primitive) {
		if size < 2 {
			continue
		}
		w := swept{c: &s.can, of: x, size: size, roots: calls(x.Primitive, size)}
		for _, kind := range s.can.reductions(x.Primitive) {
			if kind.Type != spec.TypeInt64 || !hasBuffers(x.Primitive) {
				continue
			}
			forms := x.forms()
			step := w.step(kind, forms[len(forms)-1])
			step.Values.Kind, step.Guard = spectest.Whole, 0
			step.Count = int(hugeBytes/uint64(kind.Type.Bytes()*w.longest(&step))) + 1
			return Case{Size: size, Steps: []Step{step}}, step.Count == s.can.within(step.Count)
		}
	}
	return c, false
}

// longest returns the largest number of blocks in a buffer.
func (w *swept) longest(s *Step) (n int) {
	x, err := spec.Expect(w.of.Primitive, s.call(w.size))
	if err != nil {
		return 1 // the call reports the error
	}
	for rank := range x.Ranks {
		n = max(n, len(x.Ranks[rank].In), len(x.Ranks[rank].Out))
	}
	return n
}

// availableMemory returns how many bytes of memory can be had, or a large number if the system does not say.
func availableMemory() uint64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 1 << 62
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kib uint64
		if text, is := strings.CutPrefix(lines.Text(), "MemAvailable:"); is {
			if _, err := fmt.Sscan(text, &kib); err == nil {
				return kib << 10
			}
		}
	}
	return 1 << 62
}
