package exec

import (
	"strings"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
)

// TestLabelText: what the others read of a label, and that all of it is compared.
func TestLabelText(t *testing.T) {
	k, a := &Collective{Name: "AllReduce", Hash: 1}, &Algorithm{Name: "ring"}
	long := strings.Repeat("x", 200) + ".weight"
	for _, c := range []struct{ label, want string }{
		{"", "AllReduce"},
		{"a", `AllReduce "a"`},
		{"layers.11.attn.q_proj.weight", `AllReduce "layers.11.attn.q_proj.weight"`},
		{strings.Repeat("y", 35), `AllReduce "` + strings.Repeat("y", 35) + `"`},
		{strings.Repeat("y", 36), `AllReduce "..` + strings.Repeat("y", 33) + `"`},
		{long, `AllReduce "..` + long[len(long)-33:] + `"`},
	} {
		f := Form{Collective: k, Algorithm: a, label: c.label}
		d := f.Describe()
		if got := d.Name(); got != c.want {
			t.Errorf("%q: %s, want %s", c.label, got, c.want)
		}
		for _, label := range []string{"z" + c.label, "z" + c.label[min(1, len(c.label)):], c.label + "z"} {
			other := f
			other.label = label
			if o := other.Describe(); o.Form() == d.Form() {
				t.Errorf("%q and %q have the same form", c.label, label)
			}
		}
	}
	for _, bad := range []string{"", strings.Repeat("x", MaxLabel+1), "ä", "a\nb", "\x7f"} {
		if IsLabel(bad) {
			t.Errorf("%q is a label", bad)
		}
	}
	for _, good := range []string{strings.Repeat("~", MaxLabel), " ", "a label"} {
		if !IsLabel(good) {
			t.Errorf("%q is no label", good)
		}
	}
}

// TestLabelsOfTensors: the labels of a Bucket's tensors, and their order, are compared.
func TestLabelsOfTensors(t *testing.T) {
	k, a := &Collective{Name: "AllReduce", Hash: 1, Reduces: true}, &Algorithm{Name: "ring"}
	describe := func(labels ...string) wire.Call {
		f := Form{Collective: k, Algorithm: a}
		for _, l := range labels {
			f.lengths.AddLabelled(4, l)
		}
		return f.Describe()
	}
	seen := map[uint64]string{}
	for _, labels := range [][]string{{"a", "b", "c"}, {"a", "c", "b"}, {"b", "a", "c"}, {"a", "b"}, {"ab", "c"},
		{"a", "bc"}, {"a", "b", ""}, {"", "a", "b"}, {"", "", ""}} {
		d := describe(labels...)
		if before, ok := seen[d.Form()]; ok {
			t.Errorf("%q is %s", labels, before)
		}
		seen[d.Form()] = strings.Join(labels, " ")
	}
	d := describe(strings.Repeat("x", 40)+".weight", "b", "layers.3.bias")
	if got, want := d.Name(), `Bucket 3: "..xxxxx.weight" to "layers.3.bias"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
