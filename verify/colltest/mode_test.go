package colltest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/colltest"
)

// inModes are faults that calls show which are not blocking, on communicators of some ranks, displaced, or wrong.
var inModes = []struct {
	escape
	is func(s *colltest.Step) bool // a call of what is found
}{
	{escape{"whoever waits gets the first call", colltest.Mixed, fault{fifo: true}, colltest.Value, nil},
		func(s *colltest.Step) bool { return s.Mode == colltest.Started }},
	{escape{"two calls of a batch change places", colltest.Mixed, fault{batch: func(rank int, rounds []*round) {
		if len(rounds) > 1 {
			rounds[0], rounds[1] = rounds[1], rounds[0]
		}
	}}, colltest.Erred, nil}, func(s *colltest.Step) bool { return s.Mode == colltest.Batched }},
	{escape{"a persistent call is wrong the second time", "AllGather", fault{again: func(times int, c *colltest.Call) {
		if times == 2 && len(c.Out()) > 0 {
			flip(last(c, c.Out()))
		}
	}}, colltest.Value, nil}, func(s *colltest.Step) bool { return s.Mode == colltest.Persistent && s.Repeat == 2 }},
	{escape{"ranks of a communicator are not ordered by keys", "Broadcast", fault{key: func(int) int { return 0 }},
		colltest.Erred, nil},
		func(s *colltest.Step) bool { return s.Comm > 0 }},
	{escape{"a message of another tag is received", "Send", fault{tag: func(int) int { return 0 }}, colltest.Erred, nil},
		func(s *colltest.Step) bool { return s.Tag > 0 }},
	{escape{"a call that is started waits for the other ranks", colltest.Mixed, fault{eager: true}, colltest.Hang, nil},
		func(s *colltest.Step) bool { return s.Mode == colltest.Started }},
	{escape{"two communicators of the same ranks mix up calls", colltest.Mixed, fault{oneRoom: true}, colltest.Erred, nil},
		func(s *colltest.Step) bool { return s.Comm > 0 }},
	{escape{"a gap between blocks is written", "AllGatherV", fault{leave: func(_, _ int, c *colltest.Call) {
		if c.OutStarts != nil {
			c.Memory[c.OutAt+len(c.Out())-len(c.OutBlock(0))-1]++
			c.Memory[c.OutAt+slices.Min(c.OutStarts)*c.Type.Bytes()-1]++
		}
	}}, colltest.Stray, nil}, func(s *colltest.Step) bool { return s.Displaced != 0 }},
	{escape{"blocks are one after the other", "Gather", fault{leave: func(_, _ int, c *colltest.Call) {
		if c.OutStarts == nil || c.InPlace {
			return
		}
		var blocks [][]byte
		for b := range c.OutCounts {
			blocks = append(blocks, bytes.Clone(c.OutBlock(b)))
		}
		copy(c.Out(), bytes.Join(blocks, nil))
	}}, colltest.Stray, nil}, func(s *colltest.Step) bool { return s.Displaced != 0 }},
	{escape{"handles of more than 16 calls are mixed up", colltest.Mixed, fault{handles: 16}, colltest.Value, nil},
		func(s *colltest.Step) bool { return s.Mode != colltest.Blocking && s.Repeat > 2 }},
	{escape{"keys have 8 bits", "Broadcast", fault{key: func(key int) int { return int(int8(key)) }}, colltest.Erred, nil},
		func(s *colltest.Step) bool { return s.Comm > 0 }},
	{escape{"a message without a tag is that with tag 1", "Send", fault{tag: func(tag int) int { return max(tag, 1) }},
		colltest.Erred, nil}, func(s *colltest.Step) bool { return s.Tag == 1 }},
	{escape{"a persistent call has the displacements of another", "AllGatherV", fault{cachesStarts: true}, colltest.Stray,
		nil}, func(s *colltest.Step) bool { return s.Mode == colltest.Persistent && s.Displaced != 0 }},
	{escape{"displacements have 16 bits", "Gather", fault{leave: func(_, _ int, c *colltest.Call) {
		if c.OutStarts != nil && slices.Max(c.OutStarts) > math.MaxUint16 {
			flip(last(c, c.Out()))
		}
	}}, colltest.Stray, nil}, func(s *colltest.Step) bool { return s.Displaced != 0 }},
	{escape{"persistent calls have the operands in another order on root 1", "Reduce", fault{
		again: func(_ int, c *colltest.Call) {
			if c.Op == colltest.Compose && c.Root == 1 && len(c.Out()) > 0 {
				flip(last(c, c.Out()))
			}
		}}, colltest.Value, nil}, func(s *colltest.Step) bool { return s.Mode == colltest.Persistent && s.Root == 1 }},
	{escape{"one rank counts a call that was refused", "Scatter", fault{countsRefused: true}, colltest.Erred, nil},
		func(s *colltest.Step) bool { return s.Wrong == colltest.WrongRoot }},
	{escape{"the error of a started call is lost", "Broadcast", fault{losesErrors: true}, colltest.Accepted, nil},
		func(s *colltest.Step) bool { return s.Wrong == colltest.WrongRoot && s.Mode != colltest.Blocking }},
	{escape{"a root that is no rank is taken", "Reduce", fault{anyRoot: true}, colltest.Accepted, nil},
		func(s *colltest.Step) bool { return s.Wrong == colltest.WrongRoot }},
	{escape{"root -1 is taken", "Broadcast", fault{enter: func(_ context.Context, _, _ int, c *colltest.Call) error {
		c.Root = max(c.Root, 0)
		return nil
	}}, colltest.Accepted, nil}, func(s *colltest.Step) bool { return s.Wrong == colltest.WrongRoot }},
	{escape{"a root that is no rank of a communicator is taken", "Reduce", fault{
		enter: func(_ context.Context, _, size int, c *colltest.Call) error {
			if c.Comm > 0 && c.Root == size {
				c.Root = 0
			}
			return nil
		}}, colltest.Accepted, nil},
		func(s *colltest.Step) bool { return s.Wrong == colltest.WrongRoot && s.Comm > 0 }},
	{escape{"colors have 8 bits", "Broadcast", fault{color: func(color int) int { return int(int8(color)) }},
		colltest.Hang, nil}, func(s *colltest.Step) bool { return s.Comm > 0 }},
	{escape{"the 12th call on a communicator is wrong", "AllReduce", fault{leave: wrongOn(12)}, colltest.Value, nil},
		func(s *colltest.Step) bool { return s.Comm > 0 && s.Repeat >= 12 }},
	{escape{"one rank alone notices a root that is no rank", "Scatter", fault{
		enter: func(ctx context.Context, rank, size int, c *colltest.Call) error {
			if c.Root >= size && rank > 0 {
				<-ctx.Done()
			}
			return ctx.Err()
		}}, colltest.Hang, nil}, func(s *colltest.Step) bool { return s.Wrong == colltest.WrongRoot }},
	{escape{"counts that differ are taken", "AllReduce", fault{anyCounts: true, combine: func(c *colltest.Call,
		x, y []byte) []byte {
		n := min(len(x), len(y))
		return arithmetics[c.Type].combine(c.Op, x[:n], y[:n])
	}}, colltest.Accepted, nil}, func(s *colltest.Step) bool { return s.Wrong == colltest.WrongCounts }},
	{escape{"tags have 14 bits", "Send", fault{tag: func(tag int) int { return tag & (1<<14 - 1) }}, colltest.Erred, nil},
		func(s *colltest.Step) bool { return s.Tag >= 1<<14 }},
	{escape{"a persistent message has no tag", "Send", fault{untagged: true}, colltest.Erred, nil},
		func(s *colltest.Step) bool { return s.Tag > 0 && s.Mode == colltest.Persistent }},
	{escape{"messages of a batch have the tag of the first one", "Send", fault{batchTag: true}, colltest.Hang, nil},
		func(s *colltest.Step) bool { return s.Tag > 0 && s.Mode == colltest.Batched }},
	{escape{"messages of two communicators match", "Send", fault{mailboxes: 1}, colltest.Erred, nil},
		func(s *colltest.Step) bool { return s.Tag > 0 && s.Comm > 0 }},
	{escape{"numbers of communicators have 7 bits", "Send", fault{mailboxes: 128}, colltest.Erred, nil},
		func(s *colltest.Step) bool { return s.Tag > 0 && s.Comm > 0 }},
	{escape{"making a communicator drops messages", "Send", fault{dropsOnSplit: true}, colltest.Hang, nil},
		func(s *colltest.Step) bool { return s.Comm > 0 }},
	{escape{"freeing a communicator drops messages", colltest.Mixed, fault{dropsOnFree: true}, colltest.Hang, nil},
		func(s *colltest.Step) bool { return s.Primitive == "Send" }},
	{escape{"a persistent call is the one prepared last", "AllReduce", fault{onePlan: true}, colltest.Value, nil},
		func(s *colltest.Step) bool { return s.Mode == colltest.Persistent && s.Repeat > 1 }},
	{escape{"closing a persistent call closes all", "AllReduce", fault{closesAll: true}, colltest.Erred, nil},
		func(s *colltest.Step) bool { return s.Mode == colltest.Persistent && s.Repeat > 1 }},
	{escape{"a gap is put back to what it was before", "AllGatherV", putsBack(func(c *colltest.Call) []byte {
		if c.OutStarts == nil {
			return nil
		}
		return c.Memory[c.OutAt : c.OutAt+slices.Min(c.OutStarts)*c.Type.Bytes()]
	}), colltest.Stray, nil}, func(s *colltest.Step) bool { return s.Displaced != 0 && s.Mode != colltest.Blocking }},
	{escape{"the vector behind the output is read and written", "Broadcast", putsBack(func(c *colltest.Call) []byte {
		end := c.OutAt + len(c.Out())
		return c.Memory[end : end+16]
	}), colltest.Stray, nil}, func(s *colltest.Step) bool { return s.Mode != colltest.Blocking }},
	{escape{"reductions of a batch are made as one in 2048 bytes", "AllReduce", fused(), colltest.Value, nil},
		func(s *colltest.Step) bool { return s.Mode == colltest.Batched }},
	{escape{"a persistent call of 8192 bytes", "Broadcast", fault{again: func(_ int, c *colltest.Call) {
		if len(c.Out()) == 8192 {
			flip(last(c, c.Out()))
		}
	}}, colltest.Value, nil}, func(s *colltest.Step) bool { return s.Mode == colltest.Persistent }},
	{escape{"a persistent call is wrong the ninth time", "Gather", fault{again: func(times int, c *colltest.Call) {
		if times == 9 && len(c.Out()) > 0 {
			flip(last(c, c.Out()))
		}
	}}, colltest.Value, nil}, func(s *colltest.Step) bool { return s.Mode == colltest.Persistent && s.Repeat == 9 }},
	{escape{"a persistent call has the form of another", "AllGather", onForms(), colltest.Value, nil},
		func(s *colltest.Step) bool { return s.Mode == colltest.Persistent && !s.InPlace }},
	{escape{"a persistent call takes the place of an open one", colltest.Mixed, fault{reusesPlans: true}, colltest.Value,
		nil}, func(s *colltest.Step) bool { return s.Mode == colltest.Persistent && s.Repeat > 1 }},
	{escape{"a call has the counts of another with the same total", "AllGatherV", sameTotal(), colltest.Value, nil},
		func(s *colltest.Step) bool { return s.Counts != nil }},
	{escape{"displaced, in place, from the last of three ranks", "ScatterV", fault{leave: func(rank, size int,
		c *colltest.Call) {
		if size == 3 && rank == 2 && c.Root == 2 && c.InPlace && c.InStarts != nil {
			flip(last(c, c.Out()))
		}
	}}, colltest.Value, nil}, func(s *colltest.Step) bool { return s.Displaced != 0 && s.InPlace }},
	{escape{"an uneven block of 16384 bytes", "AllGatherV", fault{leave: func(_, _ int, c *colltest.Call) {
		if n := slices.Max(c.OutCounts); c.Uneven && n*c.Type.Bytes() == 16384 && slices.Min(c.OutCounts) < n {
			flip(last(c, c.Out()))
		}
	}}, colltest.Value, nil}, func(s *colltest.Step) bool { return s.Counts != nil }},
	{escape{"a broadcast takes a message with a tag of its own", colltest.Mixed, ownTag(32756), colltest.Erred, nil},
		func(s *colltest.Step) bool { return s.Tag == 32756 }},
	{escape{"a message is wrong in a batch with another call", colltest.Mixed, besideOthers(), colltest.Value, nil},
		func(s *colltest.Step) bool { return s.Mode == colltest.Batched }},
	{escape{"handles of more than 256 calls are mixed up", "AllReduce", fault{handles: 256}, colltest.Value, nil},
		func(s *colltest.Step) bool { return s.Mode == colltest.Started && s.Repeat > 50 }},
	{escape{"the 101st communicator", "Broadcast", leaves(func(c *colltest.Call) bool { return c.Comm > 100 }),
		colltest.Value, nil}, func(s *colltest.Step) bool { return s.Comm > 0 }},
	{escape{"the 201st communicator of one rank", colltest.Mixed, aloneOnMost(200), colltest.Erred, nil},
		func(s *colltest.Step) bool { return s.Comm > 0 }},
	{escape{"a long reduction from another root is in another order", "Reduce", leaves(func(c *colltest.Call) bool {
		return c.Op == colltest.Compose && c.Root > 0 && len(c.Out()) >= 64<<10
	}), colltest.Value, nil}, func(s *colltest.Step) bool { return s.Op == colltest.Compose && s.Root > 0 }},
	{escape{"an op that is not commutative is taken for one that is", "Reduce", fault{
		operands: func(_ int, c *colltest.Call, x [][]byte) [][]byte {
			x = bytesOf(x)
			if c.Op == colltest.Compose {
				slices.Reverse(x)
			}
			return x
		}}, colltest.Value, nil}, func(s *colltest.Step) bool { return s.Op == colltest.Compose }},
}

// fused has reductions of a batch that are alike be made as one, in memory that is too short.
func fused() fault {
	var short sync.Map // by call
	return fault{
		together: func(calls []*colltest.Call) {
			for i := 1; i < len(calls); i++ {
				a, b := calls[i-1], calls[i]
				if a.Comm == b.Comm && a.Type == b.Type && a.Op == b.Op && len(a.Out())+len(b.Out()) > 2048 {
					short.Store(b, true)
				}
			}
		},
		leave: func(_, _ int, c *colltest.Call) {
			if _, is := short.LoadAndDelete(c); is {
				flip(last(c, c.Out()))
			}
		},
	}
}

// onForms has persistent calls out of place be wrong after one in place with their type and counts.
func onForms() fault {
	var inPlace sync.Map // by type and counts
	return fault{again: func(_ int, c *colltest.Call) {
		is, _ := inPlace.LoadOrStore(fmt.Sprint(c.Type, c.OutCounts), c.InPlace)
		if is.(bool) && !c.InPlace && len(c.Out()) > 0 {
			flip(last(c, c.Out()))
		}
	}}
}

// sameTotal has calls be wrong after another one with their type and number of elements, but other counts.
func sameTotal() fault {
	var known sync.Map // by rank, type and number of elements
	return fault{starts: known.Clear, leave: func(rank, _ int, c *colltest.Call) {
		if c.OutStarts != nil {
			return
		}
		counts, _ := known.LoadOrStore(fmt.Sprint(rank, c.Type, len(c.Out()), len(c.OutCounts)), c.OutCounts)
		if !slices.Equal(counts.([]int), c.OutCounts) {
			flip(last(c, c.Out()))
		}
	}}
}

// ownTag has a broadcast fail while a message with the tag is open.
func ownTag(tag int) fault {
	var open atomic.Int64
	return fault{starts: func() { open.Store(0) }, enter: func(_ context.Context, _, _ int, c *colltest.Call) error {
		switch {
		case c.Primitive == "Send" && c.Tag == tag:
			open.Add(1)
		case c.Primitive == "Broadcast" && open.Load() > 0:
			return errors.New("that was no broadcast")
		}
		return nil
	}, leave: func(_, _ int, c *colltest.Call) {
		if c.Primitive == "Send" && c.Tag == tag {
			open.Add(-1)
		}
	}}
}

// besideOthers makes the messages wrong that are in a batch with other calls.
func besideOthers() fault {
	var spoilt sync.Map // by call
	return fault{together: func(calls []*colltest.Call) {
		isSend := func(c *colltest.Call) bool { return c.Primitive == "Send" }
		for _, c := range calls {
			if isSend(c) && slices.ContainsFunc(calls, func(c *colltest.Call) bool { return !isSend(c) }) {
				spoilt.Store(c, true)
			}
		}
	}, leave: func(_, _ int, c *colltest.Call) {
		if _, is := spoilt.LoadAndDelete(c); is && len(c.Out()) > 0 {
			flip(last(c, c.Out()))
		}
	}}
}

// aloneOnMost has calls fail on further communicators of one rank.
func aloneOnMost(most int) fault {
	var mu sync.Mutex
	seen := map[int]bool{}
	return fault{starts: func() {
		mu.Lock()
		defer mu.Unlock()
		clear(seen)
	}, enter: func(_ context.Context, _, size int, c *colltest.Call) error {
		mu.Lock()
		defer mu.Unlock()
		if size == 1 && c.Comm > 0 {
			if seen[c.Comm] = true; len(seen) > most {
				return errors.New("no context")
			}
		}
		return nil
	}}
}

// putsBack has calls put memory back to what it was when they began.
func putsBack(where func(c *colltest.Call) []byte) fault {
	var before sync.Map // by call
	return fault{
		enter: func(_ context.Context, _, _ int, c *colltest.Call) error {
			before.Store(c, bytes.Clone(where(c)))
			return nil
		},
		leave: func(_, _ int, c *colltest.Call) {
			was, _ := before.LoadAndDelete(c)
			copy(where(c), was.([]byte))
		},
	}
}

// wrongOn makes the n-th result of rank 0 on each communicator of some ranks wrong.
func wrongOn(n int) func(rank, size int, c *colltest.Call) {
	var mu sync.Mutex
	made := map[int]int{}
	return func(rank, _ int, c *colltest.Call) {
		mu.Lock()
		defer mu.Unlock()
		if rank == 0 && c.Comm > 0 {
			if made[c.Comm]++; made[c.Comm] == n {
				flip(last(c, c.Out()))
			}
		}
	}
}

// TestModes: they are found, and what is found still has what shows them.
func TestModes(t *testing.T) {
	for _, e := range inModes {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			can := colltest.All("faulty", 1, 2, 3, 4)
			s := colltest.NewSuite(&central{fault: e.fault, can: can})
			s.Patience, s.Shrinking, s.Failures = 300*time.Millisecond, 3*time.Second, 1
			of := can.Primitives
			if e.primitive != colltest.Mixed {
				of = only(can, e.primitive)
			}
			found := s.Check(t.Context(), of...)
			_ = s.Close() // some hang
			if len(found) == 0 {
				t.Fatal("it was not found")
			}
			f := found[0]
			if f.Problems[0].Kind != e.kind || f.Failed == 0 || !slices.ContainsFunc(f.Case.Steps, func(s colltest.Step) bool {
				return e.is(&s)
			}) {
				t.Errorf("it is found as %q, want %q; it has failed again %d times: %v", f.Problems[0].Kind, e.kind, f.Failed, f)
			}
		})
	}
}

// TestNoStarter: a world that does not have what its capabilities say is an error.
func TestNoStarter(t *testing.T) {
	can := colltest.All("says too much", 2)
	s := colltest.NewSuite(plainWorlds{&central{can: can}})
	defer s.Close()
	s.Shrinking, s.Failures = 0, 1
	found := s.Check(t.Context(), only(can, "AllGather")...)
	if len(found) == 0 || found[0].Problems[0].Kind != colltest.Erred {
		t.Errorf("found %v", found)
	}
}

// plainWorlds is an implementation whose worlds make blocking calls alone.
type plainWorlds struct{ colltest.Implementation }

func (p plainWorlds) Start(ctx context.Context, size int) (colltest.World, error) {
	w, err := p.Implementation.Start(ctx, size)
	return struct{ colltest.World }{w}, err
}

// TestCannotStart: what cannot be started is left out by all ranks.
func TestCannotStart(t *testing.T) {
	can := colltest.All("cannot start", 3)
	refuses := errors.Join(colltest.ErrCannot, errors.New("no memory"))
	s := colltest.NewSuite(&central{can: can, fault: fault{
		enter: func(_ context.Context, _, _ int, c *colltest.Call) error {
			if c.Type == spec.TypeInt16 {
				return refuses
			}
			return nil
		}}})
	defer s.Close()
	if found := s.Check(t.Context(), only(can, "AllToAll")...); len(found) > 0 || s.Tested["AllToAll"].Cannot == 0 {
		t.Errorf("found %v, tested %+v", found, s.Tested)
	}
}
