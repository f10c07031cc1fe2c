package colltest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/colltest"
)

// escape is a fault that only calls of a certain sort show.
type escape struct {
	name      string
	primitive string // colltest.Mixed: of several
	fault     fault
	kind      colltest.ProblemKind
	without   []string
}

// leaves is a fault that changes the last element of the output where wrong holds.
func leaves(wrong func(c *colltest.Call) bool) fault {
	return fault{leave: func(_, _ int, c *colltest.Call) {
		if len(c.Out()) > 0 && wrong(c) {
			flip(last(c, c.Out()))
		}
	}}
}

var escapes = []escape{
	{"ranks differ in what is the minimum of NaN and a number", "AllReduce", onRank(spec.OpMin, func(rank int, x,
		y float64) float64 {
		if rank == 0 && (math.IsNaN(x) || math.IsNaN(y)) {
			return min(x+0, math.MaxFloat64)
		}
		return min(x, y)
	}), colltest.Value, []string{"nan"}},
	{"ranks differ in the sign of a zero", "AllReduce", onRank(spec.OpMax, func(rank int, x, y float64) float64 {
		if rank == 1 && x == y {
			return y
		}
		return max(x, y)
	}), colltest.Disagree, []string{"minus-zero"}},
	{"the maximum of -0 and 0 depends on the place", "Reduce", fault{leave: func(_, _ int, c *colltest.Call) {
		if c.Op != spec.OpMax || c.Type != spec.TypeFloat64 {
			return
		}
		for i, x := range colltest.As[float64](c.Out()) {
			if x == 0 {
				colltest.As[float64](c.Out())[i] = math.Copysign(0, float64(i%2)-0.5)
			}
		}
	}}, colltest.Value, []string{"minus-zero"}},
	{"a long sum begins with 0, and never is -0", "AllReduce", fault{leave: func(_, _ int, c *colltest.Call) {
		if c.Op != spec.OpSum || c.Type != spec.TypeFloat32 || len(c.Out()) < 4096 {
			return
		}
		for i, x := range colltest.As[float32](c.Out()) {
			colltest.As[float32](c.Out())[i] = x + 0
		}
	}}, colltest.Value, nil},
	{"a rank without elements fails", "AllToAllV", fault{enter: func(_ context.Context, _, size int,
		c *colltest.Call) error {
		if size > 1 && c.Uneven && len(c.In())+len(c.Out()) == 0 {
			return errors.New("no elements")
		}
		return nil
	}}, colltest.Erred, nil},
	{"blocks of 4080 bytes, which leave room for a header", "Broadcast", leaves(func(c *colltest.Call) bool {
		return len(c.Out()) == 4096-16
	}), colltest.Value, nil},
	{"calls without elements take what they do not give back", "Gather", emptyCredits(66), colltest.Erred, nil},
	{"two primitives that overlap share memory", colltest.Mixed, overlapping(), colltest.Value, nil},
	{"four slots without flow control", "Broadcast", fourSlots(), colltest.Value, nil},
	{"blocks of 4096 bytes", "AllGather", leaves(func(c *colltest.Call) bool {
		return c.OutCounts[0]*c.Type.Bytes() == 4096
	}), colltest.Value, nil},
	{"blocks of 65536 bytes", "Reduce", leaves(func(c *colltest.Call) bool { return len(c.Out()) == 65536 }),
		colltest.Value, nil},
	{"blocks of 12288 bytes", "AllToAll", leaves(func(c *colltest.Call) bool {
		return c.OutCounts[0]*c.Type.Bytes() == 3<<12
	}), colltest.Value, nil},
	{"one kernel, if 15 elements are left of 16", "AllReduce", leaves(func(c *colltest.Call) bool {
		return c.Op == spec.OpBXor && c.Type == spec.TypeUint32 && c.OutCounts[0] > 256 && c.OutCounts[0]%16 == 15
	}), colltest.Value, nil},
	{"one kernel, from a thousand elements on", "AllReduce", leaves(func(c *colltest.Call) bool {
		return c.Op == spec.OpMax && c.Type == spec.TypeUint16 && c.OutCounts[0] >= 1000
	}), colltest.Value, nil},
	{"more than a megabyte", "Broadcast", leaves(func(c *colltest.Call) bool { return len(c.Out()) > 1<<20 }),
		colltest.Value, nil},
	{"the order of sums is that of arrival", "AllReduce", byArrival(0), colltest.Disagree, nil},
	{"the order of long sums is that of arrival", "AllReduce", byArrival(512), colltest.Disagree, nil},
	{"short sums off alignment", "Reduce", leaves(func(c *colltest.Call) bool {
		return c.Op == spec.OpSum && c.Type == spec.TypeFloat64 && c.OutAt%32 != 0 && len(c.Out()) >= 128 &&
			len(c.Out()) < 2048
	}), colltest.Value, nil},
	{"an uneven block of more than 64 elements", "AllGather", leaves(func(c *colltest.Call) bool {
		return slices.Max(c.OutCounts) > 64 && slices.Min(c.OutCounts) < 64
	}), colltest.Value, nil},
	{"a byte far behind the output", "Scatter", fault{leave: func(_, _ int, c *colltest.Call) {
		if at := c.OutAt + len(c.Out()) + 500; at < len(c.Memory) {
			c.Memory[at]++
		}
	}}, colltest.Stray, nil},
	{"a NaN that signals becomes one that does not", "Broadcast", fault{leave: func(_, _ int, c *colltest.Call) {
		if c.Type != spec.TypeFloat32 {
			return
		}
		for i, x := range colltest.As[uint32](c.Out()) {
			if x&0x7fffffff == 0x7f800001 {
				colltest.As[uint32](c.Out())[i] |= 1 << 22
			}
		}
	}}, colltest.Value, nil},
	{"an average is multiplied by the inverse", "AllReduce", fault{finish: func(c *colltest.Call, x []byte,
		size int) []byte {
		if c.Op != spec.OpAvg || c.Type != spec.TypeFloat32 {
			return arithmetics[c.Type].finish(c.Op, x, size)
		}
		x = aligned(x)
		for i := range colltest.As[float32](x) {
			colltest.As[float32](x)[i] *= 1 / float32(size)
		}
		return x
	}}, colltest.Value, nil},
	{"products of two small numbers", "AllReduce", fault{combine: func(c *colltest.Call, x, y []byte) []byte {
		result := arithmetics[c.Type].combine(c.Op, x, y)
		for i, z := range colltest.As[float32](result[:len(result)/4*4]) {
			if c.Op == spec.OpProd && c.Type == spec.TypeFloat32 && z != 0 && math.Abs(float64(z)) < 0x1p-126 {
				colltest.As[float32](result)[i] = 42
			}
		}
		return result
	}}, colltest.Value, nil},
	{"sums of more than two thousand elements", "AllReduce", leaves(func(c *colltest.Call) bool {
		return c.Op == spec.OpSum && c.Type == spec.TypeFloat32 && c.OutCounts[0] > 2000
	}), colltest.Value, nil},
	{"a megabyte in place", "AllReduce", leaves(func(c *colltest.Call) bool {
		return c.InPlace && len(c.Out()) == 1<<20
	}), colltest.Value, nil},
	{"the input is read after the return", "Broadcast", byReference(), colltest.Value, nil},
}

// TestEscapes: the sorts of calls that are made show what only they show, and it fails again.
func TestEscapes(t *testing.T) {
	for _, e := range escapes {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			can, err := colltest.Everything("faulty", 1, 2, 3, 4).Without(e.without...)
			if err != nil {
				t.Fatal(err)
			}
			s := colltest.NewSuite(&central{fault: e.fault, can: can})
			defer s.Close()
			s.Shrinking, s.Failures = 2*time.Second, 3 // a busy machine may show what does not fail again
			of := can.Primitives
			if e.primitive != colltest.Mixed {
				of = only(can, e.primitive)
			}
			found := s.Check(t.Context(), of...)
			if len(found) == 0 {
				t.Fatal("it was not found")
			}
			if !slices.ContainsFunc(found, func(f *colltest.Failure) bool {
				return f.Problems[0].Kind == e.kind && f.Failed > 0
			}) {
				t.Errorf("it is not found as %q, or does not fail again: %v", e.kind, found)
			}
		})
	}
}

// onRank has op on float64 be f, which may depend on the rank.
func onRank(op spec.Op, f func(rank int, x, y float64) float64) fault {
	return fault{operands: func(rank int, c *colltest.Call, x [][]byte) [][]byte {
		if c.Op != op || c.Type != spec.TypeFloat64 {
			return x
		}
		result := aligned(x[0])
		for _, operand := range x[1:] {
			for i, y := range colltest.As[float64](aligned(operand)) {
				at := &colltest.As[float64](result)[i]
				*at = f(rank, *at, y)
			}
		}
		return [][]byte{result}
	}}
}

// overlapping has a gather spoil a scatter that some rank is still in.
func overlapping() fault {
	var inside atomic.Int64
	return fault{
		enter: func(_ context.Context, _, _ int, c *colltest.Call) error {
			if c.Primitive == "Scatter" {
				inside.Add(1)
			}
			return nil
		},
		leave: func(_, _ int, c *colltest.Call) {
			switch {
			case c.Primitive == "Scatter":
				inside.Add(-1)
			case c.Primitive != "Barrier" && inside.Load() > 0 && len(c.Out()) > 0:
				flip(last(c, c.Out()))
			}
		},
	}
}

// fourSlots has the root of broadcasts be as far ahead as it likes, though there is memory for four of them.
func fourSlots() fault {
	var mu sync.Mutex
	made, slots := map[int]int{}, [4][]byte{}
	return fault{ahead: true, leave: func(rank, _ int, c *colltest.Call) {
		mu.Lock()
		defer mu.Unlock()
		slot := &slots[made[rank]%4]
		made[rank]++
		if rank == c.Root {
			*slot = slices.Clone(c.Out())
		} else {
			copy(c.Out(), *slot)
		}
	}}
}

// meetings counts the calls of every rank in worlds of every size.
type meetings struct {
	mu   sync.Mutex
	made map[[2]int]int   // by size and rank
	come map[[2]int][]int // ranks, by size and number of the call
}

func newMeetings() *meetings {
	return &meetings{made: map[[2]int]int{}, come: map[[2]int][]int{}}
}

// enter notes that a rank has come to its next call.
func (m *meetings) enter(rank, size int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	call := [2]int{size, m.made[[2]int{size, rank}]}
	m.made[[2]int{size, rank}]++
	m.come[call] = append(m.come[call], rank)
}

// call returns the size and the number of the call that a rank is in.
func (m *meetings) call(rank, size int) [2]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return [2]int{size, m.made[[2]int{size, rank}] - 1}
}

// order returns the ranks in the order in which they have come to the call that a rank is in.
func (m *meetings) order(rank, size int) []int {
	call := m.call(rank, size)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.come[call]
}

// emptyCredits has calls without elements fail after so many of them, one after the other.
func emptyCredits(most int64) fault {
	var empty atomic.Int64
	return fault{starts: func() { empty.Store(0) }, enter: func(_ context.Context, _, _ int, c *colltest.Call) error {
		if len(c.In())+len(c.Out()) > 0 {
			empty.Store(0)
		} else if empty.Add(1) > most {
			return errors.New("no credit")
		}
		return nil
	}}
}

// byArrival adds float32 in the order in which ranks come, if there are so many.
func byArrival(least int) fault {
	m := newMeetings()
	return fault{
		enter: func(_ context.Context, rank, size int, c *colltest.Call) error {
			m.enter(rank, size)
			return nil
		},
		operands: func(rank int, c *colltest.Call, x [][]byte) (ordered [][]byte) {
			if c.Type != spec.TypeFloat32 || len(x[0]) < 4*least {
				return x
			}
			for _, r := range m.order(rank, len(x)) {
				ordered = append(ordered, x[r])
			}
			return ordered
		},
	}
}

// byReference has the root of a broadcast leave at once, and the others read its input when they come.
func byReference() fault {
	var mu sync.Mutex
	shown := map[[2]int][]byte{} // by size and number of the call
	m := newMeetings()
	return fault{ahead: true, enter: func(_ context.Context, rank, size int, c *colltest.Call) error {
		m.enter(rank, size)
		mu.Lock()
		defer mu.Unlock()
		if rank == c.Root {
			shown[m.call(rank, size)] = c.In()
		}
		return nil
	}, leave: func(rank, size int, c *colltest.Call) {
		mu.Lock()
		defer mu.Unlock()
		if in := shown[m.call(rank, size)]; rank != c.Root {
			copy(c.Out(), in)
		}
	}}
}

// TestHistory: a fault that comes after many calls is shown with the cases before it.
func TestHistory(t *testing.T) {
	var calls atomic.Int64
	late := fault{leave: func(_, _ int, c *colltest.Call) {
		if calls.Add(1) > 120 && len(c.Out()) > 0 {
			flip(last(c, c.Out()))
		}
	}}
	can := colltest.Everything("late", 1)
	impl := &central{fault: late, can: can, begin: func() { calls.Store(0) }}
	found := checkOne(t, impl, "Broadcast")
	if len(found) == 0 || found[0].Failed > 0 || found[0].After < 20 || found[0].Tries == 0 {
		t.Fatalf("found %+v", found)
	}
	if text := found[0].String(); !strings.Contains(text, "it does not fail alone") {
		t.Error(text)
	}
}

// TestShortHistory: a fault that comes after a few calls is shown as one case of these.
func TestShortHistory(t *testing.T) {
	var int16s atomic.Bool
	after := leaves(func(c *colltest.Call) bool {
		before := int16s.Load()
		int16s.Store(c.Type == spec.TypeInt16)
		return before && c.Type == spec.TypeInt32
	})
	impl := &central{fault: after, can: colltest.Everything("after", 1), begin: func() { int16s.Store(false) }}
	found := checkOne(t, impl, "Broadcast")
	if len(found) == 0 || found[0].Failed == 0 || len(found[0].Case.Steps) != 2 {
		t.Fatalf("found %v", found)
	}
}

// TestJoinedHang: a call that hangs after another one is shown as one case of both.
func TestJoinedHang(t *testing.T) {
	var int16s atomic.Bool
	impl := &central{can: colltest.Everything("after", 1), begin: func() { int16s.Store(false) }, fault: fault{
		enter: func(ctx context.Context, _, _ int, c *colltest.Call) error {
			before := int16s.Load()
			if int16s.Store(c.Type == spec.TypeInt16); before && c.Type == spec.TypeInt32 {
				<-ctx.Done()
			}
			return ctx.Err()
		}}}
	s := colltest.NewSuite(impl)
	defer s.Close()
	s.Patience, s.Failures = 200*time.Millisecond, 1
	found := s.Check(t.Context(), only(s.Capabilities(), "Broadcast")...)
	if len(found) == 0 || found[0].Problems[0].Kind != colltest.Hang || found[0].Failed == 0 ||
		len(found[0].Case.Steps) != 2 {
		t.Fatalf("found %v", found)
	}
}

// TestPlainerComms: what fails on every communicator of some ranks is shown on one that is made before the calls, and
// has the ranks in their order.
func TestPlainerComms(t *testing.T) {
	onComms := leaves(func(c *colltest.Call) bool { return c.Comm > 0 })
	found := checkOne(t, &central{fault: onComms, can: colltest.All("on communicators", 3)}, "Broadcast")
	if len(found) == 0 || len(found[0].Case.Comms) != 1 {
		t.Fatalf("found %v", found)
	}
	comm := found[0].Case.Comms[0]
	if comm.Between || slices.Max(comm.Keys) > 0 || slices.Min(comm.Keys) < 0 {
		t.Errorf("found on %+v", comm)
	}
}

// TestSeenOnce: a wrong result that does not come again is shown as that.
func TestSeenOnce(t *testing.T) {
	var spoilt atomic.Bool
	once := leaves(func(c *colltest.Call) bool { return c.OutCounts[0] == 7 && spoilt.CompareAndSwap(false, true) })
	found := checkOne(t, &central{fault: once, can: colltest.Everything("once", 2)}, "Broadcast")
	if len(found) != 1 || found[0].Failed > 0 || found[0].After > 0 || !strings.Contains(found[0].String(), "seen once") {
		t.Fatalf("found %v", found)
	}
}

// TestWaits: ranks that cease to wait for others are found, though most random cases have shorter delays.
func TestWaits(t *testing.T) {
	hasty := map[string]time.Duration{"Barrier": 50 * time.Millisecond, "Gather": 15 * time.Millisecond}
	for primitive, wait := range hasty {
		f := fault{waits: func(*colltest.Call) time.Duration { return wait }}
		if found := hastyOnes(t, f, primitive); !slices.ContainsFunc(found, longerThan(wait)) {
			t.Errorf("%s: found %v", primitive, found)
		}
	}
}

// TestLongerDelays: a case that fails no more where it is made again is shown to fail with a rank that comes later.
func TestLongerDelays(t *testing.T) {
	var seen sync.Map // what ranks have given
	hasty := fault{waits: func(c *colltest.Call) time.Duration {
		if c.Op != spec.OpSum || c.InPlace {
			return time.Minute
		}
		if _, again := seen.LoadOrStore(string(c.In()), nil); again {
			return 2 * time.Millisecond
		}
		return 200 * time.Microsecond
	}}
	if found := hastyOnes(t, hasty, "AllReduce"); !slices.ContainsFunc(found, longerThan(2*time.Millisecond)) {
		t.Errorf("found %v", found)
	}
}

// hastyOnes returns what the sweep finds in an implementation on two ranks that does not wait long for others.
func hastyOnes(t *testing.T, hasty fault, primitive string) []*colltest.Failure {
	t.Helper()
	impl := &central{can: colltest.Everything("hasty", 2), fault: hasty}
	impl.can.Types = []spec.Type{spec.TypeFloat32}
	s := colltest.NewSuite(impl)
	t.Cleanup(func() { _ = s.Close() })
	s.Cases, s.Failures, s.Shrinking = 0, 100, time.Second // on a busy machine, ranks come late by themselves
	return s.Check(t.Context(), only(s.Capabilities(), primitive)...)
}

// longerThan returns whether a failure comes again in a call of which a rank comes later than d.
func longerThan(d time.Duration) func(*colltest.Failure) bool {
	return func(f *colltest.Failure) bool { return f.Failed > 0 && f.Case.Steps[0].Delay > d }
}

// TestBlockingAlike: a blocking call that differs from the one before in its root alone is taken for that one.
func TestBlockingAlike(t *testing.T) {
	type made struct {
		name string
		root int
	}
	var before [2]made // by rank
	repeats := fault{leave: func(rank, _ int, c *colltest.Call) {
		this := made{fmt.Sprint(c.Type, c.InPlace, len(c.Out())), c.Root}
		if last(c, c.Out()) != nil && before[rank].name == this.name && before[rank].root != this.root {
			flip(last(c, c.Out()))
		}
		before[rank] = this
	}}
	can := colltest.Everything("repeats", 2)
	found := checkOne(t, &central{fault: repeats, can: can, begin: func() { before = [2]made{} }}, "Scatter")
	if len(found) == 0 || found[0].Failed == 0 || len(found[0].Case.Steps) != 2 {
		t.Errorf("found %v", found)
	}
}

// TestSlowAlways: cases that take longer than Patience, each of them, leave out none of the others.
func TestSlowAlways(t *testing.T) {
	impl := &central{can: colltest.Everything("slow", 1), fault: fault{
		enter: func(context.Context, int, int, *colltest.Call) error {
			time.Sleep(75 * time.Millisecond)
			return nil
		}}}
	impl.can.Types = []spec.Type{spec.TypeInt8}
	s := colltest.NewSuite(impl)
	defer s.Close()
	s.Patience, s.Shrinking, s.Cases = 50*time.Millisecond, time.Millisecond, 0
	found := s.Check(t.Context(), only(s.Capabilities(), "Gather")...)
	if got := s.Tested["Gather"]; len(found) > 0 || got.LeftOut > 0 || got.Unconfirmed == 0 || got.Cases < 50 {
		t.Errorf("found %v, tested %+v", found, got)
	}
}

// TestSlowOnce: a case that takes too long once is no failure, and is said.
func TestSlowOnce(t *testing.T) {
	var slow atomic.Bool
	impl := &central{can: colltest.Everything("slow once", 2), fault: fault{
		enter: func(ctx context.Context, _, _ int, c *colltest.Call) error {
			if c.Primitive == "Gather" && slow.CompareAndSwap(false, true) {
				time.Sleep(400 * time.Millisecond)
			}
			return ctx.Err()
		}}}
	s := colltest.NewSuite(impl)
	defer s.Close()
	s.Patience = 200 * time.Millisecond
	of := only(s.Capabilities(), "Gather")
	if found := s.Check(t.Context(), of...); len(found) > 0 {
		t.Fatal(found[0])
	}
	if untested := strings.Join(s.Untested(), "; "); !strings.Contains(untested, "cases took longer than 200ms once") {
		t.Error(untested)
	}
}

// TestLostOnce: a call that never ends is a failure, though it is a single one.
func TestLostOnce(t *testing.T) {
	var calls atomic.Int64
	impl := &central{can: colltest.Everything("lost once", 2), fault: fault{
		enter: func(ctx context.Context, _, _ int, _ *colltest.Call) error {
			if calls.Add(1) == 40 {
				<-ctx.Done()
			}
			return ctx.Err()
		}}}
	s := colltest.NewSuite(impl)
	defer s.Close()
	s.Patience = 200 * time.Millisecond
	found := s.Check(t.Context(), only(s.Capabilities(), "Gather")...)
	if len(found) != 1 || found[0].Problems[0].Kind != colltest.Hang || found[0].Failed > 0 ||
		!strings.Contains(found[0].String(), "seen once") || !strings.Contains(found[0].String(), "after 2s") {
		t.Errorf("found %v", found)
	}
}

// TestCannotAny: what can make no call is not tested.
func TestCannotAny(t *testing.T) {
	s := colltest.NewSuite(&central{can: colltest.Everything("cannot", 2), fault: fault{
		enter: func(context.Context, int, int, *colltest.Call) error { return colltest.ErrCannot }}})
	defer s.Close()
	found := s.Check(t.Context(), only(s.Capabilities(), "Gather")...)
	if c := s.Tested["Gather"]; len(found) > 0 || c.Calls == 0 || c.Made() != 0 {
		t.Errorf("tested %+v, found %v", c, found)
	}
}

// TestErrorBesideHang: an error is shown though other ranks wait for the one that has returned it.
func TestErrorBesideHang(t *testing.T) {
	s := colltest.NewSuite(&central{can: colltest.Everything("fails", 2), fault: fault{
		enter: func(_ context.Context, rank, _ int, _ *colltest.Call) error {
			if rank == 1 {
				return errors.New("no memory")
			}
			return nil
		}}})
	defer s.Close()
	s.Patience, s.Failures, s.Shrinking = time.Second, 1, 0 // no longer than the others are waited for
	found := s.Check(t.Context(), only(s.Capabilities(), "Gather")...)
	if len(found) != 1 || found[0].Problems[0].Kind != colltest.Erred ||
		!strings.Contains(found[0].String(), "no memory") {
		t.Errorf("found %v", found)
	}
}

// TestInterrupted: an interrupt is no failure.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	s := colltest.NewSuite(&central{can: colltest.Everything("interrupted", 1), fault: fault{
		enter: func(ctx context.Context, _, _ int, _ *colltest.Call) error {
			if calls++; calls == 7 {
				<-ctx.Done()
			} else if calls == 8 {
				cancel()
				<-ctx.Done()
			}
			return ctx.Err()
		}}})
	defer s.Close()
	s.Patience = 100 * time.Millisecond
	if found := s.Check(ctx, only(s.Capabilities(), "Gather")...); len(found) > 0 {
		t.Error(found[0])
	}
}

// TestSeveral: a failure does not hide another one, and one that has many types is one.
func TestSeveral(t *testing.T) {
	both := fault{leave: func(_, _ int, c *colltest.Call) {
		if len(c.Out()) > 0 && (c.Type == spec.TypeInt16 && c.InPlace || c.Root == 1) {
			flip(last(c, c.Out()))
		}
	}}
	found := checkOne(t, &central{fault: both, can: colltest.Everything("both", 2)}, "Broadcast")
	if len(found) != 2 {
		t.Fatalf("found %v", found)
	}
	inPlace := slices.IndexFunc(found, func(f *colltest.Failure) bool { return f.Case.Steps[0].InPlace })
	if inPlace < 0 || found[inPlace].Case.Steps[0].Root != 0 || len(found[inPlace].Also) > 0 ||
		found[1-inPlace].Case.Steps[0].Root != 1 || len(found[1-inPlace].Also) < 5 {
		t.Errorf("found %v", found)
	}
}

// TestWatched: an input that is changed during a call, and restored before its end, is noticed.
func TestWatched(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector reports it, and fails the test")
	}
	found := checkOne(t, &central{can: colltest.Everything("writer", 2), fault: fault{
		enter: func(_ context.Context, _, _ int, c *colltest.Call) error {
			if in := c.In(); !c.InPlace && len(in) > 0 && len(in) < 100 {
				flip(in)
				time.Sleep(time.Millisecond)
				flip(in)
			}
			return nil
		}}}, "AllGather")
	if len(found) == 0 || found[0].Problems[0].Kind != colltest.Stray ||
		!strings.Contains(found[0].Problems[0].Text, "changed during the call") {
		t.Errorf("found %v", found)
	}
}

// TestSoak makes as many calls as it is told, and finds what comes late.
func TestSoak(t *testing.T) {
	s := colltest.NewSuite(&central{can: colltest.Everything("right", 2)})
	defer s.Close()
	found := s.Soak(t.Context(), 3000, s.Capabilities().Primitives...)
	if made := s.Tested[colltest.Soak].Calls; len(found) > 0 || made < 3000 {
		t.Errorf("%d calls, found %v", made, found)
	}
	var calls atomic.Int64
	late := leaves(func(*colltest.Call) bool { return calls.Add(1) >= 3000 })
	s = colltest.NewSuite(&central{can: colltest.Everything("late", 2), fault: late,
		begin: func() { calls.Store(0) }})
	defer s.Close()
	s.Shrinking = 2 * time.Second
	if found := s.Soak(t.Context(), 6000, s.Capabilities().Primitives...); len(found) == 0 || found[0].Failed == 0 {
		t.Errorf("found %v", found)
	}
}

// checkOne returns what is found in a primitive, looking for three failures.
func checkOne(t *testing.T, impl *central, primitive string) []*colltest.Failure {
	t.Helper()
	s := colltest.NewSuite(impl)
	t.Cleanup(func() { _ = s.Close() })
	s.Shrinking, s.Failures = 5*time.Second, 3
	return s.Check(t.Context(), only(s.Capabilities(), primitive)...)
}

// only returns how a primitive is supported, alone.
func only(can colltest.Capabilities, primitive string) []colltest.Support {
	return slices.DeleteFunc(slices.Clone(can.Primitives),
		func(x colltest.Support) bool { return x.Primitive.Name != primitive })
}
