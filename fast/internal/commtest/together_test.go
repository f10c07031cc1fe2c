package commtest

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/access"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
)

// TestEmptyMessagesTogether: calls that begin together and have no message are announced, so that a rank that waits for
// this one in a call with data learns in what they differ: both ranks do.
func TestEmptyMessagesTogether(t *testing.T) {
	for what, start := range map[string]func(ctx context.Context, c *fast.Comm) *fast.Handle{
		"send":    func(ctx context.Context, c *fast.Comm) *fast.Handle { return fast.StartSend(ctx, c, []int32{}, 1) },
		"receive": func(ctx context.Context, c *fast.Comm) *fast.Handle { return fast.StartRecv(ctx, c, []int32{}, 1) },
	} {
		for _, w := range worlds {
			t.Run(what+"/"+w.Name, func(t *testing.T) {
				all := w.Comms(t, 2)
				defer fasttest.CloseAll(t, all)
				ctx, cancel := context.WithTimeout(t.Context(), fasttest.Generous)
				defer cancel()
				errs := fasttest.OnAll(all, func(c *fast.Comm) error {
					if c.Rank() == 0 {
						var h *fast.Handle
						if err := c.Batch(func() error { h = start(ctx, c); return nil }); err != nil {
							return err
						}
						if err := h.Wait(ctx); err != nil {
							return err
						}
						return fast.Broadcast(ctx, c, make([]int32, 4), 1) // it waits, and sends nothing that would tell
					}
					if what == "send" {
						return fast.Recv(ctx, c, make([]int32, 4), 0)
					}
					return fast.Send(ctx, c, make([]int32, long), 0)
				})
				var m *fast.MismatchError
				if !errors.As(errors.Join(errs...), &m) || m.Field != "count" || errs[0] == nil || errs[1] == nil {
					t.Errorf("%v", errs)
				}
			})
		}
	}
}

// Sends and receives that were started are in flight together, which is in no schedule of the generator. Here ranks
// start some that are drawn, and then wait for them, several times. What is posted until all are waited for is written
// down as a step of a schedule, and package verify proves these: every message arrives where its receive was started,
// no two accesses race, and all ranks end, even if no channel has room for a message.

// notebook is a transport that writes down what a rank posts. In and out are the rank's memory, an element for each
// message.
type notebook struct {
	fasttest.Idle
	in, out []int64
	steps   [][]gen.Instr // the last one is going on
}

func (n *notebook) Post(sends []wire.Send, recvs []wire.Recv) error {
	var step []gen.Instr
	for _, s := range sends {
		place := chunksOf(spec.In, exec.Bytes(n.in), s.Data)
		step = append(step, gen.Instr{Kind: gen.SendInstr, Peer: s.Peer, Srcs: []gen.Place{place}, AfterSend: -1, Node: -1})
	}
	for _, r := range recvs {
		place := chunksOf(spec.Out, exec.Bytes(n.out), r.Into)
		step = append(step, gen.Instr{Kind: gen.RecvInstr, Peer: r.Peer, Dst: place, AfterSend: -1, Node: -1})
	}
	last := &n.steps[len(n.steps)-1]
	*last = append(*last, step...)
	return n.Idle.Post(sends, recvs)
}

// chunksOf returns where data lie in a buffer whose chunks are elements.
func chunksOf(name spec.Buf, buffer, data []byte) gen.Place {
	at := int(exec.Address(data)-exec.Address(buffer)) / 8
	return gen.Place{Buf: name, At: at, N: len(data) / 8}
}

// program returns what the steps are as a program, in which each waits for all of the one before.
func (n *notebook) program() gen.Program {
	p := gen.Program{In: len(n.in), Out: len(n.out)}
	var before []int
	for number, step := range n.steps {
		first := len(p.Instrs)
		for _, x := range step {
			x.Step, x.After = number, before
			p.Instrs = append(p.Instrs, x)
		}
		before = nil
		for i := first; i < len(p.Instrs); i++ {
			before = append(before, i)
		}
	}
	return p
}

// talk is messages between ranks in some order.
type talk struct {
	size     int
	messages [][2]int // sender and receiver
	post     []spec.Clause
	books    []*notebook
}

// drawTalk draws messages, and has the ranks start them.
func drawTalk(t *testing.T, r *rand.Rand) *talk {
	x := &talk{size: 2 + r.IntN(4)}
	for range 1 + r.IntN(12) {
		from := r.IntN(x.size)
		x.messages = append(x.messages, [2]int{from, (from + 1 + r.IntN(x.size-1)) % x.size})
	}
	// by sender and receiver: the blocks of the messages, in the order in which they are started
	sources := map[[2]int][]int{}
	targets := map[[2]int][]int{}
	for rank := range x.size {
		x.books = append(x.books, x.start(t, r, rank, sources, targets))
	}
	for pair, from := range sources {
		for k, into := range targets[pair] { // the k-th receive gets the k-th message
			x.post = append(x.post, spec.Clause{Buf: spec.Out, Where: spec.And(spec.Eq(spec.Rank, spec.Int(pair[1])),
				spec.Eq(spec.Block, spec.Int(into))),
				Value: spec.Value{Kind: spec.Input, Rank: spec.Int(pair[0]), Block: spec.Int(from[k])}})
		}
	}
	return x
}

// start has a rank start its part of the messages, some at once and in any order, and then wait for them.
func (x *talk) start(t *testing.T, r *rand.Rand, rank int, sources, targets map[[2]int][]int) *notebook {
	n := &notebook{in: make([]int64, len(x.messages)), out: make([]int64, len(x.messages))}
	c := access.Fast.CommOver(rank, x.size, n).(*fast.Comm)
	var mine []int
	for i, m := range x.messages {
		switch rank {
		case m[0], m[1]:
			mine = append(mine, i)
		}
	}
	for len(mine) > 0 {
		some := slices.Clone(mine[:1+r.IntN(len(mine))])
		mine = mine[len(some):]
		r.Shuffle(len(some), func(i, k int) { some[i], some[k] = some[k], some[i] })
		for _, i := range some {
			if m := x.messages[i]; m[0] == rank {
				sources[m] = append(sources[m], i)
			} else {
				targets[m] = append(targets[m], i)
			}
		}
		n.steps = append(n.steps, nil)
		for _, h := range x.startAll(t.Context(), c, n, some, r.IntN(2) == 0) {
			if err := h.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}

// startAll starts these messages; in pairs has a send and the receive behind it started by StartSendRecv.
func (x *talk) startAll(ctx context.Context, c *fast.Comm, n *notebook, some []int,
	inPairs bool) (started []*fast.Handle) {
	isSend := func(i int) bool { return x.messages[i][0] == c.Rank() }
	for len(some) > 0 {
		i := some[0]
		in, out, m := n.in[i:i+1], n.out[i:i+1], x.messages[i]
		some = some[1:]
		switch {
		case !isSend(i):
			started = append(started, fast.StartRecv(ctx, c, out, m[0]))
		case inPairs && len(some) > 0 && !isSend(some[0]):
			k := some[0]
			started = append(started, fast.StartSendRecv(ctx, c, in, m[1], n.out[k:k+1], x.messages[k][0]))
			some = some[1:]
		default:
			started = append(started, fast.StartSend(ctx, c, in, m[1]))
		}
	}
	return started
}

// schedule returns what the ranks exchanged, each after it was changed, and what is promised of it.
func (x *talk) schedule(change func([][]gen.Instr) [][]gen.Instr) *gen.Schedule {
	blocks := spec.Buffer{Blocks: spec.Int(len(x.messages))}
	s := &gen.Schedule{Algorithm: "started", Chunks: 1, Params: gen.Params{Size: x.size, Depth: 1},
		Primitive: spec.Primitive{
			Name: "Started", Doc: "Messages that were started.", In: blocks, Out: blocks, Post: x.post,
			Pre: []spec.Clause{{Buf: spec.In, Value: spec.Value{Kind: spec.Input, Rank: spec.Rank, Block: spec.Block}}},
		}}
	for _, n := range x.books {
		changed := *n
		if change != nil {
			changed.steps = change(n.steps)
		}
		s.Ranks = append(s.Ranks, changed.program())
	}
	return s
}

// inTurn makes messages of a step steps of their own, first those that come first.
func inTurn(steps [][]gen.Instr) (apart [][]gen.Instr) {
	for _, step := range steps {
		for _, x := range step {
			apart = append(apart, []gen.Instr{x})
		}
	}
	return apart
}

// backwards exchanges the order of the messages of a step.
func backwards(of gen.Kind) func(steps [][]gen.Instr) [][]gen.Instr {
	return func(steps [][]gen.Instr) (changed [][]gen.Instr) {
		for _, step := range steps {
			step = slices.Clone(step)
			slices.SortStableFunc(step, func(x, y gen.Instr) int { return int(x.Kind) - int(y.Kind) })
			from := slices.IndexFunc(step, func(x gen.Instr) bool { return x.Kind == of })
			if from >= 0 {
				to := from
				for to < len(step) && step[to].Kind == of {
					to++
				}
				slices.Reverse(step[from:to])
			}
			changed = append(changed, step)
		}
		return changed
	}
}

// TestTogetherIsProved: what is merged is proved. If the messages of one Exchange were in flight one by one, or their
// order changed, it would not be.
func TestTogetherIsProved(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	refused := map[verify.Check]int{}
	merged := 0
	for range 300 {
		x := drawTalk(t, r)
		report, err := verify.Schedule(x.schedule(nil), false)
		if err != nil || report.Capacity != 0 || report.Messages != len(x.messages) {
			t.Fatalf("seed %d: %d ranks, messages %v: %+v, %v", seed, x.size, x.messages, report, err)
		}
		for _, n := range x.books {
			merged += len(inTurn(n.steps)) - len(n.steps)
		}
		for _, change := range []func([][]gen.Instr) [][]gen.Instr{inTurn, backwards(gen.SendInstr),
			backwards(gen.RecvInstr)} {
			report, err := verify.Schedule(x.schedule(change), false)
			var f *verify.Failure
			switch {
			case errors.As(err, &f):
				refused[f.Check]++
			case err != nil:
				t.Fatal(err)
			case report.Capacity > 0:
				refused["capacity"]++
			}
		}
	}
	if merged == 0 || refused[verify.Postcondition] == 0 || refused["capacity"]+refused[verify.Deadlock] == 0 {
		t.Errorf("seed %d: %d messages more than steps, refused: %v", seed, merged, refused)
	}
	t.Logf("%d messages were merged into the steps of others; refused: %v", merged, refused)
}
