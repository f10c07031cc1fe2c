package verify_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/collgen/collgen/spec"
	"pgregory.net/rapid"
)

// differences says how the results of a call differ from what was expected.
func differences(e expected, got []rankResult) string {
	var b strings.Builder
	for r, g := range got {
		w, plain := e.want[r], elements[e.calls[r].Type].plain
		switch {
		case g.Err != "":
			fmt.Fprintf(&b, "rank %d: %s\n", r, g.Err)
		case g.Strayed != "":
			fmt.Fprintf(&b, "rank %d: memory around a buffer was written to: %s\n", r, g.Strayed)
		case !bytes.Equal(plain(g.Out), w.Out):
			fmt.Fprintf(&b, "rank %d: out is %v, want %v\n", r, brief(g.Out, w.Out), brief(w.Out, g.Out))
		case !bytes.Equal(plain(g.In), w.In):
			fmt.Fprintf(&b, "rank %d: in is %v, want %v\n", r, brief(g.In, w.In), brief(w.In, g.In))
		}
	}
	return b.String()
}

// brief is b about the first byte in which it differs from other.
func brief(b, other []byte) string {
	i := 0
	for i < len(b) && i < len(other) && b[i] == other[i] {
		i++
	}
	return fmt.Sprintf("%d bytes, from byte %d on % x", len(b), i, b[i:min(i+16, len(b))])
}

// TestDifferences: every kind of wrong result is seen.
func TestDifferences(t *testing.T) {
	good := rankResult{In: []byte{1, 2}, Out: []byte{3, 4}}
	e := expected{calls: []rankCall{{Type: spec.TypeUint8}}, want: []rankResult{good}}
	if d := differences(e, []rankResult{good}); d != "" {
		t.Errorf("a right result: %s", d)
	}
	for _, bad := range []rankResult{
		{In: []byte{1, 3}, Out: []byte{3, 4}}, {In: []byte{1, 2}, Out: []byte{3, 5}}, {In: []byte{1, 2}}, {},
		{In: []byte{1, 2}, Out: []byte{3, 4}, Err: "lost"}, {In: []byte{1, 2}, Out: []byte{3, 4}, Strayed: "element 2"},
	} {
		if differences(e, []rankResult{bad}) == "" {
			t.Errorf("%+v: not seen", bad)
		}
	}
	g := newGuarded[int16](3, 8)
	g.all[strip+3+4] = 0
	if g.strayed() == "" {
		t.Error("a write behind the buffer is not seen")
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
		out, plain := got[process][number].Out, elements[p.calls[number].ty].plain
		if len(out) == 0 {
			t.Skip("nothing to spoil")
		}
		before := plain(out)
		out[rapid.IntRange(0, len(out)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if p.differences(got) == "" && !bytes.Equal(before, plain(out)) { // one NaN is as good as another
			t.Errorf("not seen: %v", &p.calls[number])
		}
	})
}
