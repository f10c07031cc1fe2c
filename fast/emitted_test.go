package fast

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
	"github.com/google/go-cmp/cmp"
)

// The emitted code is the schedule: every generated function runs here on elements that are symbols, over a transport
// that records what it is asked to do. What it asks for has to be what the proved schedule says, step by step, and the
// expression trees that it leaves in memory have to be the schedule's.

// generated is the function of an algorithm of the catalogue.
func generated(t *testing.T, a *gen.Algorithm) *Algorithm {
	t.Helper()
	for _, k := range collectives {
		for i := range k.Algorithms {
			if k.Name == a.Primitive.Name && k.Algorithms[i].Name == a.Name {
				return &k.Algorithms[i]
			}
		}
	}
	t.Fatalf("%s is in the catalogue, and nothing is generated for it", a.FullName())
	return nil
}

// symbols makes elements: equal expressions are equal numbers. All numbers that it makes are multiples of size, so that
// the one division by size that finishes an average turns a reduction into something else, and tells it apart from all
// that are not finished, or finished twice.
type symbols struct {
	size  uint64
	mu    sync.Mutex
	trees map[[2]uint64]uint64
	next  uint64
}

func newSymbols(size int) *symbols {
	return &symbols{size: uint64(size), trees: map[[2]uint64]uint64{}, next: 1 << 40}
}

func (s *symbols) leaf() uint64 {
	s.next++
	return s.next * s.size
}

func (s *symbols) combine(a, b uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	tree, ok := s.trees[[2]uint64{a, b}]
	if !ok {
		tree = s.leaf()
		s.trees[[2]uint64{a, b}] = tree
	}
	return tree
}

func (s *symbols) kernel(dst, a, b []byte) {
	d, x, y := uint64s(dst), uint64s(a), uint64s(b)
	for i := range d {
		d[i] = s.combine(x[i], y[i])
	}
}

func uint64s(b []byte) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
}

// mailboxes carries messages between the ranks of a test, with room for all of them.
type mailboxes struct {
	mu   sync.Mutex
	full *sync.Cond
	box  map[[2]int][][]byte // by sender and receiver
}

func newMailboxes() *mailboxes {
	m := &mailboxes{box: map[[2]int][][]byte{}}
	m.full = sync.NewCond(&m.mu)
	return m
}

func (m *mailboxes) put(from, to int, data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.box[[2]int{from, to}] = append(m.box[[2]int{from, to}], slices.Clone(data))
	m.full.Broadcast()
}

func (m *mailboxes) take(from, to int) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := [2]int{from, to}
	for len(m.box[key]) == 0 {
		m.full.Wait()
	}
	data := m.box[key][0]
	m.box[key] = m.box[key][1:]
	return data
}

// tracer is a rank's transport that compares each step with what the schedule says.
type tracer struct {
	rank  int
	mail  *mailboxes
	steps []step // still to come
	bad   []string
	call  *Call
}

// step is the communication of one step of a schedule.
type step struct{ sends, recvs []gen.Instr }

func (t *tracer) Begin(wire.Mark) {}
func (t *tracer) Waiting() []int  { return nil }
func (t *tracer) Fail(error)      {}
func (t *tracer) Close() error    { return nil }
func (t *tracer) Release()        {}

func (t *tracer) Exchange(_ context.Context, sends []wire.Send, recvs []wire.Recv) error {
	if wantSends, wantRecvs := t.expected(); !slices.EqualFunc(sends, wantSends, sameSend) || !slices.EqualFunc(recvs, wantRecvs, sameRecv) {
		t.bad = append(t.bad, cmp.Diff(eventLines(wantSends, wantRecvs), eventLines(sends, recvs)))
	}
	for _, s := range sends {
		t.mail.put(t.rank, s.Peer, s.Data)
	}
	for i, r := range recvs {
		got := t.mail.take(r.Peer, t.rank)
		if len(got) != len(r.Into) {
			return fmt.Errorf("%d bytes for %d", len(got), len(r.Into))
		}
		switch {
		case r.Lend:
			recvs[i].Into = got
		case r.Kernel == nil:
			copy(r.Into, got)
		case r.ReceivedFirst:
			r.Kernel(r.Into, got, r.With)
		default:
			r.Kernel(r.Into, r.With, got)
		}
	}
	return nil
}

// expected is the next step of the schedule, in the addresses of this call, without messages that have no bytes.
func (t *tracer) expected() (sends []wire.Send, recvs []wire.Recv) {
	for len(t.steps) > 0 {
		s := t.steps[0]
		t.steps = t.steps[1:]
		for _, in := range s.sends {
			data := t.bytes(in.Srcs[0])
			if len(data) > 0 || in.Srcs[0].Buf == "" {
				sends = append(sends, wire.Send{Peer: in.Peer, Data: data})
			}
		}
		for _, in := range s.recvs {
			r := wire.Recv{Peer: in.Peer, Into: t.bytes(in.Dst), AfterSend: in.AfterSend >= 0, ReceivedFirst: in.ReceivedFirst, Lend: in.Lend}
			if in.Kind == gen.RecvReduceInstr {
				r.Kernel, r.With = t.call.kernel, t.bytes(in.Srcs[0])
			}
			if len(r.Into) > 0 || in.Dst.Buf == "" {
				recvs = append(recvs, r)
			}
		}
		if len(sends)+len(recvs) > 0 {
			break
		}
	}
	return sends, recvs
}

func sameSend(a, b wire.Send) bool { return a.Peer == b.Peer && sameBytes(a.Data, b.Data) }

func sameRecv(a, b wire.Recv) bool {
	return a.Peer == b.Peer && sameBytes(a.Into, b.Into) && sameBytes(a.With, b.With) && (a.Kernel == nil) == (b.Kernel == nil) &&
		a.ReceivedFirst == b.ReceivedFirst && a.AfterSend == b.AfterSend && a.Lend == b.Lend
}

// sameBytes tells whether a and b are the same memory.
func sameBytes(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || unsafe.SliceData(a) == unsafe.SliceData(b))
}

// bytes is the memory of a place of the schedule.
func (t *tracer) bytes(p gen.Place) []byte {
	var buffer *Buffer
	switch p.Buf {
	case spec.In:
		buffer = &t.call.In
	case spec.Out:
		buffer = &t.call.Out
	case spec.Scratch:
		buffer = &t.call.Scratch
	default:
		return nil
	}
	count, chunks := t.call.count, buffer.chunks
	first := func(chunk int) int { // the first element of a chunk of In or Out
		return chunk/chunks*count + chunk%chunks*(count/chunks) + min(chunk%chunks, count%chunks)
	}
	from, to := first(p.At), first(p.At+p.N)
	if p.Buf == spec.Scratch {
		slot := (count + chunks - 1) / chunks
		from, to = p.At*slot, (p.At+p.N)*slot
		if p.N == 1 {
			to = from + first(p.Like+1) - first(p.Like)
		}
	}
	return buffer.data[8*from : 8*to]
}

// eventLines says what a step does, each event a line. Messages to one rank, and from one rank, keep their order.
func eventLines(sends []wire.Send, recvs []wire.Recv) []string {
	var lines []string
	for _, s := range sends {
		lines = append(lines, fmt.Sprintf("to %d: %s", s.Peer, elements(s.Data)))
	}
	for _, r := range recvs {
		line := fmt.Sprintf("from %d: %s", r.Peer, elements(r.Into))
		if r.Kernel != nil {
			line += fmt.Sprintf(", reduced with %s, received first: %v", elements(r.With), r.ReceivedFirst)
		}
		lines = append(lines, fmt.Sprintf("%s, after send: %v, lent: %v", line, r.AfterSend, r.Lend))
	}
	return lines
}

func elements(b []byte) string {
	if len(b) == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%d elements at %p", len(b)/8, unsafe.SliceData(b))
}

// emittedCall is one call of a generated function and of its schedule.
type emittedCall struct {
	a       *gen.Algorithm
	run     func(context.Context, *Call) error
	s       *gen.Schedule
	expect  *spec.Expectation
	count   int
	inPlace bool
}

func newEmittedCall(t *testing.T, a *gen.Algorithm, run func(context.Context, *Call) error, p gen.Params, count int, inPlace bool) *emittedCall {
	t.Helper()
	s, err := gen.Instantiate(a, p)
	if err != nil {
		t.Fatal(err)
	}
	expect, err := spec.Expect(a.Primitive, spec.Call{Size: p.Size, Root: p.Root, Peer: p.Peer})
	if err != nil {
		t.Fatal(err)
	}
	return &emittedCall{a, run, s, expect, count, inPlace}
}

// buffers makes every rank's In and Out, filled with symbols, twice the same: one for the code and one for the schedule.
func (e *emittedCall) buffers(syms *symbols) (in, out, in2, out2 [][]uint64) {
	fill := func(n int) []uint64 {
		b := make([]uint64, n)
		for i := range b {
			b[i] = syms.leaf()
		}
		return b
	}
	for r := range e.s.Ranks {
		x := e.expect.Ranks[r]
		i, o := fill(len(x.In)*e.count), fill(len(x.Out)*e.count)
		i2, o2 := slices.Clone(i), slices.Clone(o)
		if e.inPlace && x.InBlock >= 0 {
			i, o = shared(i, o, x.InBlock*e.count, x.OutBlock*e.count)
			i2, o2 = shared(i2, o2, x.InBlock*e.count, x.OutBlock*e.count)
		}
		in, out, in2, out2 = append(in, i), append(out, o), append(in2, i2), append(out2, o2)
	}
	return in, out, in2, out2
}

// shared puts in and out into one memory, where in's element a is out's element b. It has in's values where both lie.
func shared(in, out []uint64, a, b int) ([]uint64, []uint64) {
	memory := make([]uint64, max(len(in)+max(b-a, 0), len(out)+max(a-b, 0)))
	sharedIn, sharedOut := memory[max(b-a, 0):][:len(in):len(in)], memory[max(a-b, 0):][:len(out):len(out)]
	copy(sharedOut, out)
	copy(sharedIn, in)
	return sharedIn, sharedOut
}

// steps are the communicating steps of a rank.
func (e *emittedCall) steps(rank int) []step {
	var steps []step
	for _, in := range e.s.Ranks[rank].Instrs {
		for len(steps) <= in.Step {
			steps = append(steps, step{})
		}
		s := &steps[in.Step]
		switch in.Kind {
		case gen.SendInstr:
			s.sends = append(s.sends, in)
		case gen.RecvInstr, gen.RecvReduceInstr:
			s.recvs = append(s.recvs, in)
		}
	}
	return steps
}

// compare runs the code on all ranks, plays the schedule, and says what differs, at most once per rank.
func (e *emittedCall) compare() []string {
	syms, mail := newSymbols(e.s.Size), newMailboxes()
	in, out, in2, out2 := e.buffers(syms)
	wrong := make([]string, e.s.Size)
	var ranks sync.WaitGroup
	for r := range e.s.Ranks {
		if !e.takesPart(r) {
			continue
		}
		ranks.Go(func() { wrong[r] = e.runRank(r, mail, syms, in[r], out[r]) })
	}
	ranks.Wait()
	arith := verify.Arith[uint64]{Combine: syms.combine, Finish: func(x uint64) uint64 { return x }}
	if takesOp(e.a) {
		arith.Finish = func(x uint64) uint64 { return x / syms.size }
	}
	if err := verify.Play(e.s, e.count, in2, out2, arith); err != nil {
		return []string{err.Error()}
	}
	for r := range wrong {
		if wrong[r] == "" && !(slices.Equal(in[r], in2[r]) && slices.Equal(out[r], out2[r])) {
			wrong[r] = "the same messages, but other expressions in memory"
		}
		if wrong[r] != "" {
			wrong[r] = fmt.Sprintf("rank %d: %s", r, wrong[r])
		}
	}
	return slices.DeleteFunc(wrong, func(s string) bool { return s == "" })
}

func takesOp(a *gen.Algorithm) bool { return slices.Contains(a.Primitive.Params, spec.ParamOp) }

// runRank runs the code as rank r.
func (e *emittedCall) runRank(r int, mail *mailboxes, syms *symbols, in, out []uint64) string {
	t := &tracer{rank: r, mail: mail, steps: e.steps(r)}
	c := newComm(r, e.s.Size, t)
	t.call = &c.call
	run := func(ctx context.Context, x *Call) error {
		if x.kernel != nil {
			x.kernel, x.many = syms.kernel, nil
		}
		err := e.run(ctx, x)
		if sends, recvs := t.expected(); len(sends)+len(recvs) > 0 { // here, where the call still has its buffers
			t.bad = append(t.bad, "it ends before:\n"+strings.Join(eventLines(sends, recvs), "\n"))
		}
		return err
	}
	k := &Collective{
		Name: e.a.Primitive.Name, Reduces: takesOp(e.a),
		Algorithms: []Algorithm{{Name: e.a.Name, Run: run}}, Rules: []Rule{{Algorithm: e.a.Name}},
	}
	args := Args{Count: e.count, Op: Avg, Root: e.s.Root, Peer: e.s.Peer}
	args.AliasIn, args.AliasOut = e.expect.Ranks[r].InBlock*e.count, e.expect.Ranks[r].OutBlock*e.count
	if err := Do(context.Background(), c, k, out, in, &args, []Option{WithDepth(e.s.Depth)}); err != nil {
		return err.Error()
	}
	return strings.Join(t.bad, "\n")
}

// takesPart tells whether rank makes the call: of a point-to-point primitive, only its two ranks do.
func (e *emittedCall) takesPart(rank int) bool {
	return !slices.Contains(e.a.Primitive.Params, spec.ParamPeer) || rank == e.s.Root || rank == e.s.Peer
}

// emittedSizes are the sizes that the code runs at: all small ones, and large ones about the powers of two.
func emittedSizes() []int {
	if testing.Short() {
		return []int{1, 2, 3, 4, 5, 6, 7, 8}
	}
	return []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 31, 32, 33, 63, 64}
}

// calls goes through the calls of an algorithm at one size: roots, receivers, depths, counts that cut into uneven chunks,
// in place and not. Above 9 ranks it takes a few of each.
func calls(a *gen.Algorithm, size int, each func(p gen.Params, count int, inPlace bool)) {
	ranks := few(size)
	for _, p := range a.Calls(size, 1, 3) {
		if !slices.Contains(ranks, p.Root) || !slices.Contains(ranks, p.Peer) {
			continue
		}
		for _, count := range counts(size, p.Depth) {
			if p.Depth > max(count, 1) { // the runtime takes a smaller depth then
				continue
			}
			each(p, count, false)
			if !a.Primitive.InPlace.InBlock.IsAbsent() && !a.Requires.OutOfPlace {
				each(p, count, true)
			}
		}
	}
}

// counts are lengths of a block: none, fewer than there are chunks, and uneven ones.
func counts(size, depth int) []int {
	if size > 9 {
		return []int{size - 1, 2*size*depth + 3}
	}
	return []int{0, 1, size - 1, size + 1, 2*size*depth + 3}
}

// few are all ranks of a small communicator, and some of a large one.
func few(size int) []int {
	if size > 9 {
		return []int{0, 1, size / 2, size - 1}
	}
	all := make([]int, size)
	for i := range all {
		all[i] = i
	}
	return all
}

func TestEmittedCodeIsTheSchedule(t *testing.T) {
	for _, a := range gen.Catalogue() {
		t.Run(a.FullName(), func(t *testing.T) {
			t.Parallel()
			code := generated(t, &a)
			for _, size := range emittedSizes() {
				if !a.Serves(size) {
					continue
				}
				calls(&a, size, func(p gen.Params, count int, inPlace bool) {
					if wrong := newEmittedCall(t, &a, code.Run, p, count, inPlace).compare(); len(wrong) > 0 {
						t.Fatalf("%+v, count %d, in place %v:\n%s", p, count, inPlace, strings.Join(wrong, "\n"))
					}
				})
			}
		})
	}
}

// TestEmittedCodeIsNotTheSchedule plants errors in hand-written code; each has to be seen.
func TestEmittedCodeIsNotTheSchedule(t *testing.T) {
	a := gen.AllReduceRing
	ring := generated(t, &a).Run
	plants := map[string]func(context.Context, *Call) error{
		"a chunk too many": func(ctx context.Context, x *Call) error {
			return ringAllReduce(ctx, x, ringBug{chunks: 1})
		},
		"the chunk before": func(ctx context.Context, x *Call) error {
			return ringAllReduce(ctx, x, ringBug{chunk: 1})
		},
		"operands swapped": func(ctx context.Context, x *Call) error {
			return ringAllReduce(ctx, x, ringBug{swapped: true})
		},
		"not finished": func(ctx context.Context, x *Call) error {
			return ringAllReduce(ctx, x, ringBug{unfinished: true})
		},
		"finished twice": func(ctx context.Context, x *Call) error {
			if err := ring(ctx, x); err != nil {
				return err
			}
			x.Finish(x.Out.Chunk(0))
			return nil
		},
		"nothing done": func(_ context.Context, x *Call) error { return x.Layout(x.Size, 0) },
		"input written": func(ctx context.Context, x *Call) error {
			if err := ring(ctx, x); err != nil {
				return err
			}
			clear(x.In.data)
			return nil
		},
	}
	three := gen.Params{Size: 3, Depth: 1}
	for name, run := range plants {
		if wrong := newEmittedCall(t, &a, run, three, 7, false).compare(); len(wrong) == 0 {
			t.Errorf("%s: not seen", name)
		}
	}
	for _, run := range []func(context.Context, *Call) error{
		ring, func(ctx context.Context, x *Call) error { return ringAllReduce(ctx, x, ringBug{}) },
	} {
		if wrong := newEmittedCall(t, &a, run, three, 7, false).compare(); len(wrong) > 0 {
			t.Errorf("without a bug:\n%s", strings.Join(wrong, "\n"))
		}
	}
}

// ringBug is an error in ringAllReduce; the zero ringBug is none.
type ringBug struct {
	chunks, chunk       int
	swapped, unfinished bool
}

// ringAllReduce is the ring all-reduce of three ranks, by hand.
func ringAllReduce(ctx context.Context, x *Call, bug ringBug) error {
	if err := x.Layout(x.Size+bug.chunks, 0); err != nil {
		return err
	}
	next, prev := (x.Rank+1)%x.Size, (x.Rank+x.Size-1)%x.Size
	for s := range 2 * (x.Size - 1) {
		c := (x.Rank + 2*x.Size - s + bug.chunk) % x.Size
		d := (c + x.Size - 1) % x.Size
		from := &x.Out
		if s == 0 {
			from = &x.In
		}
		x.Send(next, from.Chunk(c))
		if s < x.Size-1 {
			x.RecvReduce(prev, x.Out.Chunk(d), x.In.Chunk(d), bug.swapped)
		} else {
			x.Recv(prev, x.Out.Chunk(d))
		}
		if err := x.Exchange(ctx); err != nil {
			return err
		}
		if s == x.Size-2 && !bug.unfinished {
			x.Finish(x.Out.Chunk(d))
		}
	}
	return nil
}
