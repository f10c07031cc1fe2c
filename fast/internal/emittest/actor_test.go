package emittest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/collective"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
)

// actor is one rank: it runs the code, as whose transport it compares each step with the schedule's, which it carries
// out beside it.
type actor struct {
	fasttest.Idle
	stage *stage
	rank  int
	comm  *fast.Comm
	waits int // the rank whose message it waits for; -1: none
	yield func(struct{}) bool

	call    *emittedCall
	x       *exec.Call // of the code
	memory  shadow
	in, out []uint64 // the code's
	steps   []gen.ProgramStep
	last    int // the step that was begun last, by its number in the schedule; -1: none
	fault   string

	// The messages of the schedule's next step in the memory of the code, without those that have no bytes.
	sends []wire.Send
	recvs []wire.Recv
}

func (a *actor) Begin(wire.Mark) {}
func (a *actor) Release()        {}

// begin prepares the rank for a call. Its buffers are filled with symbols, the same for the code and the schedule.
func (a *actor) begin(e *emittedCall, syms *symbols) {
	b := &e.buffers[a.rank]
	a.call, a.steps, a.last, a.fault, a.waits = e, e.steps[a.rank], -1, "", -1
	m := shadow{syms: syms, cuts: gen.Cuts{Block: e.count, Chunks: e.s.Chunks}, uneven: e.unevenOf(a.rank),
		finishes: takesOp(e.a)}
	in, out := m.starts(b.in, b.out)
	m.in, m.out = syms.fill(in), syms.fill(out)
	a.in, a.out = slices.Clone(m.in), slices.Clone(m.out)
	if e.inPlace && b.aliasIn >= 0 {
		in, out := m.starts(b.aliasIn, b.aliasOut)
		a.in, a.out = shared(a.in, a.out, in, out)
		if e.a.Requires.OutOfPlace { // the code gets a copy of In
			m.out = slices.Clone(a.out)
		} else {
			m.in, m.out = shared(m.in, m.out, in, out)
		}
	}
	m.scratch = make([]uint64, m.slots(e.s.Ranks[a.rank].Scratch))
	a.memory = m
}

// shared puts in and out into one memory, where in's element a is out's element b. It has in's values where both lie.
func shared(in, out []uint64, a, b int) ([]uint64, []uint64) {
	memory := make([]uint64, max(len(in)+max(b-a, 0), len(out)+max(a-b, 0)))
	sharedIn, sharedOut := memory[max(b-a, 0):][:len(in):len(in)], memory[max(a-b, 0):][:len(out):len(out)]
	copy(sharedOut, out)
	copy(sharedIn, in)
	return sharedIn, sharedOut
}

// errDiffers is how the code is ended when it has done something else than the schedule.
var errDiffers = errors.New("the code is not the schedule")

// play makes the call.
func (a *actor) play(yield func(struct{}) bool) {
	a.yield = yield
	defer func() {
		if r := recover(); r != nil {
			_ = a.differ("after step %d: the call panics: %v", a.last, r)
		}
	}()
	e, b := a.call, &a.call.buffers[a.rank]
	args := exec.Args{Count: e.count, Op: fast.Avg, Root: e.s.Root, Peer: e.s.Peer, AliasIn: b.aliasIn * e.count,
		AliasOut: b.aliasOut * e.count}
	opts := []fast.Option{fast.WithDepth(e.s.Depth)}
	var err error
	if u := a.memory.uneven; u != nil {
		args.AliasIn, args.AliasOut, args.NoAlias = max(b.aliasIn, 0), max(b.aliasOut, 0),
			e.a.Primitive.InPlace.InBlock.IsAbsent()
		blocks := collective.BlocksOf{Dst: u.blocks(e.a.Primitive.Out, u.out), Src: u.blocks(e.a.Primitive.In, u.in)}
		err = collective.DoUneven(context.Background(), a.comm, e.k, a.out, a.in, &blocks, &args, opts)
	} else {
		err = collective.Do(context.Background(), a.comm, e.k, a.out, a.in, &args, opts)
	}
	if err != nil {
		a.differ("the call fails: %v", err)
	}
}

// differ takes note of a difference; the first one counts.
func (a *actor) differ(format string, args ...any) error {
	if a.fault == "" {
		a.fault = fmt.Sprintf(format, args...)
	}
	return errDiffers
}

// run calls the generated function, between symbols put into the place of elements and the look at what it has left.
func (a *actor) run(ctx context.Context, x *exec.Call, code func(context.Context, *exec.Call) error) error {
	a.x, x.Local = x, a.call.s.Local
	if x.Kernel != nil {
		x.Kernel, x.Many = a.memory.syms.kernel, nil
	}
	if err := code(ctx, x); err != nil {
		return err
	}
	s, err := a.next()
	if err != nil {
		return err
	}
	if s != nil {
		return a.differ("step %d: the code ends before it; the schedule has\n%s", s.Number,
			strings.Join(eventLines(a.sends, a.recvs, x), "\n"))
	}
	return nil
}

// next returns the step of the schedule that the next Exchange has to be, after the local actions of those before it;
// nil if there is none. What these leave in memory is compared.
func (a *actor) next() (*gen.ProgramStep, error) {
	for {
		if a.last >= 0 && len(a.steps) > 0 && a.steps[0].Number == a.last {
			for _, in := range a.steps[0].Local {
				a.memory.perform(in)
			}
			a.stage.events += len(a.steps[0].Local)
			a.steps = a.steps[1:]
		}
		if err := a.compareLayout(); err != nil || len(a.steps) == 0 {
			return nil, errors.Join(err, a.compareMemory())
		}
		s := &a.steps[0]
		if a.expect(s); len(a.sends)+len(a.recvs) > 0 {
			return s, a.compareMemory()
		}
		a.last = s.Number
	}
}

// compareLayout compares how the code has cut its buffers with the schedule.
func (a *actor) compareLayout() error {
	x := a.x
	if u := a.memory.uneven; u != nil {
		if slots := a.call.s.Ranks[a.rank].Scratch; x.Cuts.Chunks != 0 || len(x.Scratch.Data) != slots*max(1, 8*u.longest) {
			return a.differ("uneven blocks are laid out as %d chunks, with %d bytes of scratch", x.Cuts.Chunks,
				len(x.Scratch.Data))
		}
		return nil
	}
	if x.Cuts.Chunks != a.memory.cuts.Chunks || len(x.Scratch.Data) != 8*len(a.memory.scratch) {
		return a.differ("the layout is %d chunks and %d elements of scratch, want %d and %d", x.Cuts.Chunks,
			len(x.Scratch.Data)/8,
			a.memory.cuts.Chunks, len(a.memory.scratch))
	}
	return nil
}

// compareMemory compares the buffers of the code with those of the schedule.
func (a *actor) compareMemory() error {
	x := a.x
	for _, b := range []struct {
		name      string
		got, want []uint64
	}{{"in", uint64s(x.In.Data), a.memory.in}, {"out", uint64s(x.Out.Data), a.memory.out}} {
		if !slices.Equal(b.got, b.want) {
			i := 0
			for b.got[i] == b.want[i] {
				i++
			}
			return a.differ("after step %d: element %d of %s is another expression than the schedule's: %s, want %s", a.last, i,
				b.name,
				a.memory.syms.words(b.got[i]), a.memory.syms.words(b.want[i]))
		}
	}
	return nil
}

// Exchange compares the messages of a step with the schedule's, and carries them out.
func (a *actor) Exchange(_ context.Context, sends []wire.Send, recvs []wire.Recv) error {
	s, err := a.next()
	if err != nil {
		return err
	}
	x := a.x
	if s == nil {
		if len(sends)+len(recvs) == 0 { // of a call without messages
			return nil
		}
		return a.differ("after step %d, the last: the code goes on with\n%s", a.last,
			strings.Join(eventLines(sends, recvs, x), "\n"))
	}
	a.last = s.Number
	if !slices.EqualFunc(sends, a.sends, sameSend) || !slices.EqualFunc(recvs, a.recvs, sameRecv) {
		return a.differ("step %d: %s", s.Number, firstDifference(eventLines(sends, recvs, x),
			eventLines(a.sends, a.recvs, x)))
	}
	a.stage.events += len(sends) + len(recvs)
	a.stage.messages += len(sends) + len(recvs)
	a.sendAll(s, sends)
	return a.receiveAll(s, recvs)
}

// sendAll sends what the code and the schedule send in a step.
func (a *actor) sendAll(s *gen.ProgramStep, sends []wire.Send) {
	n := 0
	for _, in := range s.Sends {
		if want := a.memory.at(in.Srcs[0]); len(want) > 0 || a.sendsNothing(in.Srcs[0]) {
			a.stage.send(a.rank, in.Peer, letter{slices.Clone(uint64s(sends[n].Data)), slices.Clone(want)})
			n++
		}
	}
}

// receiveAll receives what the code and the schedule receive in a step.
func (a *actor) receiveAll(s *gen.ProgramStep, recvs []wire.Recv) error {
	n := 0
	for _, in := range s.Recvs {
		if len(a.memory.at(in.Dst)) == 0 && !a.sendsNothing(in.Dst) {
			continue
		}
		r := &recvs[n]
		n++
		l, ok := a.stage.receive(r.Peer, a.rank)
		switch {
		case !ok:
			return errDiffers
		case 8*len(l.got) != len(r.Into) || len(l.got) != len(l.want):
			return a.differ("step %d: rank %d has sent %d elements for %d", s.Number, r.Peer, len(l.got), len(r.Into)/8)
		}
		a.apply(r, l.got)
		a.memory.receive(in, l.want)
	}
	return nil
}

// apply takes a message, as a transport does. Some of what may be lent is lent.
func (a *actor) apply(r *wire.Recv, got []uint64) {
	data := exec.Bytes(got)
	switch {
	case r.Lend && (a.rank+r.Peer)%2 == 0:
		r.Into = data
	case r.Kernel == nil:
		copy(r.Into, data)
	case r.ReceivedFirst:
		r.Kernel(r.Into, data, r.With)
	default:
		r.Kernel(r.Into, r.With, data)
	}
}

// expect fills in the messages of a step of the schedule.
func (a *actor) expect(s *gen.ProgramStep) {
	a.sends, a.recvs = a.sends[:0], a.recvs[:0]
	for _, in := range s.Sends {
		if data := a.bytes(in.Srcs[0]); len(data) > 0 || a.sendsNothing(in.Srcs[0]) {
			a.sends = append(a.sends, wire.Send{Peer: in.Peer, Data: data})
		}
	}
	for _, in := range s.Recvs {
		r := wire.Recv{Peer: in.Peer, Into: a.bytes(in.Dst), AfterSend: in.AfterSend >= 0, ReceivedFirst: in.ReceivedFirst,
			Lend: in.Lend}
		if in.Kind == gen.RecvReduceInstr {
			r.Kernel, r.With = a.x.Kernel, a.bytes(in.Srcs[0])
		}
		switch {
		case len(r.Into) > 0:
			a.recvs = append(a.recvs, r)
		case a.sendsNothing(in.Dst):
			a.recvs = append(a.recvs, wire.Recv{Peer: in.Peer})
		}
	}
}

// sendsNothing reports whether a message of a place is sent although it has no bytes: a signal, and a block of those
// whose lengths all ranks know.
func (a *actor) sendsNothing(p gen.Place) bool { return p.Buf == "" || a.call.k.SameCounts }

// bytes returns the memory of the code that a place of the schedule stands for.
func (a *actor) bytes(p gen.Place) []byte {
	from, to := a.memory.span(p)
	x := a.x
	switch p.Buf {
	case "in":
		return x.In.Data[8*from : 8*to]
	case "out":
		return x.Out.Data[8*from : 8*to]
	case "scratch":
		return x.Scratch.Data[8*from : 8*to]
	}
	return nil
}

func sameSend(a, b wire.Send) bool { return a.Peer == b.Peer && sameBytes(a.Data, b.Data) }

func sameRecv(a, b wire.Recv) bool {
	return a.Peer == b.Peer && sameBytes(a.Into, b.Into) && sameBytes(a.With, b.With) &&
		(a.Kernel == nil) == (b.Kernel == nil) &&
		a.ReceivedFirst == b.ReceivedFirst && a.AfterSend == b.AfterSend && a.Lend == b.Lend
}

// sameBytes reports whether a and b are the same memory.
func sameBytes(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || unsafe.SliceData(a) == unsafe.SliceData(b))
}

// mutatedAlgorithm is what is generated for an algorithm of the catalogue with a mistake in it.
type mutatedAlgorithm struct {
	of  string
	run func(context.Context, *exec.Call) error
}

// mutatedAlgorithms is filled in by a file that verify/mutate adds to this package while it runs TestMutatedAlgorithms.
var mutatedAlgorithms []mutatedAlgorithm

// TestMutatedAlgorithms prints for each the first difference between what it does and the schedules of the algorithm
// without the mistake, if there is one.
func TestMutatedAlgorithms(t *testing.T) {
	if len(mutatedAlgorithms) == 0 {
		t.Skip("go run ./verify/mutate runs it on mutated algorithms")
	}
	algorithms := map[string]gen.Algorithm{}
	for _, a := range catalogue.Algorithms() {
		algorithms[a.FullName()] = a
	}
	for i, m := range mutatedAlgorithms {
		a, ok := algorithms[m.of]
		if !ok {
			t.Fatalf("there is no %s", m.of)
		}
		u := generated(t, &a)
		code := *u.code
		code.Run = m.run
		u.code = &code
		fmt.Printf("mutant %d: %s\n", i, strings.Join(strings.Fields(firstFault(t, u)), " "))
	}
}
