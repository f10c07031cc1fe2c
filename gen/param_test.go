package gen_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// strided returns an algorithm that leaves a number open: blocks go that many ranks further.
func strided(values ...int) gen.Algorithm {
	a := *sound()
	stride := v("stride")
	a.Param = gen.Param{Name: "stride", Values: values}
	a.Requires.Size, a.Cost.Alpha = spec.Gt(size, stride), stride
	a.Chunks, a.Scratch = stride, stride
	a.Body = []gen.Node{
		let("to", up(add(rank, stride), size)),
		let("from", spec.Down(spec.Sub(rank, stride), size)),
		gen.Step{send(v("to"), block(in)), gen.Recv{From: v("from"), Into: gen.Slot(scratch, zero, zero)}},
	}
	return a
}

// TestMembers has an algorithm for each value, with its own name, text, requirement and cost.
func TestMembers(t *testing.T) {
	a := strided(1, 3)
	members := a.Members()
	if len(members) != 2 {
		t.Fatalf("%d members", len(members))
	}
	for i, value := range []int{1, 3} {
		m := members[i]
		if err := gen.Validate(&m); err != nil {
			t.Fatal(err)
		}
		if want := []string{"sound-1", "sound-3"}[i]; m.Name != want || m.DeclaredName() != "sound" || len(m.Members()) != 1 {
			t.Errorf("the member with %d is called %s, of %s", value, m.Name, m.DeclaredName())
		}
		if m.Serves(value, 0) || !m.Serves(value+1, 0) {
			t.Errorf("%s requires %v", m.Name, m.Requires.Size)
		}
		if alpha, _, _, err := (gen.Cost{Alpha: m.Cost.Alpha, Beta: zero, Gamma: zero}).Eval(gen.Params{Size: 4,
			Depth: 1}); alpha != value || err != nil {
			t.Errorf("%s costs %d messages, %v", m.Name, alpha, err)
		}
		s, err := gen.Instantiate(&m, gen.Params{Size: 5, Depth: 1})
		if err != nil {
			t.Fatal(err)
		}
		if to, slots := s.Ranks[0].Instrs[0].Peer, s.Ranks[0].Scratch; to != value || slots != value || s.Chunks != value {
			t.Errorf("%s sends to %d, with %d slots and %d chunks", m.Name, to, slots, s.Chunks)
		}
		for step, err := range gen.Steps(&m, gen.Params{Size: 5, Depth: 1}, 0) {
			if err != nil || step[0].Peer != value {
				t.Errorf("%s: step %v, %v", m.Name, step, err)
			}
		}
		if want := []string{"with stride = 1", "with stride = 3"}[i]; !strings.Contains(m.Text(), want) {
			t.Errorf("%q is not in %s", want, m.Text())
		}
	}
	if members[0].Hash() == members[1].Hash() {
		t.Error("members have one hash")
	}
	plain := sound().Members()
	if len(plain) != 1 || plain[0].Name != "sound" || plain[0].DeclaredName() != "sound" {
		t.Errorf("an algorithm that leaves nothing open has the members %v", plain)
	}
}

// TestOpen: what leaves its number open has no schedule.
func TestOpen(t *testing.T) {
	a := strided(1)
	if _, err := gen.Instantiate(&a, gen.Params{Size: 5, Depth: 1}); err == nil || !strings.Contains(err.Error(),
		"leaves stride open") {
		t.Error(err)
	}
}

// TestParamFaults are refused.
func TestParamFaults(t *testing.T) {
	for want, p := range map[string]gen.Param{
		"wants Values of 1 or more":  {Name: "stride"},
		"has the value 0":            {Name: "stride", Values: []int{0, 1}},
		"has the value -2":           {Name: "stride", Values: []int{-2}},
		`"" cannot be the name`:      {Values: []int{2}},
		`"size" cannot be the name`:  {Name: "size", Values: []int{2}},
		`"out" cannot be the name`:   {Name: "out", Values: []int{2}},
		`"a-b" cannot be the name`:   {Name: "a-b", Values: []int{2}},
		"the name to is already":     {Name: "to", Values: []int{2}},
		"stride has no meaning here": {Name: "strides", Values: []int{2}},
	} {
		a := strided(1)
		a.Param = p
		refused := func(m gen.Algorithm) bool {
			err := gen.Validate(&m)
			return err != nil && strings.Contains(err.Error(), want)
		}
		if !slices.ContainsFunc(a.Members(), refused) {
			t.Errorf("%+v: want %q, got %v", p, want, gen.Validate(&a.Members()[0]))
		}
	}
}

// TestParamOfGroup: in a part of another algorithm the number has its value.
func TestParamOfGroup(t *testing.T) {
	a := strided(1, 3).Members()[1]
	g := gen.Group{Name: "part", First: zero, Stride: one, N: size, Member: rank}
	nodes := g.Run(&a, map[spec.Buf]gen.Part{in: {Buf: in}, scratch: {Buf: scratch}}, false)
	whole := sound()
	whole.Body, whole.Scratch = nodes, g.Slots(&a)
	if err := gen.Validate(whole); err != nil {
		t.Fatal(err)
	}
	s, err := gen.Instantiate(whole, gen.Params{Size: 5, Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	if to, slots := s.Ranks[0].Instrs[0].Peer, s.Ranks[0].Scratch; to != 3 || slots != 3 {
		t.Errorf("the part sends to %d, with %d slots", to, slots)
	}
}
