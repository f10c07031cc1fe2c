package spec

import (
	"fmt"
	"strings"
)

// Condition is one condition, in words and as a formula. In formulas x[q][k] is block k of rank q's in as it was before
// the call, ⊕ is the op, and an index is left out where there is only one block.
type Condition struct {
	Words, Formula string
}

// Description is a Primitive for people to read.
type Description struct {
	Before  []Condition // what a caller has to provide
	After   []Condition // what it gets; the last one is the frame
	InPlace Condition   // how the buffers may share memory
	Order   string      // what is promised of the order of a reduction; empty where nothing is reduced
	Refused []Condition // the arguments that are refused
}

// Describe puts p into words. It is for primitives that Validate accepts.
func Describe(p Primitive) Description {
	d := Description{InPlace: p.inPlace(), Order: p.order()}
	for _, b := range []Buf{In, Out} {
		if s := p.subject(b, Expr{}); !s.none {
			d.Before = append(d.Before, p.shape(s, b))
		}
	}
	for _, c := range p.Pre {
		d.Before = append(d.Before, p.condition(c))
	}
	for _, c := range p.Post {
		d.After = append(d.After, p.condition(c))
	}
	d.After = append(d.After, Condition{"Nothing else is changed.", ""})
	for _, e := range p.Errors {
		d.Refused = append(d.Refused, Condition{e.Reason, e.When.String()})
	}
	return d
}

// The names that variables have in words and formulas.
var (
	shownRank  = Var("r")
	shownBlock = Var("b")
)

// subject is what a condition mentions: a buffer on some ranks, where a condition holds. Its expressions use the names
// that are shown.
type subject struct {
	none   bool
	rank   Expr // r, or the only rank that it is about
	blocks Expr
	on     string // the condition on r beyond being a rank, or empty
	where  string // the condition on b, or empty
}

func (p Primitive) buffer(b Buf) Buffer {
	if b == In {
		return p.In
	}
	return p.Out
}

func (p Primitive) subject(b Buf, where Expr) subject {
	is := p.buffer(b)
	s := subject{none: is.Blocks.IsAbsent(), rank: shownRank}
	if isEq(is.On, Rank) {
		s.rank = is.On.Args[1]
	} else if !is.On.IsAbsent() {
		s.on = s.show(is.On).String()
	}
	s.blocks = s.show(is.Blocks)
	if !where.IsAbsent() {
		s.where = s.show(where).String()
	}
	return s
}

// isEq reports whether e is x = something.
func isEq(e, x Expr) bool {
	return e.Kind == EqExpr && e.Args[0].Kind == Variable && e.Args[0].Name == x.Name
}

// isInt reports whether e is the constant n.
func isInt(e Expr, n int) bool { return e.Kind == Const && e.N == n }

// show gives the variables of e their names in words, in a condition on s.
func (s subject) show(e Expr) Expr {
	block := shownBlock
	if isInt(s.blocks, 1) {
		block = Int(0)
	}
	return replace(replace(e, Rank.Name, s.rank), Block.Name, block)
}

// replace returns e with by in place of the variable name.
func replace(e Expr, name string, by Expr) Expr {
	if e.Kind == Variable && e.Name == name {
		return by
	}
	args := make([]Expr, len(e.Args))
	for i, a := range e.Args {
		args[i] = replace(a, name, by)
	}
	e.Args = args
	return e
}

// ranks is for which ranks the condition is: "On every rank r".
func (s subject) ranks() string {
	switch {
	case s.rank.Name != shownRank.Name:
		return "On rank " + s.rank.String()
	case s.on != "":
		return "On every rank r with " + s.on
	}
	return "On every rank r"
}

// scope is over what the formula ranges, with the conditions on it: "for r < size, b < size".
func (s subject) scope() string {
	var over []string
	if s.rank.Name == shownRank.Name {
		over = append(over, "r < size")
	}
	if !isInt(s.blocks, 1) && !s.none {
		over = append(over, "b < "+s.blocks.String())
	}
	for _, cond := range []string{s.on, s.where} {
		if cond != "" {
			over = append(over, cond)
		}
	}
	if len(over) == 0 {
		return ""
	}
	return "  for " + strings.Join(over, ", ")
}

// shape says how long a buffer is.
func (p Primitive) shape(s subject, b Buf) Condition {
	if len(p.buffer(b).Counts) > 0 {
		return p.unevenShape(s, b)
	}
	count := "count"
	if !isInt(s.blocks, 1) {
		count = s.blocks.String() + "·count"
	}
	words := fmt.Sprintf("%s, %s has %s elements%s", s.ranks(), b, count, s.others(b))
	s.blocks = Int(1) // the formula is about the whole buffer
	return Condition{words + ".", fmt.Sprintf("len(%s[%v]) = %s%s", b, s.rank, count, s.scope())}
}

// others says that the ranks that s is not about pass no such buffer.
func (s subject) others(b Buf) string {
	if s.rank.Name != shownRank.Name || s.on != "" {
		return "; no other rank passes " + string(b)
	}
	return ""
}

// unevenShape says how long the blocks of a buffer are. n is a function of the call that only says so.
func (p Primitive) unevenShape(s subject, b Buf) Condition {
	part, place, n := string(b), fmt.Sprintf("%s[%v]", b, s.rank), "n"
	if !isInt(s.blocks, 1) {
		part, place = fmt.Sprintf("block b of %s", b), place+"[b]"
	}
	for _, e := range p.buffer(b).Counts {
		n += fmt.Sprintf("[%v]", s.show(e))
	}
	return Condition{fmt.Sprintf("%s, %s has %s elements%s.", s.ranks(), part, n, s.others(b)),
		fmt.Sprintf("len(%s) = %s%s", place, n, s.scope())}
}

// condition puts a clause into words.
func (p Primitive) condition(c Clause) Condition {
	if c.Value.Kind == Entered {
		return p.entered(c)
	}
	s := p.subject(c.Buf, c.Where)
	part, place := string(c.Buf), fmt.Sprintf("%s[%v]", c.Buf, s.rank)
	if !isInt(s.blocks, 1) {
		part, place = "block b of "+part, place+"[b]"
	}
	words, value := p.value(c.Value, s)
	where := ""
	if s.where != "" {
		where = ", where " + s.where + ","
	}
	return Condition{
		Words:   fmt.Sprintf("%s%s %s holds %s.", s.ranks(), comma(where), part, words),
		Formula: fmt.Sprintf("%s = %s%s", place, value, s.scope()),
	}
}

// comma closes a phrase that has not closed itself.
func comma(phrase string) string {
	if phrase == "" {
		return ","
	}
	return phrase
}

// value returns what a block holds, in words and as a term.
func (p Primitive) value(v Value, s subject) (words, term string) {
	switch block := s.show(v.Block); v.Kind {
	case Input:
		rank := s.show(v.Rank)
		words = "the input of rank " + rank.String()
		return p.inputBlock(block, words), p.inputTerm(rank, block)
	case Fold:
		words, over := "the input of every rank q", "q < size"
		if !v.Where.IsAbsent() {
			cond := s.show(v.Where).String()
			words, over = words+" with "+cond, over+", "+cond
		}
		return "the reduction of " + p.inputBlock(block, words), fmt.Sprintf("⊕(%s) %s", over, p.inputTerm(Q, block))
	}
	return "nothing in particular", "?"
}

func (p Primitive) inputBlock(block Expr, of string) string {
	if isInt(p.In.Blocks, 1) {
		return of
	}
	return fmt.Sprintf("block %v of %s", block, of)
}

func (p Primitive) inputTerm(rank, block Expr) string {
	if isInt(p.In.Blocks, 1) {
		return fmt.Sprintf("x[%v]", rank)
	}
	return fmt.Sprintf("x[%v][%v]", rank, block)
}

func (p Primitive) entered(c Clause) Condition {
	s := p.subject(c.Buf, c.Where)
	s = subject{rank: shownRank, blocks: Int(1), on: s.where}
	words, over := "every rank q", "q < size"
	if !c.Value.Where.IsAbsent() {
		cond := s.show(c.Value.Where).String()
		words, over = words+" with "+cond, over+", "+cond
	}
	return Condition{
		Words:   fmt.Sprintf("%s, the call returns only after %s has made it.", s.ranks(), words),
		Formula: fmt.Sprintf("entered(q) before returned(r)  for %s, %s", strings.TrimPrefix(s.scope(), "  for "), over),
	}
}

// inPlace says how in and out may share memory.
func (p Primitive) inPlace() Condition {
	if p.In.Blocks.IsAbsent() || p.Out.Blocks.IsAbsent() {
		return Condition{}
	}
	if p.InPlace.InBlock.IsAbsent() {
		return Condition{"in and out do not overlap.", ""}
	}
	s := p.subject(In, Expr{})
	if p.In.On.IsAbsent() {
		s = p.subject(Out, Expr{})
	}
	in, inTerm := s.part(In, p.In.Blocks, p.InPlace.InBlock)
	out, outTerm := s.part(Out, p.Out.Blocks, p.InPlace.OutBlock)
	if p.In.Blocks.String() == p.Out.Blocks.String() && p.InPlace.InBlock.String() == p.InPlace.OutBlock.String() {
		in, out, inTerm, outTerm = "in", "out", fmt.Sprintf("in[%v]", s.rank), fmt.Sprintf("out[%v]", s.rank)
	}
	s.blocks = Int(1)
	return Condition{
		Words:   fmt.Sprintf("%s, %s may be the same memory as %s; in and out do not overlap otherwise.", s.ranks(), out, in),
		Formula: fmt.Sprintf("&%s = &%s%s", outTerm, inTerm, s.scope()),
	}
}

// part names one block of a buffer, or the buffer where that is all of it.
func (s subject) part(b Buf, blocks, block Expr) (words, term string) {
	words, term = string(b), fmt.Sprintf("%s[%v]", b, s.rank)
	if isInt(blocks, 1) {
		return words, term
	}
	block = replace(block, Rank.Name, s.rank)
	return fmt.Sprintf("block %v of %s", block, words), fmt.Sprintf("%s[%v]", term, block)
}

// order says in which order operands are combined.
func (p Primitive) order() string {
	for _, c := range p.Post {
		if c.Value.Kind == Fold {
			return orderWords[p.Order]
		}
	}
	return ""
}

const anyTreeWords = "Each operand is combined exactly once, in rank order unless op is commutative. How operands " +
	"are grouped depends on the algorithm, which the table picks by transport too, and on the call (size, root, count, " +
	"and the place in the buffer), never on timing"

var orderWords = [...]string{
	AnyTree:     anyTreeWords + ".",
	SameTree:    anyTreeWords + ", and is the same for all ranks: they get the same bits.",
	RankOrdered: "Operands are combined in rank order, from left to right: the bits depend on nothing but the inputs.",
}
