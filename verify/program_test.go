package verify_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec/spectest"
)

// program is calls on the communicators of one job, and how each process makes its part of them.
type program struct {
	calls     []placedCall
	processes []processProgram
}

// placedCall is a call, and the processes that are its ranks.
type placedCall struct {
	expected
	members []int
}

// processProgram is what one process does, as plain data. Calls on different communicators go on at the same time.
type processProgram struct {
	Steps     []step
	Batch     bool // all steps are started, and begin together
	Backwards bool // what was started last is waited for first
}

// step is one call of a process.
type step struct {
	Division int // of its communicator
	Form     form
	Parts    []part // one, or the Send and the Recv of a SendRecv
}

// form is how a call is made.
type form uint8

const (
	started form = iota // by its Start form, and waited for when all calls were made
	waited              // by its Start form, and waited for at once
	blocking
)

// part is a rank's part of a call of the program, which has that number.
type part struct {
	Number int
	Call   rankCall
}

// newProgram returns an empty program for size processes.
func newProgram(size int) *program {
	return &program{processes: make([]processProgram, size)}
}

// drawProgram draws up to most calls, or groups of messages, of size processes of w.
func drawProgram(t *rapid.T, w world, size, most int) *program {
	p := newProgram(size)
	batch := rapid.Bool().Draw(t, "batch")
	for range rapid.IntRange(1, most).Draw(t, "calls") {
		d, members := drawCommunicator(t, size)
		if len(members) > 1 && rapid.IntRange(0, 3).Draw(t, "messages") == 0 {
			p.drawMessages(t, d, members, batch)
			continue
		}
		number := p.add(members, drawVariant(t, len(members), w.over(members)).draw(t))
		for rank := range members {
			if x := p.part(number, rank); x.Call.takesPart() {
				p.append(d, members[rank], drawForm(t, batch), x)
			}
		}
	}
	for i := range p.processes {
		p.processes[i].Batch, p.processes[i].Backwards = batch, rapid.Bool().Draw(t, "backwards")
	}
	return p
}

// drawCommunicator draws the first communicator, or any one.
func drawCommunicator(t *rapid.T, size int) (division int, members []int) {
	all := divisions(size)
	division = rapid.OneOf(rapid.Just(0), rapid.IntRange(0, len(all)-1)).Draw(t, "division")
	return division, rapid.SampledFrom(all[division]).Draw(t, "communicator")
}

// drawMessages draws messages between members. Those that are all started may be started in any order that keeps the
// messages from one rank to another in theirs.
func (p *program) drawMessages(t *rapid.T, division int, members []int, batch bool) {
	anyOrder, first := batch || rapid.Bool().Draw(t, "any order"), len(p.calls)
	v := variant{a: &catalogue.SendDirect, ty: spectest.Types().Draw(t, "type")}
	for range rapid.IntRange(1, 8).Draw(t, "number") {
		v.p, v.count = rapid.SampledFrom(v.a.Calls(len(members), 1)).Draw(t, "ends"), drawCount(t, len(members))
		p.add(members, v.draw(t))
	}
	for rank, process := range members {
		var parts []part
		for number := range p.calls[first:] {
			if x := p.part(first+number, rank); x.Call.takesPart() {
				parts = append(parts, x)
			}
		}
		if anyOrder {
			parts = drawOrder(t, parts)
		}
		p.appendMessages(t, division, process, anyOrder, parts)
	}
}

// drawOrder merges the messages from and to each other rank in any way.
func drawOrder(t *rapid.T, parts []part) (ordered []part) {
	type ends struct{ from, to int }
	rest := map[ends][]part{}
	for _, x := range parts {
		rest[ends{x.Call.Root, x.Call.Peer}] = append(rest[ends{x.Call.Root, x.Call.Peer}], x)
	}
	for range parts {
		next := rapid.SampledFrom(slices.SortedFunc(maps.Keys(rest), func(a, b ends) int {
			return slices.Compare([]int{a.from, a.to}, []int{b.from, b.to})
		})).Draw(t, "next")
		ordered = append(ordered, rest[next][0])
		if rest[next] = rest[next][1:]; len(rest[next]) == 0 {
			delete(rest, next)
		}
	}
	return ordered
}

// appendMessages has a process send and receive parts, some of them at once.
func (p *program) appendMessages(t *rapid.T, division, process int, start bool, parts []part) {
	for len(parts) > 0 {
		n := 1
		if len(parts) > 1 && parts[0].Call.sends() != parts[1].Call.sends() && rapid.Bool().Draw(t, "both") {
			n = 2
			if parts[1].Call.sends() {
				parts[0], parts[1] = parts[1], parts[0]
			}
		}
		p.append(division, process, drawForm(t, start), parts[:n]...)
		parts = parts[n:]
	}
}

// add adds a call on the communicator that has those members, which has to be made by all of them.
func (p *program) add(members []int, e expected) (number int) {
	p.calls = append(p.calls, placedCall{e, members})
	return len(p.calls) - 1
}

// part returns a rank's part of a call.
func (p *program) part(number, rank int) part {
	return part{number, p.calls[number].calls[rank]}
}

// drawForm draws a form, which is started if it has to be.
func drawForm(t *rapid.T, start bool) form {
	if start {
		return started
	}
	return rapid.SampledFrom([]form{started, waited, blocking}).Draw(t, "form")
}

// append has a process make parts, which are one call.
func (p *program) append(division, process int, f form, parts ...part) {
	steps := &p.processes[process].Steps
	*steps = append(*steps, step{division, f, parts})
}

// check runs the program in w.
func (p *program) check(t interface {
	Error(...any)
	Fatal(...any)
}, w world) {
	got, err := w.run(p.processes)
	if err != nil {
		t.Fatal(err)
	}
	if d := p.differences(got); d != "" {
		t.Error(d)
	}
}

// differences says how the results of a run differ from what was expected.
func (p *program) differences(results []map[int]rankResult) string {
	var b strings.Builder
	for number, call := range p.calls {
		got := make([]rankResult, len(call.members))
		for rank, process := range call.members {
			got[rank] = results[process][number]
		}
		if d := differences(call.expected, got); d != "" {
			fmt.Fprintf(&b, "call %d, of processes %v: %v\n%s", number, call.members, &call, d)
		}
	}
	return b.String()
}
