package gen

import (
	"errors"
	"fmt"
	"go/token"
	"regexp"
	"slices"

	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
)

// Validate checks all that can be said of a without numbers, and reports every fault that it finds, as *NodeError:
// names and texts that are missing or cannot be used, expressions that are malformed or mention what has no meaning
// there, a name that is given twice, conditionals anywhere but in a Let, nodes and regions where they may not stand.
func Validate(a *Algorithm) error {
	v := &validator{a: a, node: -1}
	v.texts()
	v.own = v.param()
	v.formulas()
	v.scope = v.parameters(Variables...)
	v.body(a.Body)
	return errors.Join(v.faults...)
}

// validator walks through an algorithm in source order.
type validator struct {
	a      *Algorithm
	own    []string // the name of the number that it leaves open, if it has one
	scope  []string // the names that have a meaning here
	bufs   []boundBuf
	inStep bool
	local  bool // the current Step has come to a local action that is always done
	next   int  // index of the next action
	node   int  // index of the current action, or -1
	faults []error
}

func (v *validator) fault(format string, args ...any) {
	v.faults = append(v.faults, &NodeError{Algorithm: v.a.FullName(), Node: v.node, Rank: -1,
		Err: fmt.Errorf(format, args...)})
}

var lowerCase = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

func (v *validator) texts() {
	if !lowerCase.MatchString(v.a.Name) {
		v.fault("the name %q is not lower-case words joined by hyphens", v.a.Name)
	}
	if v.a.Primitive.Name == "" {
		v.fault("Primitive is missing")
	}
	if v.a.Doc == "" {
		v.fault("Doc is missing")
	}
	if v.a.Source == "" {
		v.fault("Source is missing: cite where the algorithm comes from, or say that it is new")
	}
}

// parameters returns the names of those of vars that the primitive has, and the algorithm's own.
func (v *validator) parameters(vars ...spec.Expr) []string {
	names := slices.Clone(v.own)
	for _, x := range vars {
		isParam := x.Name == spec.Root.Name || x.Name == spec.Peer.Name
		if !isParam || slices.Contains(v.a.Primitive.Params, spec.Param(x.Name)) {
			names = append(names, x.Name)
		}
	}
	return names
}

// formulas checks the expressions outside of the body. Those that are not part of the program may hold conditionals.
func (v *validator) formulas() {
	sizes := v.parameters(spec.Size, spec.Local)
	calls := v.parameters(spec.Size, spec.Depth, spec.Local)
	ranks := v.parameters(Variables...)
	if v.a.Primitive.IsUneven() && !isOne(v.a.Chunks) {
		v.fault("Chunks is %v, and uneven blocks are not cut", v.a.Chunks)
	}
	for _, f := range []struct {
		name  string
		is    spec.Expr
		scope []string
		check func(string, spec.Expr)
	}{
		{"Requires.Size", v.a.Requires.Size, sizes, v.optional},
		{"Chunks", v.a.Chunks, calls, v.optionalNumber},
		{"Scratch", v.a.Scratch, ranks, v.optionalNumber},
		{"Cost.Alpha", v.a.Cost.Alpha, calls, v.optional},
		{"Cost.Beta", v.a.Cost.Beta, calls, v.optional},
		{"Cost.Gamma", v.a.Cost.Gamma, calls, v.optional},
	} {
		v.scope = f.scope
		f.check(f.name, f.is)
	}
	v.requiredSize()
}

// requiredSize checks that it is known of every size whether a serves it, with hosts of a few numbers of ranks.
// Generated code and proofs ask alike, and would not agree on an expression without a value.
func (v *validator) requiredSize() {
	is := v.a.Requires.Size
	if len(v.faults) > 0 || !isPartial(is) {
		return
	}
	for size := 1; size <= selection.MaxRanks; size++ {
		for _, local := range []int{1, min(2, size), size} {
			if _, err := is.Eval(Params{Size: size, Local: local}.ofSize()); err != nil {
				v.fault("Requires.Size has no value for size %d: %w, with %d on each host", size, err, local)
				return
			}
		}
	}
}

// isPartial reports whether e, over size and local, has an operator that not all operands have a value for.
func isPartial(e spec.Expr) bool {
	switch e.Kind {
	case spec.DivExpr, spec.ModExpr:
		x, y := e.Args[0], e.Args[1]
		return x.Kind != spec.Variable || y.Kind != spec.Variable // of the size or local, which are 1 or more
	case spec.ShlExpr, spec.ShrExpr, spec.Log2Expr, spec.ReverseExpr:
		return true
	}
	return slices.ContainsFunc(e.Args, isPartial)
}

func (v *validator) body(nodes []Node) {
	scope, bufs := len(v.scope), len(v.bufs)
	for _, n := range nodes {
		v.visit(n)
	}
	v.scope, v.bufs = v.scope[:scope], v.bufs[:bufs]
}

func (v *validator) visit(n Node) {
	switch n := n.(type) {
	case nil:
		v.fault("a node is missing")
	case For:
		v.number("N of for "+n.Var, n.N)
		v.define(n.Var)
		local := v.local
		v.body(n.Body)
		v.scope, v.local = v.scope[:len(v.scope)-1], local
	case If:
		v.branch(n)
	case Let:
		v.let(n)
	case LetBuf:
		v.letBuf(n)
	case Fold:
		v.fold(n)
	case Step:
		v.step(n)
	default:
		v.action(n)
	}
}

func (v *validator) branch(n If) {
	v.number("the condition of an If", n.Cond)
	before := v.local
	v.body(n.Then)
	then := v.local
	v.local = before
	v.body(n.Else)
	v.local = v.local && then
}

func (v *validator) step(n Step) {
	if v.inStep {
		v.fault("a Step is inside another Step")
	}
	outer := v.inStep
	v.inStep, v.local = true, false
	v.body(n)
	v.inStep = outer
}

func (v *validator) let(n Let) {
	v.choice(n.Name, n.Is)
	v.define(n.Name)
}

// choice checks what a name is given. It may be a conditional, and so may be what that is otherwise.
func (v *validator) choice(name string, is spec.Expr) {
	for is.Kind == spec.CondExpr && len(is.Args) == 3 {
		v.number(name, is.Args[0])
		v.number(name, is.Args[1])
		is = is.Args[2]
	}
	v.number(name, is)
}

func (v *validator) fold(n Fold) {
	v.number("N of the fold over "+n.Var, n.N)
	if len(n.State) == 0 {
		v.fault("the fold over %s works out nothing", n.Var)
	}
	for _, x := range n.State {
		v.choice(x.Name, x.First)
	}
	for _, x := range n.State {
		v.define(x.Name)
	}
	scope := len(v.scope)
	v.define(n.Var)
	for _, inner := range n.Body {
		switch inner.(type) {
		case nil, Let, Fold:
		default:
			v.fault("a fold has Lets and Folds alone in its body, and the one over %s has a %T", n.Var, inner)
		}
		v.visit(inner)
	}
	v.optionalNumber("When of the fold over "+n.Var, n.When)
	for _, x := range n.State {
		v.number("Next of "+x.Name, x.Next)
	}
	v.scope = v.scope[:scope]
}

func (v *validator) letBuf(n LetBuf) {
	v.number(string(n.Name), n.Cond)
	v.buf(n.Then)
	v.buf(n.Else)
	v.define(string(n.Name))
	v.bufs = append(v.bufs, boundBuf{name: n.Name, is: v.mayBeScratch(n.Then, n.Else)})
}

// mayBeScratch is Scratch if one of bufs may be it, and otherwise the first of them.
func (v *validator) mayBeScratch(bufs ...spec.Buf) spec.Buf {
	for _, b := range bufs {
		i := slices.IndexFunc(v.bufs, func(x boundBuf) bool { return x.name == b })
		if b == spec.Scratch || i >= 0 && v.bufs[i].is == spec.Scratch {
			return spec.Scratch
		}
	}
	return bufs[0]
}

// define gives name a meaning from here on. Variables and buffers have names of one kind.
func (v *validator) define(name string) {
	switch {
	case !token.IsIdentifier(name) || name == "_":
		v.fault("%q cannot be the name of a variable", name)
	case slices.Contains(v.scope, name) || isReserved(name):
		v.fault("the name %s is already defined", name)
	}
	v.scope = append(v.scope, name)
}

// Variables are what the body of an algorithm may mention from the start: the rank, and the parameters of a call.
var Variables = []spec.Expr{spec.Rank, spec.Size, spec.Root, spec.Peer, spec.Depth, spec.Local}

// isReserved reports whether no algorithm gives that name, whether or not its primitive has what it names.
func isReserved(name string) bool {
	isBuf := slices.Contains([]spec.Buf{spec.In, spec.Out, spec.Scratch}, spec.Buf(name))
	return isBuf || slices.ContainsFunc(Variables, func(x spec.Expr) bool { return x.Name == name })
}

// buf checks that b is a buffer here.
func (v *validator) buf(b spec.Buf) {
	isNamed := slices.ContainsFunc(v.bufs, func(x boundBuf) bool { return x.name == b })
	switch {
	case b == spec.In && v.a.Primitive.In.Blocks.IsAbsent(), b == spec.Out && v.a.Primitive.Out.Blocks.IsAbsent():
		v.fault("%s has no buffer %s", v.a.Primitive.Name, b)
	case b == spec.Scratch && v.a.Scratch.IsAbsent():
		v.fault("the algorithm declares no scratch")
	case !isBuffer(b) && !isNamed:
		v.fault("there is no buffer %q here", b)
	}
}

// number checks an expression of the program: present, without conditionals, and of names that have a meaning.
func (v *validator) number(what string, e spec.Expr) {
	if e.IsAbsent() {
		v.fault("%s is missing", what)
	}
	v.optionalNumber(what, e)
}

func (v *validator) optionalNumber(what string, e spec.Expr) {
	v.optional(what, e)
	if hasConditional(e) {
		v.fault("%s: %v: a conditional may stand only in a Let of its own", what, e)
	}
}

// optional checks an expression that may be absent, and may be a conditional.
func (v *validator) optional(what string, e spec.Expr) {
	switch {
	case e.IsAbsent():
	case e.Kind == spec.Variable:
		isBuf := slices.ContainsFunc(v.bufs, func(x boundBuf) bool { return string(x.name) == e.Name })
		if isBuf || !slices.Contains(v.scope, e.Name) {
			v.fault("%s: %s has no meaning here", what, e.Name)
		}
	case !e.WellFormed():
		v.fault("%s: %v is not an expression", what, e)
	}
	for _, arg := range e.Args {
		if arg.IsAbsent() {
			v.fault("%s: %v lacks an operand", what, e)
		}
		v.optional(what, arg)
	}
}

func hasConditional(e spec.Expr) bool {
	return e.Kind == spec.CondExpr || slices.ContainsFunc(e.Args, hasConditional)
}

// action checks one action.
func (v *validator) action(n Node) {
	v.node = v.next
	v.next++
	if !v.inStep {
		v.fault("%s is outside a Step", verb(n))
	}
	isLocal := false
	switch n := n.(type) {
	case Send:
		v.number("To", n.To)
		v.message(n.Data)
	case Recv:
		v.number("From", n.From)
		v.message(n.Into)
	case RecvReduce:
		v.number("From", n.From)
		v.region(n.Into)
		v.region(n.With)
		v.optionalNumber("ReceivedFirst", n.ReceivedFirst)
	case Copy:
		isLocal = true
		v.region(n.Into)
		v.region(n.From)
	case Reduce:
		isLocal = true
		v.reduce(n)
	case Finish:
		isLocal = true
		v.region(n.Data)
	}
	v.order(n, isLocal)
	v.node = -1
}

// order checks what an action does where it stands.
func (v *validator) order(n Node, isLocal bool) {
	if !isLocal && v.local {
		v.fault("%s is listed after a local action of the same step", verb(n))
	}
	v.local = v.local || isLocal
	switch n.(type) {
	case RecvReduce, Reduce, Finish:
		if !slices.Contains(v.a.Primitive.Params, spec.ParamOp) {
			v.fault("%s: %s has no op", verb(n), v.a.Primitive.Name)
		}
	}
}

func (v *validator) reduce(n Reduce) {
	v.region(n.Into)
	v.number("N", n.N)
	v.define(n.Var)
	v.region(n.From)
	v.scope = v.scope[:len(v.scope)-1]
}

// message checks the data of a message, which may be no data.
func (v *validator) message(r Region) {
	if !r.isNothing() {
		v.region(r)
	}
}

func (v *validator) region(r Region) {
	v.buf(r.Buf)
	v.number("the place in "+string(r.Buf), r.At)
	v.optionalNumber("N of a place in "+string(r.Buf), r.N)
	v.optionalNumber("Like of a place in "+string(r.Buf), r.Like)
	for _, e := range r.Counts {
		v.number("Counts of a place in "+string(r.Buf), e)
	}
	if v.a.Primitive.IsUneven() || len(r.Counts) > 0 {
		v.unevenRegion(r)
		return
	}
	if v.mayBeScratch(r.Buf) != spec.Scratch {
		if !r.Like.IsAbsent() {
			v.fault("a place in %s has the length of its own chunks, and needs no Like", r.Buf)
		}
		return
	}
	if isOne(v.a.Chunks) {
		return
	}
	if r.Like.IsAbsent() {
		v.fault("a slot of %s needs Like, because the chunks of a block differ in length", r.Buf)
	}
	if !isOne(r.N) {
		v.fault("a place in %s is a single slot, because the chunks of a block differ in length", r.Buf)
	}
}

// unevenRegion checks a region where blocks are uneven.
func (v *validator) unevenRegion(r Region) {
	arity := v.a.Primitive.Arity()
	isScratch := v.mayBeScratch(r.Buf) == spec.Scratch
	switch {
	case !isOne(r.N):
		v.fault("a place in %s is a single block, because blocks are uneven", r.Buf)
	case !r.Like.IsAbsent():
		v.fault("a place in %s needs Counts and no Like, because blocks are uneven", r.Buf)
	case isScratch && len(r.Counts) != arity:
		v.fault("a slot of %s has %d Counts, and the blocks of %s have %d", r.Buf, len(r.Counts), v.a.Primitive.Name, arity)
	case !isScratch && len(r.Counts) > 0:
		v.fault("a place in %s has the length of its own block, and needs no Counts", r.Buf)
	}
}

// isOne reports whether an expression that is 1 where it is absent is the constant 1.
func isOne(e spec.Expr) bool { return e.IsAbsent() || e.Kind == spec.Const && e.N == 1 }

// verb returns the kind of an action, as people call it.
func verb(n Node) string {
	switch n.(type) {
	case Send:
		return "send"
	case Recv:
		return "recv"
	case RecvReduce:
		return "recv-reduce"
	case Copy:
		return "copy"
	case Reduce:
		return "reduce"
	}
	return "finish"
}

// param checks the number that the algorithm leaves open, and returns the names that it adds to all expressions.
func (v *validator) param() []string {
	switch p := v.a.Param; {
	case p.Name == "" && p.Value == 0 && len(p.Values) == 0:
		return nil
	case !token.IsIdentifier(p.Name) || p.Name == "_" || isReserved(p.Name):
		v.fault("%q cannot be the name of a Param", p.Name)
	case p.Value < 1:
		v.fault("the Param %s has the value %d, and wants Values of 1 or more", p.Name, p.Value)
	}
	return []string{v.a.Param.Name}
}
