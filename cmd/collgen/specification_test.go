package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestSayNothing has specifications that are proved easily, because they promise nothing. gen and verify refuse each,
// with its place and with the reason, and nothing is written.
func TestSayNothing(t *testing.T) {
	const pre, post = `Pre:  []spec.Clause{{Buf: spec.In, Value: spec.Value{Kind: spec.Input, Rank: spec.Rank, Block: spec.Block}}},`,
		`Post: []spec.Clause{{Buf: spec.Out, Value: spec.Value{Kind: spec.Input, Rank: next, Block: spec.Int(0)}}},`
	for name, test := range map[string]struct{ old, new, want string }{
		"a clause of no block": {post, strings.Replace(post, "{{Buf: spec.Out", "{{Buf: spec.Out, Where: spec.Int(0)", 1),
			"Same: Post[0] says nothing: where 0, it is about no block of out in any call of 1 to 16, 32 or 64 ranks"},
		"undefined": {post, `Post: []spec.Clause{{Buf: spec.Out, Value: spec.Value{Kind: spec.Undefined}}},`,
			"Same: Post promises nothing about out: with 3 ranks, all of it is undefined on every rank"},
		"the input of rank 0 everywhere": {pre + "\n\t" + post,
			strings.NewReplacer("spec.Rank,", "spec.Int(0),", "spec.Block}", "spec.Int(0)}", "next",
				"spec.Int(0)").Replace(pre + "\n\t" + post),
			"Same: Pre[0] says that, of 2 ranks, block 0 of rank 1 is block 0 of rank 0: no rank can check that in a call, " +
				"so a precondition gives every rank its own input, with Rank: spec.Rank and Block: spec.Block"},
		"the own input": {post, strings.Replace(post, "next", "spec.Rank", 1),
			"Same: Post needs no message: with 3 ranks, every block is one of its own rank, unchanged or undefined"},
		"all but one and two ranks are refused": {post, post + "\n\tErrors: []spec.ArgError{{When: spec.Lt(spec.Int(2), " +
			"spec.Size), Reason: `too many`}},",
			"Same: every call of more than 2 ranks is refused, of those of 1 to 16, 32 or 64 ranks"},
		"an example of something else": {post, post + "\n\tExamples: []spec.Example{{In: []string{`a`, `b`, `c`}, Out: " +
			"[]string{`c`, `a`, `b`}}},",
			`Same: Examples[0]: rank 0: out is "c", and "b" by the specification`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(small("theirs", shift), test.old, test.new, 1)
			if text == small("theirs", shift) {
				t.Fatal("shift is not what this test thinks it is")
			}
			dir := module(t, map[string]string{"a.go": text})
			for _, command := range [][]string{{"gen", dir}, {"verify", "-package", dir}} {
				status, stdout, stderr := collgen(t, command...)
				if status != statusFailed || stdout != "" || !strings.HasSuffix(stderr, "a.go:9:5: "+test.want+"\n") {
					t.Errorf("collgen %q: status %d, want %s in\n%s%s", command, status, test.want, stdout, stderr)
				}
			}
			if got := generatedIn(t, dir); got != nil {
				t.Errorf("written: %q", got)
			}
		})
	}
}

// TestVerifySpec takes examples away from the example, until nothing of its specification is guarded.
func TestVerifySpec(t *testing.T) {
	t.Parallel()
	const three, one = "\t\t{In: []string{\"a\", \"b\", \"c\"}, Out: []string{\"c b\", \"a c\", \"b a\"}}, // by rank\n",
		"\t\t{In: []string{\"a\"}, Out: []string{\"a a\"}},\n"
	files := ownFiles(t)
	text := files["exchange.go"]
	if !strings.Contains(text, three+one) {
		t.Fatal("the example is not what this test thinks it is")
	}
	dir := module(t, files)
	for _, test := range []struct {
		drop   string
		status int
		want   []string
	}{
		{"", 0, []string{"Neighbours has 2 examples. Of 62 changes of it to something else, they refuse 62.\n"}},
		{one, statusFailed, []string{"Neighbours has 1 example. Of 62 changes of it to something else, they refuse 60.\n",
			"No example distinguishes these from it:\n  Out.Blocks: size - 1 instead of 2\n  Out.On: size - 1 " +
				"instead of none\n"}},
		{three + one, statusFailed, []string{"Neighbours has 0 examples. Of 62 changes of it to something else, they " +
			"refuse 0.\n",
			"No example distinguishes these from it, and all algorithms carry them out as well:\n  In.Blocks: size instead of " +
				"1, and 1 other change\n",
			"No example distinguishes these from it:\n  Out.Blocks: ", "\n  Post[0]: dropped\n", "\n  Post[1]: dropped\n",
			"\n  Post[1].Value.Rank: if (rank + 1) < size then 0 + 1 else (rank + 1) - size instead of "}},
	} {
		write(t, filepath.Join(dir, "exchange.go"), strings.Replace(text, test.drop, "", 1))
		status, stdout, stderr := collgen(t, "verify", "-spec", "-package", dir)
		if status != test.status || strings.Contains(stderr, errUnguarded.Error()) != (status != 0) {
			t.Errorf("status %d\n%s%s", status, stdout, stderr)
		}
		for _, want := range test.want {
			if !strings.Contains(stdout, want) {
				t.Errorf("want %q in\n%s", want, stdout)
			}
		}
	}
	var guards []guard
	_, stdout, _ := collgen(t, "verify", "-spec", "-package", dir, "-json")
	if err := json.Unmarshal([]byte(stdout), &guards); err != nil || len(guards) != 1 || len(guards[0].Unnoticed) != 62 ||
		!guards[0].Unnoticed[0].Proved {
		t.Errorf("verify -spec -json: %v\n%s", err, stdout)
	}
	if status, stdout, stderr := collgen(t, "verify", "-package", dir); status != 0 {
		t.Errorf("verify: status %d\n%s%s", status, stdout, stderr)
	}
}
