package monitor

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/health"
	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/wire"
)

// sent is a message on its way.
type sent struct {
	from, to int
	kind     uint8
	body     []byte
}

// net is the control plane of some ranks. It delivers messages when it is told to.
type net struct {
	all  []*Monitor
	sent []sent
}

// plug is what one rank sees of it.
type plug struct {
	net  *net
	rank int
	at   health.Rank
}

func (p *plug) Send(to int, kind uint8, body []byte) {
	p.net.sent = append(p.net.sent, sent{p.rank, to, kind, slices.Clone(body)})
}
func (p *plug) Position() health.Rank { return p.at }

// newNet returns so many ranks.
func newNet(size int) *net {
	n := new(net)
	for rank := range size {
		n.all = append(n.all, New(rank, size, &plug{n, rank, health.Rank{State: "Healthy"}}))
	}
	return n
}

// deliver delivers the messages that pass, in order, and drops the others.
func (n *net) deliver(pass func(s *sent) bool) {
	for len(n.sent) > 0 {
		s := n.sent[0]
		n.sent = n.sent[1:]
		if pass != nil && !pass(&s) {
			continue
		}
		if s.kind == control.KindHealth {
			n.all[s.to].HandleHealth(s.from, s.body)
		} else {
			n.all[s.to].HandleBarrier(s.from, s.body)
		}
	}
}

// call has a rank come to its next barrier, and returns what gets its error.
func (n *net) call(ctx context.Context, rank int) chan error {
	got := make(chan error, 1)
	go func() {
		_, err := n.all[rank].Barrier(ctx, "", nil)
		got <- err
	}()
	synctest.Wait()
	return got
}

// TestBarrierNumbers: a rank that has called twice is in its first barrier for those that have called once, and one
// that comes late to barriers in which others have failed gets their errors, one by one.
func TestBarrierNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(3)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		short, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		first := n.call(short, 0)
		time.Sleep(2 * time.Second)
		var late *wire.TimeoutError
		if err := <-first; !errors.As(err, &late) || !slices.Equal(late.Waiting, []int{1, 2}) {
			t.Errorf("rank 0: %v", err)
		}
		if err := <-n.call(ctx, 0); !errors.As(err, &late) || !late.Timeout() && !errors.Is(err, context.Canceled) {
			t.Errorf("rank 0 again: %v", err)
		}
		again := n.call(t.Context(), 0)
		n.deliver(nil)
		for rank := 1; rank < 3; rank++ {
			for number := range 2 {
				var peer *wire.PeerError
				err := <-n.call(t.Context(), rank)
				if !errors.As(err, &peer) || peer.Rank != 0 || !errors.As(err, &late) ||
					!slices.Equal(late.Waiting, []int{1, 2}[rank-1:]) {
					t.Errorf("rank %d, barrier %d: %v", rank, number+1, err)
				}
				synctest.Wait()
				n.deliver(nil)
			}
		}
		one, two := n.call(t.Context(), 1), n.call(t.Context(), 2)
		if len(again)+len(one)+len(two) != 0 {
			t.Error("one of them passes before it can have heard of all")
		}
		n.deliver(nil)
		if err := errors.Join(<-again, <-one, <-two); err != nil {
			t.Error(err)
		}
		for rank := range n.all {
			if c := n.all[rank].come[rank]; c.Begun != 3 || c.Passed != 3 {
				t.Errorf("rank %d: %+v", rank, c)
			}
		}
	})
}

// TestBarrierFailureIsTold: when the context of one rank ends, those that wait fail with it, and learn how it has
// ended.
func TestBarrierFailureIsTold(t *testing.T) {
	for _, why := range []error{context.Canceled, context.DeadlineExceeded} {
		synctest.Test(t, func(t *testing.T) {
			n := newNet(3)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			first, second := n.call(ctx, 0), n.call(t.Context(), 1)
			if why == context.Canceled {
				cancel()
			}
			own := <-first
			cancel()
			n.deliver(nil)
			var peer *wire.PeerError
			var late *wire.TimeoutError
			if err := <-second; !errors.As(err, &peer) || peer.Rank != 0 || !errors.Is(err, why) ||
				!errors.As(err, &late) || !slices.Equal(late.Waiting, []int{2}) || !errors.Is(own, why) {
				t.Errorf("%v, and there %v", err, own)
			}
		})
	}
}

// TestBarrierPassed: the failure of a rank in a later barrier does not concern one that waits in an earlier one, which
// all have passed or will pass.
func TestBarrierPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(3)
		held := []sent{}
		calls := []chan error{n.call(t.Context(), 0), n.call(t.Context(), 1), n.call(t.Context(), 2)}
		n.deliver(func(s *sent) bool { // rank 2 does not hear of rank 1 yet
			if s.from == 1 && s.to == 2 {
				held = append(held, *s)
				return false
			}
			return true
		})
		if err := errors.Join(<-calls[0], <-calls[1]); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		later := n.call(ctx, 0)
		cancel()
		if err := <-later; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		n.deliver(nil)
		synctest.Wait()
		if len(calls[2]) > 0 {
			t.Errorf("rank 2: %v", <-calls[2])
		}
		n.sent = held
		n.deliver(nil)
		if err := <-calls[2]; err != nil {
			t.Errorf("rank 2: %v", err)
		}
	})
}

// TestBarrierMissed: a rank that comes to a barrier in which others have failed by a label, and that they have left,
// fails.
func TestBarrierMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(3)
		n.all[1].makeRoom()
		n.all[1].come[0] = coming{Begun: 2}
		n.all[1].come[2] = coming{Begun: 2}
		if err := <-n.call(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "has failed in it") {
			t.Error(err)
		}
	})
}

// TestBarrierLies: a rank that says anything about itself changes nothing about the others.
func TestBarrierLies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(4)
		ctx, cancel := context.WithCancel(t.Context())
		got := n.call(ctx, 0)
		n.all[0].HandleBarrier(3, (&coming{Begun: math.MaxUint64, Passed: math.MaxUint64}).encode())
		n.all[0].HandleBarrier(3, (&coming{Begun: 1}).encode()) // it cannot go back
		n.all[0].HandleBarrier(0, (&coming{Begun: 9}).encode())
		if c := n.all[0].come; c[0].Begun != 1 || c[3].Begun != math.MaxUint64 {
			t.Errorf("ranks have come to %+v", c)
		}
		n.all[0].HandleBarrier(2, []byte("garbage"))
		n.all[0].HandleBarrier(2, (&coming{Begun: 1, Passed: 2}).encode())
		n.all[0].HandleBarrier(2, (&coming{Begun: 1, label: "\x1b[2J"}).encode())
		synctest.Wait()
		cancel()
		var late *wire.TimeoutError
		if err := <-got; !errors.As(err, &late) || !slices.Equal(late.Waiting, []int{1, 2}) {
			t.Error(err)
		}
	})
}

// TestAsk: answers count from those who were asked, once, and to the question that was asked; who is gone is not waited
// for, nor is anyone after Leave.
func TestAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(5)
		result := make(chan map[int]health.Rank, 1)
		ask := func(ctx context.Context, stacks bool) {
			go func() { result <- n.all[0].Ask(ctx, []int{0, 1, 2, 3}, stacks) }()
			synctest.Wait()
		}
		ask(t.Context(), false)
		say := func(round uint32, from int, error string) {
			n.all[0].HandleHealth(from, encodeAnswer(round, &health.Rank{Rank: 2, State: "Failed", Process: "gone",
				Error: error}, "stacks\x1b"))
		}
		say(7, 1, "another question")
		say(1, 4, "was not asked")
		say(1, 0, "myself")
		say(1, 1, "first")
		say(1, 1, "second")
		n.all[0].Gone(3, wire.ErrDied)
		synctest.Wait()
		if len(result) > 0 {
			t.Error("it ends before rank 2 has answered")
		}
		n.deliver(nil)
		got := <-result
		want := map[int]health.Rank{1: {Rank: 1, Answered: true, State: "Failed", Error: "first"},
			2: {Rank: 2, Answered: true, State: "Healthy"}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v", got)
		}
		ask(t.Context(), true)
		say(2, 1, "")
		n.all[0].Gone(2, wire.ErrClosed)
		if got := <-result; len(got) != 1 || got[1].Stacks != "stacks?" {
			t.Errorf("got %+v", got)
		}
		ask(t.Context(), false)
		n.all[0].Leave()
		n.all[0].Leave()
		if got := <-result; len(got) != 0 || len(n.all[0].open) != 0 {
			t.Errorf("got %+v, open are %v", got, n.all[0].open)
		}
	})
}

// TestLongAnswer: the longest answer fits into a control message, and is taken.
func TestLongAnswer(t *testing.T) {
	m := New(0, 2, nil)
	r := health.Rank{State: "Failed", Error: strings.Repeat("ä", health.MaxText)}
	for range 2 * health.MaxCalls {
		c := health.Call{Comm: strings.Repeat("<", 5000), Op: "AllReduce", Label: strings.Repeat(`"`, 5000), Peer: -1}
		for range 2 * health.MaxWaiting {
			c.Waiting = append(c.Waiting, 1<<20-1)
		}
		r.Running = append(r.Running, c)
	}
	m.comm = &plug{at: r}
	if _, _, ok := decodeAnswer(m.answer(&question{5, true}), 1, 2); !ok {
		t.Error("it is refused")
	}
	cut(&r)
	body := encodeAnswer(5, &r, strings.Repeat("s", health.MaxStacks))
	if len(body) > wire.MaxNote {
		t.Errorf("it has %d bytes", len(body))
	}
	round, got, ok := decodeAnswer(body, 1, 2)
	if !ok || round != 5 || len(got.Running) != health.MaxCalls || len(got.Running[0].Waiting) != health.MaxWaiting ||
		!strings.HasPrefix(got.Stacks, "sss") {
		t.Errorf("%v, %d, %+v", ok, round, got)
	}
}

// TestNoStacksUnasked: an answer has stacks only if the question asks for them.
func TestNoStacksUnasked(t *testing.T) {
	m := New(0, 2, &plug{at: health.Rank{State: "Healthy"}})
	for _, stacks := range []bool{false, true} {
		if _, r, ok := decodeAnswer(m.answer(&question{1, stacks}), 1, 2); !ok || (r.Stacks != "") != stacks {
			t.Errorf("asked for stacks: %v, got %+v", stacks, r)
		}
	}
}

// TestAnswerRefused: what no rank answers is refused, whatever else is right.
func TestAnswerRefused(t *testing.T) {
	good := func() *health.Rank {
		call := health.Call{Comm: "world", Op: "Send", Label: "x", Peer: 1, Waiting: []int{1}}
		last := call
		return &health.Rank{State: "Failed", Error: "rank died", Running: []health.Call{call}, Last: &last}
	}
	if _, _, ok := decodeAnswer(encodeAnswer(1, good(), ""), 1, 2); !ok {
		t.Fatal("a good one is refused")
	}
	for i, spoil := range []func(r *health.Rank){
		func(r *health.Rank) { r.State = "Closed" },
		func(r *health.Rank) { r.State = "" },
		func(r *health.Rank) { r.Error = "\x1b[2J" },
		func(r *health.Rank) { r.Error = strings.Repeat("e", health.MaxText+1) },
		func(r *health.Rank) { r.Running = make([]health.Call, health.MaxCalls+1) },
		func(r *health.Rank) { r.Running[0].Op = "" },
		func(r *health.Rank) { r.Running[0].Op = "a\nb" },
		func(r *health.Rank) { r.Running[0].Comm = "\x1b[2J" },
		func(r *health.Rank) { r.Running[0].Comm = strings.Repeat("c", maxName+1) },
		func(r *health.Rank) { r.Running[0].Label = "\x7f" },
		func(r *health.Rank) { r.Running[0].Peer = -2 },
		func(r *health.Rank) { r.Running[0].Begun = -1 },
		func(r *health.Rank) { r.Running[0].Waiting[0] = -1 },
		func(r *health.Rank) { r.Running[0].Waiting = make([]int, health.MaxWaiting+1) },
		func(r *health.Rank) { r.Last.Op = "" },
	} {
		r := good()
		spoil(r)
		if _, got, ok := decodeAnswer(encodeAnswer(1, r, ""), 1, 2); ok {
			t.Errorf("answer %d is taken: %+v", i, got)
		}
	}
	if _, _, ok := decodeAnswer(encodeAnswer(1, good(), strings.Repeat("s", health.MaxStacks+1)), 1, 2); ok {
		t.Error("longer stacks are taken")
	}
}

// TestStacksOnce: those who ask at about the same time get the same stacks, because nothing runs while they are taken.
func TestStacksOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, again := Stacks(), Stacks()
		time.Sleep(dumpTime)
		wait := make(chan bool)
		go func() { <-wait }()
		synctest.Wait()
		if later := Stacks(); first != again || later == first || !strings.Contains(later, "TestStacksOnce") {
			t.Errorf("first\n%s\nthen\n%s\nlater\n%s", first, again, later)
		}
		close(wait)
	})
}

// FuzzAnswer takes any bytes for an answer of a rank: what is taken is within bounds, has no control characters, and
// names its sender.
func FuzzAnswer(f *testing.F) {
	f.Add(encodeAnswer(3, &health.Rank{State: "Healthy", Running: []health.Call{{Comm: "world", Op: "Send", Peer: 1,
		Waiting: []int{1}}}, Last: &health.Call{Comm: "world", Op: "Barrier", Peer: -1, Failed: true}}, "goroutine 1"))
	f.Add(append(binary.LittleEndian.AppendUint32([]byte{answers, 1, 0, 0, 0}, math.MaxUint32), "{}"...))
	f.Add(append(binary.LittleEndian.AppendUint32([]byte{answers, 1, 0, 0, 0}, 60),
		`{"rank":7,"process":"gone","state":"Closed","running":[{}]}`...))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, r, ok := decodeAnswer(b, 2, 4)
		if !ok {
			return
		}
		if r.Rank != 2 || !r.Answered || r.Process != "" || r.State == "Closed" || len(r.Running) > health.MaxCalls ||
			len(r.Error) > health.MaxText || len(r.Stacks) > 3*health.MaxStacks {
			t.Errorf("%+v", r)
		}
		report := health.Report{Ranks: []health.Rank{r}}
		if text := report.String(); strings.ContainsAny(text, "\x00\x1b\r\x7f\u009b") {
			t.Errorf("%q", text)
		}
	})
}

// FuzzQuestion: a question is encoded to the same bytes.
func FuzzQuestion(f *testing.F) {
	f.Add((&question{3, true}).encode())
	f.Add((&question{4, false}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if q, ok := decodeQuestion(b); ok && string(q.encode()) != string(b) {
			t.Errorf("%q becomes %q", b, q.encode())
		}
	})
}

// FuzzComing: a message of a barrier is encoded to the same bytes, and ends no barrier to which another rank has not
// come.
func FuzzComing(f *testing.F) {
	f.Add((&coming{Begun: 3, Passed: 2}).encode())
	f.Add((&coming{Begun: 3, Passed: 1, Failed: 3, How: canceled, label: "x"}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		c, ok := decodeComing(b)
		if ok && string(c.encode()) != string(b) {
			t.Errorf("%q becomes %q", b, c.encode())
		}
		n := newNet(3)
		x, err := n.all[0].begin("")
		if err != nil {
			t.Fatal(err)
		}
		n.all[0].HandleBarrier(2, b)
		select {
		case <-x.done:
			if x.err == nil {
				t.Error("it passes, and rank 1 has not come")
			}
			if got := fmt.Sprint(x.err); strings.Contains(got, "rank 1:") {
				t.Error("it blames rank 1:", got)
			}
		default:
		}
	})
}
