package plan

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestRoundTrip: what is written of every algorithm is read back as the same steps.
func TestRoundTrip(t *testing.T) {
	plans := 0
	for _, a := range catalogue.Algorithms() {
		for size := 1; size <= 6; size++ {
			for _, p := range a.Calls(size, 2) {
				s, err := gen.Instantiate(&a, p)
				if err != nil {
					t.Fatal(err)
				}
				var b bytes.Buffer
				if err := Encode(&b, s); err != nil {
					t.Fatal(err)
				}
				back, err := Decode(&b, spec.Primitives())
				if err != nil {
					t.Fatalf("%s, %+v: %v\n%s", s.Algorithm, p, err, b.String())
				}
				plans++
				compare(t, s, back)
			}
		}
	}
	if plans < 500 {
		t.Errorf("%d plans were compared", plans)
	}
}

// compare compares the steps of two schedules. Their instructions may be listed in another order.
func compare(t *testing.T, want, got *gen.Schedule) {
	t.Helper()
	ignored := cmpopts.IgnoreFields(gen.Instr{}, "After", "AfterSend", "Node", "Step")
	numbers := cmpopts.IgnoreFields(gen.ProgramStep{}, "Number")
	for r := range want.Ranks {
		x, y := want.Ranks[r].Steps(), got.Ranks[r].Steps()
		if d := cmp.Diff(x, y, ignored, numbers, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%s, %+v, rank %d: %s", want.Algorithm, want.Params, r, d)
		}
		for i := range x {
			for k, in := range x[i].Recvs {
				if (in.AfterSend >= 0) != (y[i].Recvs[k].AfterSend >= 0) {
					t.Fatalf("%s, rank %d, step %d: AfterSend", want.Algorithm, r, i)
				}
			}
		}
	}
}

// pair is the plan of the package comment.
const pair = `{"plan": 1, "name": "mine/pair", "primitive": "AllReduce", "size": 2, "chunks": 1, "commutative": true,
"ranks": [
  {"steps": [[{"send": "in[0]", "to": 1}, {"recv": "out[0]", "from": 1, "plus": "in[0]"}, {"finish": "out[0]"}]]},
  {"steps": [[{"send": "in[0]", "to": 0}, {"recv": "out[0]", "from": 0, "plus": "in[0]", "receivedFirst": true},
    {"finish": "out[0]"}]]}
]}`

func TestDecode(t *testing.T) {
	s, err := Decode(strings.NewReader(pair), spec.Primitives())
	if err != nil || s.Algorithm != "mine/pair" || len(s.Messages()) != 2 || s.Ranks[1].Out != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	for _, tc := range []struct{ old, new, want string }{
		{`"plan": 1`, `"plan": 2`, "version 2"},
		{"AllReduce", "Nothing", `no primitive "Nothing"`},
		{`AllReduce", "size": 2, "chunks": 1`, `AllGatherV", "size": 2, "chunks": 2`, "differ in length"},
		{`"size": 2`, `"size": 3`, "size is 3, and there are 2 ranks"},
		{`"size": 2`, `"size": 2, "root": 2`, "root 2"},
		{`"size": 2`, `"size": 2, "colour": 2`, "colour"},
		{`"chunks": 1`, `"chunks": 0`, "0 chunks"},
		{`"chunks": 1`, `"chunks": 9999999999`, "9999999999 chunks"},
		{`{"steps"`, `{"scratch": -1, "steps"`, "-1 slots"},
		{`"to": 1`, `"from": 1`, "does not say to which rank"},
		{`{"finish": "out[0]"}`, `{}`, "one of send, recv"},
		{`{"finish": "out[0]"}`, `{"finish": "out[0]", "copy": "in[0]"}`, "one of send, recv"},
		{`{"finish": "out[0]"}`, `{"finish": "out[0]"}, {"send": "in[0]", "to": 1}`, "comes after an action"},
		{`"plus": "in[0]"`, `"afterSend": true, "from": 3`, "the step sends rank 3 0 messages"},
		{`"out[0]"`, `"out[0"`, "does not end in ] or )"},
		{`"out[0]"`, `"out[0..2]"`, "a row is from..to)"},
		{`"out[0]"`, `"out[2..1)"`, "it is empty"},
		{`"out[0]"`, `"out[-1]"`, "out of range"},
		{`"out[0]"`, `"put[0]"`, "the buffers in, out and scratch"},
		{"]}\n]}", "]}\n]} {}", "more behind it"},
	} {
		text := strings.ReplaceAll(pair, tc.old, tc.new)
		if tc.new == "]}\n]} {}" {
			text = pair + " {}"
		}
		_, err := Decode(strings.NewReader(text), spec.Primitives())
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.new, err, tc.want)
		}
	}
}

// TestUneven: slots of scratch say which block they are as long as, and rows of them are read back.
func TestUneven(t *testing.T) {
	const head = `{"plan": 1, "name": "mine/x", "primitive": %q, "size": 2, "chunks": %d, "ranks": [` +
		`{"scratch": 4, "steps": [[{"copy": "in[0]", "into": %q}]]}, {"steps": []}]}`
	for _, tc := range []struct {
		primitive string
		chunks    int
		place     string
		want      gen.Place
		err       string
	}{
		{"AllGatherV", 1, "out[1]", gen.Place{Buf: spec.Out, At: 1, N: 1, Length: spec.Length{1}}, ""},
		{"AllGatherV", 1, "scratch[3 like 1]", gen.Place{Buf: spec.Scratch, At: 3, N: 1, Length: spec.Length{1}}, ""},
		{"AllToAllV", 1, "out[1]", gen.Place{Buf: spec.Out, At: 1, N: 1, Length: spec.Length{1, 0}}, ""},
		{"AllToAllV", 1, "scratch[0 like 1,0]", gen.Place{Buf: spec.Scratch, N: 1, Length: spec.Length{1, 0}}, ""},
		{"AllGather", 2, "scratch[0..2 like 1)", gen.Place{Buf: spec.Scratch, N: 2, Like: 1}, ""},
		{"AllGatherV", 1, "scratch[3]", gen.Place{}, "scratch[0 like 2]"},
		{"AllToAllV", 1, "scratch[3 like 1]", gen.Place{}, "scratch[0 like 2,3]"},
		{"AllGatherV", 1, "scratch[3 like 1,2]", gen.Place{}, "scratch[0 like 2]"},
		{"AllToAllV", 1, "scratch[3 like 1,2,3]", gen.Place{}, "more than two numbers"},
		{"AllGatherV", 1, "out[1 like 1]", gen.Place{}, "as long as it is"},
		{"AllGather", 1, "scratch[1 like 1,2]", gen.Place{}, "like more than one chunk"},
	} {
		text := fmt.Sprintf(head, tc.primitive, tc.chunks, tc.place)
		s, err := Decode(strings.NewReader(text), spec.Primitives())
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s of %s: %v, want %s", tc.place, tc.primitive, err, tc.err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := Encode(&b, s); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tc.want, s.Ranks[0].Instrs[0].Dst); d != "" || !strings.Contains(b.String(), `"`+tc.place+`"`) {
			t.Errorf("%s of %s: %s\n%s", tc.place, tc.primitive, d, b.String())
		}
	}
}

// FuzzDecode: whatever a file has, Decode ends. What it reads is written, and read as the same again.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(pair))
	f.Add([]byte(`{"plan":1,"primitive":"alltoallv","size":1,"chunks":1,"ranks":[{"scratch":3,"steps":[[` +
		`{"copy":"in[0]","into":"scratch[0..2 like 0,7)"},{"finish":"out[0]"}]]}]}`))
	f.Add([]byte(`{"plan":1,"primitive":"gather","size":1,"chunks":2,"ranks":[{"scratch":3,"steps":[[` +
		`{"copy":"in[0]","into":"scratch[0..2 like 1)"}]]}]}`))
	f.Add([]byte(`{"plan":1,"primitive":"barrier","size":1,"chunks":1,"ranks":[{"steps":[[],[{"send":"nothing","to":0}]]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Decode(bytes.NewReader(text), spec.Primitives())
		if err != nil {
			return
		}
		var once, again bytes.Buffer
		if err := Encode(&once, s); err != nil {
			t.Fatal(err)
		}
		back, err := Decode(bytes.NewReader(once.Bytes()), spec.Primitives())
		if err != nil {
			t.Fatalf("%v\n%s", err, once.String())
		}
		if err := Encode(&again, back); err != nil || !bytes.Equal(once.Bytes(), again.Bytes()) {
			t.Errorf("%v\n%s%s", err, once.String(), again.String())
		}
	})
}
