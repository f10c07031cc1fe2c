package gen

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/collgen/collgen/spec"
)

// Hash identifies the program that a is: the SHA-256 of its primitive's hash and of Text. Doc, Source and Cost, which
// are about the program, do not count.
func (a *Algorithm) Hash() [sha256.Size]byte {
	h := a.Primitive.Hash()
	return sha256.Sum256(append(h[:], a.Text()...))
}

// Text returns the program for people to read, one line for each node; different programs have different texts. Actions
// are numbered as a NodeError numbers them.
func (a *Algorithm) Text() string {
	p := &printer{indent: 1}
	chunks, slots := a.Chunks.OrElse(spec.Int(1)), a.Scratch.OrElse(spec.Int(0))
	fmt.Fprintf(&p.text, "%s(chunks = %v, scratch = %v)", a.FullName(), chunks, slots)
	if !a.Requires.Size.IsAbsent() {
		fmt.Fprintf(&p.text, ", for sizes with %v", a.Requires.Size)
	}
	if a.Param.Value != 0 {
		fmt.Fprintf(&p.text, ", with %s = %d", a.Param.Name, a.Param.Value)
	}
	if a.Requires.Commutative {
		p.text.WriteString(", for commutative ops")
	}
	if a.Requires.OutOfPlace {
		p.text.WriteString(", out of place")
	}
	p.text.WriteString(":\n")
	p.body(a.Body)
	return p.text.String()
}

type printer struct {
	text   strings.Builder
	indent int
	next   int // index of the next action
}

func (p *printer) line(label, format string, args ...any) {
	fmt.Fprintf(&p.text, "%4s%s%s\n", label, strings.Repeat("  ", p.indent), fmt.Sprintf(format, args...))
}

func (p *printer) body(nodes []Node) {
	p.indent++
	for _, n := range nodes {
		p.node(n)
	}
	p.indent--
}

func (p *printer) node(n Node) {
	switch n := n.(type) {
	case For:
		p.line("", "for %s < %v:", n.Var, n.N)
		p.body(n.Body)
	case If:
		p.line("", "if %v:", n.Cond)
		p.body(n.Then)
		if len(n.Else) > 0 {
			p.line("", "else:")
			p.body(n.Else)
		}
	case Let:
		p.line("", "%s = %v", n.Name, n.Is)
	case LetBuf:
		p.line("", "buffer %s = if %v then %s else %s", n.Name, n.Cond, n.Then, n.Else)
	case Fold:
		p.fold(n)
	case Step:
		p.line("", "step:")
		p.body(n)
	default:
		p.line(fmt.Sprint(p.next), "%s", actionText(n))
		p.next++
	}
}

// fold prints the numbers with their first values, and at the end with those after a turn.
func (p *printer) fold(n Fold) {
	var first, next []string
	for _, x := range n.State {
		first = append(first, fmt.Sprintf("%s = %v", x.Name, x.First))
		next = append(next, fmt.Sprintf("%s = %v", x.Name, x.Next))
	}
	p.line("", "fold %s for %s < %v:", strings.Join(first, ", "), n.Var, n.N)
	p.body(n.Body)
	when := ""
	if !n.When.IsAbsent() {
		when = fmt.Sprintf(" if %v", n.When)
	}
	p.line("", "  next%s: %s", when, strings.Join(next, ", "))
}

func actionText(n Node) string {
	switch n := n.(type) {
	case Send:
		return fmt.Sprintf("send %v to %v", n.Data, n.To)
	case Recv:
		return fmt.Sprintf("recv %v from %v%s", n.Into, n.From, afterSend(n.AfterSend)+lent(n.Lend))
	case RecvReduce:
		order := fmt.Sprintf("%v ⊕ received", n.With)
		if !n.ReceivedFirst.IsAbsent() {
			order += fmt.Sprintf(", received first if %v,", n.ReceivedFirst)
		}
		return fmt.Sprintf("recv-reduce %v = %s from %v%s", n.Into, order, n.From, afterSend(n.AfterSend))
	case Copy:
		return fmt.Sprintf("copy %v = %v%s", n.Into, n.From, lent(n.Lend))
	case Reduce:
		return fmt.Sprintf("reduce %v = ⊕ %v for %s < %v", n.Into, n.From, n.Var, n.N)
	case Finish:
		return fmt.Sprintf("finish %v", n.Data)
	}
	return "nothing"
}

func afterSend(marked bool) string {
	if marked {
		return ", after send"
	}
	return ""
}

func lent(marked bool) string {
	if marked {
		return ", lent"
	}
	return ""
}

// String returns the region as people write it: out[c], out[c..+n], scratch[s like c], or scratch[s like n[b]].
func (r Region) String() string {
	if r.isNothing() {
		return "nothing"
	}
	s := fmt.Sprintf("%s[%v", r.Buf, r.At)
	if !r.N.IsAbsent() {
		s += fmt.Sprintf("..+%v", r.N)
	}
	if !r.Like.IsAbsent() {
		s += fmt.Sprintf(" like %v", r.Like)
	}
	for i, e := range r.Counts {
		if i == 0 {
			s += " like n"
		}
		s += fmt.Sprintf("[%v]", e)
	}
	return s + "]"
}

func (r Region) isNothing() bool {
	return r.Buf == "" && r.At.IsAbsent() && r.N.IsAbsent() && r.Like.IsAbsent() && len(r.Counts) == 0
}
