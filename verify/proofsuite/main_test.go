package main

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
)

// said returns a stage whose command writes text and then ends with a status.
func said(name, text, status string, rows func([]byte) ([]row, error)) stage {
	return stage{name, nil, []string{"sh", "-c", `printf '%s' "$1"; exit $2`, "sh", text, status}, rows}
}

// TestRunAll has stages say what their commands write: what is proved, and everything that is not.
func TestRunAll(t *testing.T) {
	const proved = `[{"name":"a/b","proof":{"sizes":[1,2,3,5],"schedules":7},"seconds":1.5}]`
	const model = `[{"model":"M","config":"c","checker":"x","states":3,"nanoseconds":1500000000},
		{"model":"M","config":"c","checker":"y","states":3,"nanoseconds":250000000},
		{"model":"M","config":"bad_c","checker":"x","states":3,"nanoseconds":125000000},
		{"model":"M","config":"bad_c","checker":"y","states":3,"nanoseconds":125000000}]`
	outcomes := tests("holds", "does not hold")
	for _, test := range []struct {
		stage      stage
		want, fail string
	}{
		{said("schedule", proved, "0", schedules), "a/b schedule 1..3,5 7 schedules proved 1.5", ""},
		{said("schedule", proved, "1", schedules), "a/b", "exit status 1"},
		{said("schedule", "", "0", schedules), "", "proved nothing"},
		{said("schedule", `[{"name":"a/b"}]`, "0", schedules), "not proved", "a/b: not proved"},
		{said("schedule", `[{"na`, "0", schedules), "", "its output"},
		{said("code", `{"Action":"output","Test":"T/a/b","Output":"  x.go:7: sizes 2..64: 9 calls\n"} {"Action":"pass","Test":"T/a/b","Elapsed":2}
			{"Action":"pass","Test":"T"}`, "0", outcomes), "a/b code 2..64 holds 2.0 in all code 1 of 1", ""},
		{said("code", `{"Action":"pass","Test":"T/a/b"} {"Action":"pass","Test":"Mutated"}`, "0", outcomes),
			"Mutated code holds a/b code holds", ""},
		{said("code", `{"Action":"fail","Test":"T/a/b"}`, "1", outcomes), "does not hold", "exit status 1"},
		{said("code", `{"Action":"skip","Test":"T/a/b"}`, "0", outcomes), "does not hold", "does not hold"},
		{said("every", `[{"algorithm":"a/b","sizes":"all","obligations":3,"solvers":["z3","cvc5"],"seconds":1.25}]`, "0",
			everySize),
			"a/b every all 3 obligations, z3 and cvc5 1.2", ""},
		{said("every", `[{"algorithm":"a/b","sizes":"all","obligations":3,"solvers":["z3","cvc5"],"recorded":true}]`, "0",
			everySize), "3 obligations, z3 and cvc5, recorded", ""},
		{said("every", `[{"algorithm":"a/b","sizes":"all","obligations":3,"solvers":["z3"]}]`, "0", everySize), "z3 alone",
			"z3 alone"},
		{said("every", `[{"algorithm":"a/b","digest":"","sizes":"1..64","obligations":0,"solvers":null}]`, "0", everySize),
			"a/b every 1..64 none by induction", ""},
		{said("every", `[{"algorithm":"a/b","digest":"0x1","sizes":"1..64","obligations":0,"solvers":null}]`, "0", everySize),
			"0 obligations", "0 obligations"},
		{said("every", `[{"algorithm":"a/b","open":["step 3"]}]`, "0", everySize), "open: step 3", "open: step 3"},
		{said("model", model, "0", models), "M model 1 configurations hold, 1 without a guard fail, by both 2.0", ""},
		{said("model", strings.Replace(model, `"c","checker":"y"`, `"c","checker":"x"`, 1), "0", models), "c: by x alone",
			"c: by x alone"},
		{said("model", strings.Replace(model, `"states":3`, `"problem":"deadlock"`, 1), "0", models), "c, x: deadlock",
			"c, x: deadlock"},
		{said("mutant", `[{"kind":"schedules","sizes":"2..4","mutants":10,"same":1,"killed":9,"least":1,
			"stages":[{"stage":"schedule","killed":9,"tried":9},{"stage":"every","killed":2,"tried":3}]}]`, "0", mutants),
			"2..4 9 of 9 killed: by schedule 9 of 9 tried, every 2 of 3 tried", ""},
		{said("mutant", `[{"kind":"schedules","mutants":10,"killed":9,"least":1}]`, "0", mutants), "9 of 10 killed",
			"9 of 10"},
		{said("mutant", `[{"kind":"bugs","mutants":2,"killed":1,"survivors":["A in x.go: not seen"],"least":1}]`, "1",
			mutants),
			"1 of 2 killed; survives: A in x.go: not seen", "bugs: 1 of 2 killed; survives: A in x.go"},
		{said("mutant", `[{"kind":"schedules","mutants":4,"same":4,"least":1}]`, "0", mutants), "0 of 0", "0 of 0"},
		{said("mutant", `[{"kind":"schedules","least":1}]`, "0", mutants), "0 of 0", "0 of 0"},
		{stage{name: "model", rows: models}, "", "no command"},
	} {
		var out bytes.Buffer
		err := runAll(context.Background(), []stage{test.stage}, &out, io.Discard, false)
		table := strings.Join(strings.Fields(out.String()), " ")
		if !strings.Contains(table, test.want) || (err == nil) != (test.fail == "") || err != nil &&
			!strings.Contains(err.Error(), test.fail) {
			t.Errorf("%s: %v\n%s\nwant %q, %q", test.stage.command, err, table, test.want, test.fail)
		}
	}
}

// TestChoose refuses stages that there are not.
func TestChoose(t *testing.T) {
	all := stages(nil, true, false)
	if some, err := choose(all, "every,code"); err != nil || len(some) != 2 || some[0].name != "every" {
		t.Error(some, err)
	}
	if _, err := choose(all, "moon"); err == nil {
		t.Error("there is no stage moon")
	}
}

// TestRecorded: only the stage every, and only where that is asked for, takes the record for a proof.
func TestRecorded(t *testing.T) {
	for _, recorded := range []bool{false, true} {
		for _, s := range stages(nil, false, recorded) {
			if is := slices.Contains(s.command, "-recorded"); is != (recorded && s.name == "every") {
				t.Errorf("with -recorded %v, stage %s has the command %q", recorded, s.name, s.command)
			}
		}
	}
}
