package verify_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/colltest"
	"pgregory.net/rapid"
)

// differences says how the results of a call differ from what was expected.
func differences(e expected, got []rankResult) string {
	var b strings.Builder
	for r, g := range got {
		w, call := e.want[r], &e.calls[r]
		switch {
		case g.Err != "":
			fmt.Fprintf(&b, "rank %d: %s\n", r, g.Err)
		case len(g.Memory) != len(w.Memory):
			fmt.Fprintf(&b, "rank %d: memory of %d bytes, want %d\n", r, len(g.Memory), len(w.Memory))
		case call.takesPart() && !bytes.Equal(call.plain(g.Memory), w.Memory):
			fmt.Fprintf(&b, "rank %d: memory, in which in begins at %d and out at %d, is %v, want %v\n",
				r, call.InAt, call.OutAt, brief(g.Memory, w.Memory), brief(w.Memory, g.Memory))
		}
	}
	return b.String()
}

// brief returns b about the first byte in which it differs from other.
func brief(b, other []byte) string {
	i := 0
	for i < len(b) && i < len(other) && b[i] == other[i] {
		i++
	}
	return fmt.Sprintf("%d bytes, from byte %d on % x", len(b), i, b[i:min(i+16, len(b))])
}

// TestDifferences: every kind of wrong result is seen.
func TestDifferences(t *testing.T) {
	step := colltest.Step{Primitive: "AllToAll", Type: spec.TypeFloat32, Count: 1}
	calls, err := step.Arrange(1)
	if err != nil {
		t.Fatal(err)
	}
	call := rankCall{Call: *calls[0]}
	nan := func(payload byte) *colltest.Call {
		c := call.Clone()
		copy(c.Out(), []byte{payload, 0, 0xc0, 0x7f})
		return c
	}
	e := expected{calls: []rankCall{call}, want: []rankResult{{Memory: call.plain(nan(1).Memory)}}}
	if d := differences(e, []rankResult{{Memory: nan(2).Memory}}); d != "" {
		t.Errorf("one NaN is as good as another: %s", d)
	}
	for i := range call.Memory {
		bad := nan(1).Memory
		bad[i] ^= 0x80
		if isNaN := i == call.OutAt+3 || i == call.OutAt || i == call.OutAt+1; differences(e,
			[]rankResult{{Memory: bad}}) == "" && !isNaN {
			t.Errorf("byte %d: not seen", i)
		}
	}
	for _, bad := range []rankResult{{}, {Memory: call.Memory[1:]}, {Memory: nan(1).Memory, Err: "lost"}} {
		if differences(e, []rankResult{bad}) == "" {
			t.Errorf("%+v: not seen", bad)
		}
	}
}

// TestResultsAreCompared: a wrong byte on any process, in any call of a program, is seen.
func TestResultsAreCompared(t *testing.T) {
	const size = 3
	rapid.Check(t, func(t *rapid.T) {
		p := drawProgram(t, goroutines(size), size, 3)
		got, err := goroutines(size).run(p.processes)
		if err != nil || p.differences(got) != "" {
			t.Fatal(err, p.differences(got))
		}
		number := rapid.IntRange(0, len(p.calls)-1).Draw(t, "call")
		process := rapid.SampledFrom(p.calls[number].members).Draw(t, "process")
		memory := got[process][number].Memory
		if len(memory) == 0 {
			t.Skip("nothing to spoil")
		}
		call := &p.calls[number].calls[slices.Index(p.calls[number].members, process)]
		before := call.plain(memory)
		memory[rapid.IntRange(0, len(memory)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if p.differences(got) == "" && !bytes.Equal(before, call.plain(memory)) { // one NaN is as good as another
			t.Errorf("not seen: %v", &p.calls[number])
		}
	})
}
