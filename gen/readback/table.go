package readback

import (
	"encoding/binary"
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"reflect"
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// head is what the table says of a primitive, by the names of the fields in the runtime.
type head struct {
	Name         string
	Hash         uint64
	Reduces      bool
	PointToPoint bool
	Uneven       bool
	SameCounts   bool
}

// plain is what the table says of an algorithm by itself, by the names of the fields in the runtime.
type plain struct {
	Name                                              string
	Hash                                              uint64
	Commutative, Pipelined, Local, OutOfPlace, AtOnce bool
	Param                                             int
}

// entry is an algorithm's line in the table.
type entry struct {
	plain  plain
	proved Proved
	serves *ast.FuncLit
	run    types.Object
}

// table is the variable of a primitive.
type table struct {
	head       head
	needs      string
	algorithms []entry
	rules      []gen.Rule
}

// commonCounts reports whether every rank passes the lengths of the blocks of all ranks with a buffer.
func commonCounts(b spec.Buffer) bool {
	one := func(e, want spec.Expr) bool { return e.String() == want.String() }
	return len(b.Counts) == 1 && one(b.Counts[0], spec.Block) && one(b.Blocks, spec.Size) && b.On.IsAbsent()
}

func entryOf(a *Declared) plain {
	return plain{a.Name, hash64(a.Hash), a.Requires.Commutative, a.HasDepth(), a.HasLocal(), a.Requires.OutOfPlace,
		a.ReducesAtOnce(), a.Param.Value}
}

// compare compares all of a table but what is said of each algorithm.
func (got *table) compare(c Collective) error {
	p := c.Primitive
	want := head{p.Name, hash64(p.Hash()), slices.Contains(p.Params, spec.ParamOp),
		slices.Contains(p.Params, spec.ParamPeer),
		p.IsUneven(), commonCounts(p.In) || commonCounts(p.Out)}
	switch {
	case got.head != want:
		return fmt.Errorf("the table says %+v of the primitive, want %+v", got.head, want)
	case len(got.algorithms) != len(c.Algorithms):
		return fmt.Errorf("the table has %d algorithms, want %d", len(got.algorithms), len(c.Algorithms))
	case !slices.Equal(got.rules, c.Rules):
		return fmt.Errorf("the table has the rules %+v, want %+v", got.rules, c.Rules)
	}
	return checkNeeds(p, got.needs)
}

// table reads the variable of the primitive of that name.
func (p *Package) table(primitive string) (t *table, err error) {
	defer rescue(&err)
	r := &reader{set: p.Set, info: p.Info}
	for _, f := range p.Files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				v, ok := s.(*ast.ValueSpec)
				if !ok || len(v.Values) != 1 {
					continue
				}
				lit, ok := v.Values[0].(*ast.CompositeLit)
				if !ok || !isNamed(p.Info.TypeOf(lit), Runtime, "Collective") {
					continue
				}
				if found := r.table(lit); found.head.Name == primitive {
					r.expect(t == nil, lit, "a second table of "+primitive)
					t = found
				}
			}
		}
	}
	if t == nil {
		return nil, fmt.Errorf("the generated code has no table for %s", primitive)
	}
	return t, nil
}

func (r *reader) table(lit *ast.CompositeLit) *table {
	t := new(table)
	r.fields(lit, &t.head, func(name string, value ast.Expr) bool {
		switch name {
		case "Needs":
			t.needs = r.object(value).Name()
		case "Algorithms":
			for _, x := range r.elements(value) {
				t.algorithms = append(t.algorithms, r.entry(x))
			}
		case "Rules":
			for _, x := range r.elements(value) {
				var rule gen.Rule
				r.fields(x, &rule, nil)
				t.rules = append(t.rules, rule)
			}
		default:
			return false
		}
		return true
	})
	return t
}

func (r *reader) entry(lit *ast.CompositeLit) entry {
	var e entry
	r.fields(lit, &e.plain, func(name string, value ast.Expr) bool {
		switch name {
		case "Proved":
			lit, ok := value.(*ast.CompositeLit)
			r.expect(ok, value, "such a value")
			r.fields(lit, &e.proved, nil)
		case "Run":
			e.run = r.object(value)
		case "Serves":
			f, ok := value.(*ast.FuncLit)
			r.expect(ok, value, "such a function")
			e.serves = f
		default:
			return false
		}
		return true
	})
	return e
}

// object returns what a name stands for, or one of another package.
func (r *reader) object(e ast.Expr) types.Object {
	if s, ok := e.(*ast.SelectorExpr); ok {
		e = s.Sel
	}
	id, ok := e.(*ast.Ident)
	r.expect(ok && r.info.Uses[id] != nil, e, "an expression that is no name")
	return r.info.Uses[id]
}

// elements returns the elements of a list of literals.
func (r *reader) elements(e ast.Expr) []*ast.CompositeLit {
	list, ok := e.(*ast.CompositeLit)
	r.expect(ok, e, "such a list")
	var all []*ast.CompositeLit
	for _, x := range list.Elts {
		lit, ok := x.(*ast.CompositeLit)
		r.expect(ok, x, "such an element")
		all = append(all, lit)
	}
	return all
}

// fields reads the constant fields of a literal into the struct that into points to; other may take those that are
// none.
func (r *reader) fields(lit *ast.CompositeLit, into any, other func(name string, value ast.Expr) bool) {
	for _, x := range lit.Elts {
		kv, ok := x.(*ast.KeyValueExpr)
		r.expect(ok, x, "a field without its name")
		id, ok := kv.Key.(*ast.Ident)
		r.expect(ok, x, "a field without its name")
		if other != nil && other(id.Name, kv.Value) {
			continue
		}
		field, v := reflect.ValueOf(into).Elem().FieldByName(id.Name), r.info.Types[kv.Value].Value
		r.expect(field.IsValid() && v != nil, x, "the field "+id.Name)
		switch field.Kind() {
		case reflect.String:
			field.SetString(constant.StringVal(v))
		case reflect.Bool:
			field.SetBool(constant.BoolVal(v))
		case reflect.Uint64:
			n, _ := constant.Uint64Val(v)
			field.SetUint(n)
		case reflect.Int:
			n, _ := constant.Int64Val(v)
			field.SetInt(n)
		default:
			r.refuse(x, "the field "+id.Name)
		}
	}
}

// hash64 returns a hash as the table has it.
func hash64(h [32]byte) uint64 { return binary.BigEndian.Uint64(h[:8]) }
