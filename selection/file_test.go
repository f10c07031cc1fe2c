package selection

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// everyones are algorithms of two primitives.
var everyones = map[string][]Algorithm{"Sum": some, "Copy": {anyone}}

func TestDecode(t *testing.T) {
	f, err := os.Open("testdata/tune.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]Rule{
		"AllReduce": {
			{Transport: "shm", Algorithm: "ring", MaxSize: 2, MaxBytes: 16384},
			{Transport: "tcp", Algorithm: "tree", MaxSize: 8, MaxBytes: 1048576},
			{Algorithm: "recursive-doubling", MinSize: 3, MaxSize: 4, MaxBytes: 64},
		},
		"Broadcast": {{Algorithm: "chain", MinSize: 2, PieceBytes: 4096}},
		"Barrier":   {},
	}
	if d := cmp.Diff(want, got.Rules); d != "" {
		t.Error(d)
	}
	if got.Date != "2026-11-21" || got.Command != "by hand" || !strings.HasPrefix(got.Machine, "2 cores") ||
		len(got.Samples) == 0 {
		t.Errorf("%+v", got)
	}
}

// TestDecodeRefuses names the place of what is wrong.
func TestDecodeRefuses(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{``, "line 1"},
		{`[]`, "line 1"},
		{`{}`, `there are no "rules"`},
		{`null`, `there are no "rules"`},
		{`{"rules": null}`, `there are no "rules"`},
		{`{"rules": {}, "rules": 3}`, "line 1"},
		{"{\"rules\":\n{", "line 2: it ends too early"},
		{"{\n\"rules\": {\n\"Sum\": [}}", "line 3"},
		{"{\n\"rules\": {\"Sum\": 3}}", `line 2: "rules" is a number`},
		{`{"rules": {}, "extra": 1}`, `unknown field "extra"`},
		{`{"rules": {}} {}`, "something comes after the end"},
		{`{"rules": {"Sum": [{"algorithm": "any"}, {"algorithm": "any", "maxbites": 3}]}}`,
			`rules.Sum: rule 2: unknown field "maxbites"`},
		{`{"rules": {"Sum": [{"algorithm": "any", "maxBytes": "3"}]}}`,
			`rules.Sum: rule 1: line 1: "maxBytes" is a string, want int`},
		{`{"rules": {"Sum": [{"algorithm": "any", "maxBytes": 99999999999999999999}]}}`,
			`rules.Sum: rule 1: line 1: "maxBytes"`},
		{`{"rules": {"Sum": [{"algorithm": "any", "maxBytes": 1.5}]}}`, "rules.Sum: rule 1"},
		{`{"rules": {"Sum": [` + strings.Repeat(`{},`, maxRules) + `{}]}}`, "rules.Sum: 513 rules, want at most 512"},
		{`{"rules": {"` + strings.Repeat("x\x7f", 99) + `": [3]}}`, `x\x7fx`},
		{strings.Repeat(" ", maxFile+1), "longer than"},
	} {
		_, err := Decode(strings.NewReader(tc.text))
		if err == nil || !strings.Contains(err.Error(), tc.want) || len(err.Error()) > 400 {
			t.Errorf("%.80s: got %v, want %q", tc.text, err, tc.want)
		}
	}
}

// TestTableIsChecked against what there is.
func TestTableIsChecked(t *testing.T) {
	for _, tc := range []struct{ rules, want string }{
		{`{"Sum": [{"algorithm": "any", "maxBytes": 3}], "Copy": []}`, ""},
		{`{"Sums": []}`, "rules.Sums: there is no such collective; there are Copy, Sum"},
		{`{"Copy": [{"algorithm": "sums"}]}`, "rules.Copy: rule 1, sums: there is no such algorithm"},
		{`{"Copy": [null]}`, "rules.Copy: rule 1, : there is no such algorithm"},
		{`{"Sum": [{"algorithm": "few"}]}`, "rules.Sum: rule 1, few: it does not serve 9 ranks"},
		{`{"Sum": [{"algorithm": "any", "transport": "rfc1149"}]}`, `there is no transport "rfc1149"`},
		{`{"Sum": [{"algorithm": "any"}, {"algorithm": "any"}]}`, "rule 2, any: other rules come before it"},
		{`{"Sum": [{"algorithm": "any", "minSize": -1}]}`, "a limit is negative"},
	} {
		table, err := Decode(strings.NewReader(`{"rules": ` + tc.rules + `}`))
		if err != nil {
			t.Fatal(err)
		}
		err = table.Check(everyones)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: got %v, want %q", tc.rules, err, tc.want)
		}
	}
}

// FuzzDecode: whatever a file says, it is refused or means the same when it is written and read again, and a table that
// passes the check makes every call get what it got before or a rule of the file.
func FuzzDecode(f *testing.F) {
	example, err := os.ReadFile("testdata/tune.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	f.Add([]byte(`{"rules": {"Sum": [{"algorithm": "few", "maxSize": 8, "maxBytes": 9223372036854775807}]}}`))
	f.Add([]byte(`{"rules": {"Copy": [{"transport": "shm", "algorithm": "any", "minSize": 4096, "pieceBytes": 1}]}}`))
	builtIn := []Rule{{Algorithm: "any"}}
	f.Fuzz(func(t *testing.T, text []byte) {
		table, err := Decode(bytes.NewReader(text))
		if err != nil {
			return
		}
		again, err := json.Marshal(table)
		if err != nil {
			t.Fatal(err)
		}
		same, err := Decode(bytes.NewReader(again))
		if err != nil || !cmp.Equal(same.Rules, table.Rules) {
			t.Fatalf("%s: %v", again, err)
		}
		if table.Check(everyones) != nil {
			return
		}
		for name, rules := range table.Rules {
			if err := Check(Merge(rules, builtIn, everyones[name]), everyones[name], true); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	})
}
