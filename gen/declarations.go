package gen

import (
	"encoding/gob"
	"fmt"
	"io"

	"github.com/collgen/collgen/spec"
)

// Declarations are the primitives and algorithms that a package declares, by the names of its variables. They travel
// from the program that evaluates the package to the one that generates code for it.
type Declarations struct {
	Primitives map[string]spec.Primitive
	Algorithms map[string]Algorithm
}

func init() {
	for _, n := range []Node{For{}, If{}, Let{}, LetBuf{}, Fold{}, Step{}, Send{}, Recv{}, RecvReduce{}, Copy{},
		Reduce{}, Finish{}} {
		gob.Register(n)
	}
}

// Encode writes d.
func (d *Declarations) Encode(w io.Writer) error {
	for name, a := range d.Algorithms {
		if hasNil(a.Body) {
			return fmt.Errorf("%s: a node is nil", name)
		}
	}
	return gob.NewEncoder(w).Encode(d)
}

// hasNil reports whether a node is missing, which gob cannot write.
func hasNil(nodes []Node) bool {
	found := false
	r := rewriter{expr: func(e spec.Expr) spec.Expr { return e }}
	r.body = func(nodes []Node) []Node {
		for _, n := range nodes {
			found = found || n == nil
			r.node(n)
		}
		return nodes
	}
	r.body(nodes)
	return found
}

// DecodeDeclarations reads what Encode wrote.
func DecodeDeclarations(r io.Reader) (*Declarations, error) {
	d := new(Declarations)
	return d, gob.NewDecoder(r).Decode(d)
}
