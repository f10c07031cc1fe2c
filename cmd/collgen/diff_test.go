package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestDiff(t *testing.T) {
	numbered := func(n int, changed ...int) []byte {
		var b bytes.Buffer
		for i := 1; i <= n; i++ {
			line := fmt.Sprint(i)
			for _, c := range changed {
				if i == c {
					line = "changed"
				}
			}
			b.WriteString(line + "\n")
		}
		return b.Bytes()
	}
	for _, test := range []struct {
		name string
		x    change
		want string
	}{
		{"none", change{Change: "none"}, ""},
		{"two hunks", change{Change: "write", old: numbered(20), new: numbered(20, 3, 7, 20)}, `--- z.go
+++ z.go
@@ -1,10 +1,10 @@
 1
 2
-3
+changed
 4
 5
 6
-7
+changed
 8
 9
 10
@@ -17,4 +17,4 @@
 17
 18
 19
-20
+changed
`},
		{"new", change{Change: "write", new: []byte("a\nb\n")}, "--- /dev/null\n+++ z.go\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"stale", change{Change: "remove", old: []byte("a\n")}, "--- z.go\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n"},
		{"no newline", change{Change: "write", old: []byte("a"), new: []byte("a\n")},
			"--- z.go\n+++ z.go\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"},
	} {
		test.x.path = "z.go"
		if d := cmp.Diff(test.want, test.x.diff()); d != "" {
			t.Errorf("%s: %s", test.name, d)
		}
	}
}

// TestDiffIsTheDifference carries diffs out.
func TestDiffIsTheDifference(t *testing.T) {
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "\n", "c\n"}), 0, 40),
		func(lines []string) string {
			return strings.Join(lines, "")
		})
	rapid.Check(t, func(t *rapid.T) {
		old, new := text.Draw(t, "old"), text.Draw(t, "new")
		diff := hunks(lines([]byte(old)), lines([]byte(new)))
		if got := patch(t, old, diff); got != new {
			t.Fatalf("the diff makes %q:\n%s", got, diff)
		}
		if (diff == "") != (old == new) {
			t.Fatalf("the diff of %q and %q is %q", old, new, diff)
		}
	})
}

// patch changes old as diff says, and checks that diff speaks of old.
func patch(t *rapid.T, old, diff string) string {
	rest, at := lines([]byte(old)), 1
	var result []string
	for _, line := range lines([]byte(diff)) {
		var from, inOld, to, inNew int
		if n, _ := fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &from, &inOld, &to, &inNew); n == 4 {
			if inOld == 0 {
				from++
			}
			result = append(result, rest[:from-at]...)
			rest, at = rest[from-at:], from
			continue
		}
		if line[0] != '+' {
			if len(rest) == 0 || rest[0] != line[1:] {
				t.Fatalf("line %d is not %q", at, line[1:])
			}
			rest, at = rest[1:], at+1
		}
		if line[0] != '-' {
			result = append(result, line[1:])
		}
	}
	return strings.Join(append(result, rest...), "")
}
