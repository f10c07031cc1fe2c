package gen_test

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
)

// TestPath follows the path of every action of the catalogue, and comes to as many different actions as there are, in
// source order.
func TestPath(t *testing.T) {
	for _, a := range catalogue.Algorithms() {
		n, seen := gen.CountActions(a.Body), map[string]bool{}
		for i := range n {
			path := gen.Path(a.Body, i)
			node := follow(t, reflect.ValueOf(a), path)
			if _, isStep := node.(gen.Step); isStep || gen.CountActions([]gen.Node{node}) != 1 || seen[path] {
				t.Errorf("%s: action %d is at %q, where %T stands", a.FullName(), i, path, node)
			}
			seen[path] = true
		}
		if got := gen.Path(a.Body, n) + gen.Path(nil, 0); got != "" {
			t.Errorf("%s: an action that there is not is at %q", a.FullName(), got)
		}
	}
	nested := []gen.Node{gen.Let{}, gen.For{Body: []gen.Node{gen.If{Then: []gen.Node{gen.Step{gen.Send{}, gen.Recv{}}},
		Else: []gen.Node{gen.Let{}, gen.Step{gen.Copy{}, gen.Finish{}}}}}}, gen.Step{gen.Reduce{}}}
	for i, want := range []string{"Body[1].Body[0].Then[0][0]", "Body[1].Body[0].Then[0][1]", "Body[1].Body[0].Else[1][0]",
		"Body[1].Body[0].Else[1][1]", "Body[2][0]"} {
		if got := gen.Path(nested, i); got != want {
			t.Errorf("action %d: %q, want %q", i, got, want)
		}
	}
}

// follow returns the node at a path.
func follow(t *testing.T, v reflect.Value, path string) gen.Node {
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		if v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if i, err := strconv.Atoi(part); err == nil {
			v = v.Index(i)
		} else {
			v = v.FieldByName(part)
		}
	}
	n, ok := v.Interface().(gen.Node)
	if !ok {
		t.Fatalf("no node stands at %q", path)
	}
	return n
}
