package fast

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"
)

// TestFieldsAreDocumented: go doc shows no fields of a type that is defined elsewhere. So the comments of its alias do.
func TestFieldsAreDocumented(t *testing.T) {
	comments := map[string]string{}
	for _, name := range []string{"errors.go", "trace.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok && s.Assign.IsValid() { // an alias, of which go doc shows no fields
				comments[s.Name.Name] = s.Doc.Text()
			}
			return true
		})
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[PeerError](), reflect.TypeFor[MismatchError](), reflect.TypeFor[DeadlockError](),
		reflect.TypeFor[TimeoutError](), reflect.TypeFor[Trace](), reflect.TypeFor[TraceHeader](), reflect.TypeFor[TraceEntry]()} {
		var want []string
		for i := range typ.NumField() {
			f := typ.Field(i)
			field := strings.ReplaceAll(fmt.Sprint(f.Name, " ", f.Type), "flight.", "")
			if f.Anonymous {
				field = f.Name
			}
			want = append(want, field)
		}
		if got := fieldsIn(comments[typ.Name()]); !reflect.DeepEqual(got, want) {
			t.Errorf("the comment of %s has the fields %q, want %q", typ.Name(), got, want)
		}
		delete(comments, typ.Name())
	}
	if len(comments) > 0 {
		t.Errorf("of other types nobody has looked for fields: %v", comments)
	}
}

// fieldsIn returns the fields of the struct that a comment shows, "Name type" each.
func fieldsIn(comment string) (fields []string) {
	_, body, _ := strings.Cut(comment, "struct {\n")
	body, _, _ = strings.Cut(body, "}")
	for line := range strings.Lines(body) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(strings.ReplaceAll(line, ",", " "))
		if len(words) == 1 { // it is embedded
			fields = append(fields, words[0])
		}
		for _, name := range words[:max(0, len(words)-1)] {
			fields = append(fields, name+" "+words[len(words)-1])
		}
	}
	return fields
}
