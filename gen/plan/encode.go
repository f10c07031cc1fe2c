package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/collgen/collgen/gen"
)

// Encode writes s as a plan file. Its error is that of w.
func Encode(w io.Writer, s *gen.Schedule) error {
	f := file{Plan: version, Name: s.Algorithm, Primitive: s.Primitive.Name, Size: s.Size, Root: s.Root, Peer: s.Peer,
		Chunks: s.Chunks, Commutative: s.Requires.Commutative, OutOfPlace: s.Requires.OutOfPlace}
	for r := range s.Ranks {
		p := &s.Ranks[r]
		x := rank{Scratch: p.Scratch, Steps: [][]action{}}
		for _, step := range p.Steps() {
			x.Steps = append(x.Steps, actionsOf(step, s))
		}
		f.Ranks = append(f.Ranks, x)
	}
	return f.write(w)
}

// actionsOf returns the actions of a step: messages in the order of their sends and receives, and then the others.
func actionsOf(step gen.ProgramStep, s *gen.Schedule) (list []action) {
	for _, group := range [][]*gen.Instr{step.Sends, step.Recvs, step.Local} {
		for _, in := range group {
			list = append(list, actionOf(in, s))
		}
	}
	return list
}

func actionOf(in *gen.Instr, s *gen.Schedule) action {
	a := action{Channel: in.Channel, Lend: in.Lend, ReceivedFirst: in.ReceivedFirst, AfterSend: in.AfterSend >= 0}
	text := func(p gen.Place) string { return placeText(p, s) }
	switch in.Kind {
	case gen.SendInstr:
		a.Send, a.To = text(in.Srcs[0]), &in.Peer
	case gen.RecvReduceInstr:
		a.Plus = text(in.Srcs[0])
		a.Recv, a.From = text(in.Dst), &in.Peer
	case gen.RecvInstr:
		a.Recv, a.From = text(in.Dst), &in.Peer
	case gen.CopyInstr:
		a.Copy, a.Into = text(in.Srcs[0]), text(in.Dst)
	case gen.ReduceInstr:
		for _, p := range in.Srcs {
			a.Reduce = append(a.Reduce, text(p))
		}
		a.Into = text(in.Dst)
	case gen.FinishInstr:
		a.Finish = text(in.Dst)
	}
	return a
}

// write writes f with a line for each step.
func (f *file) write(w io.Writer) error {
	head := *f
	head.Ranks = nil
	text, err := compact(head)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(text, `"ranks":null}`) + "\"ranks\": [")
	for i, r := range f.Ranks {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "\n  {\"scratch\": %d, \"steps\": [", r.Scratch)
		for k, step := range r.Steps {
			if k > 0 {
				b.WriteString(",")
			}
			text, err := compact(step)
			if err != nil {
				return err
			}
			b.WriteString("\n    " + text)
		}
		b.WriteString("]}")
	}
	b.WriteString("\n]}\n")
	_, err = io.WriteString(w, b.String())
	return err
}

// compact returns v as JSON in one line.
func compact(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSpace(b.String()), err
}
