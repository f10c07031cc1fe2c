package agree

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Agree is Start and Wait.
func (a *Agent) Agree(ctx context.Context, c Call, flags uint64, quorum int) (Value, error) {
	return a.Start(c, flags, quorum).Wait(ctx)
}

// agents returns the members of a group of that size, in processes of the same numbers.
func agents(size int) (*network, []*Agent) {
	n := newNetwork(size)
	all := make([]*Agent, size)
	for me := range all {
		processes := make([]int, size)
		for member := range processes {
			processes[member] = member
		}
		all[me] = New(processEnd{n, me}, 7, 3, processes, me)
	}
	return n, all
}

// TestAgents has members make many agreements while some of them die.
func TestAgents(t *testing.T) {
	const size, rounds = 6, 200
	n, all := agents(size)
	values := make([][]Value, size)
	errs := make([]error, size)
	var members sync.WaitGroup
	for me, a := range all {
		members.Go(func() {
			for round := range rounds {
				if me < size/2 && round == rounds/4*(me+1) {
					n.kill(me, wire.ErrDied)
					return
				}
				v, err := a.Agree(t.Context(), Flags, ^uint64(0)^1<<me, 0)
				if err != nil {
					errs[me] = fmt.Errorf("agreement %d: %w", round, err)
					return
				}
				values[me] = append(values[me], v)
			}
		})
	}
	members.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for me := range size {
		for round, v := range values[me] {
			if want := values[size-1][round]; !v.equal(want) {
				t.Errorf("agreement %d: member %d got %v, and member %d %v", round, me, v, size-1, want)
			}
		}
	}
	if last := values[size-1][rounds-1]; !slices.Equal(last.Gone.Members(), []int{0, 1, 2}) || last.Flags>>3&7 != 0 {
		t.Errorf("in the end they agree on %v", last)
	}
	for _, a := range all[size/2:] {
		if len(a.agreements) > 2 {
			t.Errorf("%d agreements are kept", len(a.agreements))
		}
	}
}

// TestCost is the number of messages of an agreement in which nobody dies.
func TestCost(t *testing.T) {
	const size = 8
	n, all := agents(size)
	agreeAll(t, all)
	if want := 4 * (size - 1); n.sent != want {
		t.Errorf("%d messages, want %d", n.sent, want)
	}
}

// agreeAll has all of some agents make an agreement, which has to succeed.
func agreeAll(t *testing.T, all []*Agent) {
	t.Helper()
	var members sync.WaitGroup
	for _, a := range all {
		members.Go(func() {
			if _, err := a.Agree(t.Context(), Flags, 0, 0); err != nil {
				t.Errorf("member %d: %v", a.me, err)
			}
		})
	}
	members.Wait()
}

// TestTimeout has a member make its call when those of the others have timed out: it gets a result all the same.
func TestTimeout(t *testing.T) {
	_, all := agents(3)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no time"))
	for me, want := range [][]int{{1, 2}, {0}} {
		_, err := all[me].Agree(ctx, Flags, 5, 0)
		var timeout *wire.TimeoutError
		if !errors.As(err, &timeout) || !slices.Equal(timeout.Waiting, want) || !errors.Is(err, context.Cause(ctx)) ||
			!errors.Is(err, context.Canceled) {
			t.Errorf("member %d: %v, want to wait for %v", me, err, want)
		}
	}
	if v, err := all[2].Agree(t.Context(), Flags, 6, 0); err != nil || v.Flags != 4 || v.Gone.Len() > 0 {
		t.Errorf("%v, %v", v, err)
	}
	agreeAll(t, all)
}

// TestLateAnswer has the coordinator die when one member has the result and another has not, and the first one return.
func TestLateAnswer(t *testing.T) {
	n, all := agents(3)
	last := processEnd{n, 2}
	last.Handle(0, 0, lossy(all[2].take, Decide))
	var early sync.WaitGroup
	for _, a := range all[:2] {
		early.Go(func() { _, _ = a.Agree(t.Context(), Flags, 1, 0) })
	}
	late := make(chan error)
	go func() {
		v, err := all[2].Agree(t.Context(), Flags, 1, 0)
		if err == nil && v.Gone.Len() > 0 {
			err = fmt.Errorf("agreed on %v", v)
		}
		late <- err
	}()
	early.Wait()
	last.Handle(0, 0, all[2].take)
	n.kill(0, wire.ErrDied)
	if err := <-late; err != nil {
		t.Error(err)
	}
}

// lossy returns a handler that loses messages of that kind.
func lossy(f func(wire.Note), k Kind) func(wire.Note) {
	return func(n wire.Note) {
		if Kind(n.Body[0]) != k {
			f(n)
		}
	}
}

// TestLeaving has a member leave during an agreement: its own call fails, and the others go on without it.
func TestLeaving(t *testing.T) {
	_, all := agents(3)
	left := make(chan error)
	go func() {
		_, err := all[0].Agree(t.Context(), Flags, 1, 0)
		left <- err
	}()
	for all[0].waiting() == 0 { // until the call is under way
		runtime.Gosched()
	}
	reason := errors.New("enough")
	all[0].Leave(reason)
	if err := <-left; err != reason {
		t.Errorf("the member that left got %v", err)
	}
	if _, err := all[0].Agree(t.Context(), Flags, 1, 0); err != reason {
		t.Errorf("afterwards it got %v", err)
	}
	ctx, cancel := all[1].While(t.Context(), newSet(3))
	var gone *wire.PeerError
	if !errors.As(context.Cause(ctx), &gone) || gone.Rank != 0 || !errors.Is(gone, wire.ErrClosed) {
		t.Errorf("a context while all are there: %v", context.Cause(ctx))
	}
	cancel()
	agreeAll(t, all[1:])
	if v, _ := all[1].Decision(1); v.Gone.Len() != 1 || v.Dead.Len() != 0 || all[1].Cause(0) != wire.ErrClosed {
		t.Errorf("agreed on %v", v)
	}
}

// waiting returns how many agreements are known.
func (a *Agent) waiting() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.agreements)
}

// Decision returns that of agreement seq.
func (a *Agent) Decision(seq uint64) (Value, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.agreements[seq].Decision()
}

// TestWhile has a member die while another one keeps a context.
func TestWhile(t *testing.T) {
	n, all := agents(4)
	n.kill(1, wire.ErrDied)
	known := newSet(4)
	known.add(1)
	ctx, cancel := all[0].While(t.Context(), known)
	defer cancel()
	if ctx.Err() != nil {
		t.Errorf("ended because of a member that is known to be gone: %v", context.Cause(ctx))
	}
	n.kill(2, wire.ErrFrozen)
	if err := context.Cause(ctx); !errors.Is(err, wire.ErrFrozen) {
		t.Errorf("got %v", err)
	}
}

// TestFenced has a member that the others go on without learn of it, from the control plane or from the result.
func TestFenced(t *testing.T) {
	n, all := agents(3)
	n.kill(2, wire.ErrFrozen, 0, 1)
	n.down[2] = nil
	agreeAll(t, all[:2])
	if _, err := all[2].Agree(t.Context(), Flags, 1, 0); err != wire.ErrFenced {
		t.Errorf("got %v", err)
	}
	n.watchers[1](1, wire.ErrFenced)
	if _, err := all[1].Agree(t.Context(), Flags, 1, 0); err != wire.ErrFenced {
		t.Errorf("got %v", err)
	}
	agreeAll(t, all[:1]) // the others do not wait for it
}

// TestNoQuorum has too few members left: all that are still there fail.
func TestNoQuorum(t *testing.T) {
	n, all := agents(4)
	n.kill(1, wire.ErrDied)
	n.kill(3, wire.ErrDied)
	for _, me := range []int{0, 2} {
		if _, err := all[me].Agree(t.Context(), Shrink, 1, 3); err != wire.ErrNoQuorum {
			t.Errorf("member %d got %v", me, err)
		}
	}
}

// TestStrangeMessages has no effect.
func TestStrangeMessages(t *testing.T) {
	_, all := agents(3)
	valid := Message{Kind: Decide, Seq: 1, Value: newValue(3)}
	far := Message{Kind: Decide, Seq: 2 + ahead, Value: newValue(3)}
	zero := Message{Kind: Decide, Value: newValue(3)}
	for _, n := range []wire.Note{
		{From: 1}, {From: 1, Body: make([]byte, 100)}, {From: 3, Body: valid.encode(3)}, {From: -1, Body: valid.encode(3)},
		{From: 0, Body: valid.encode(3)}, {From: 1, Body: far.encode(3)}, {From: 1, Body: zero.encode(3)},
		{From: 1, Body: []byte{9}, Files: []int{-1}},
	} {
		all[0].take(n)
	}
	if all[0].waiting() > 0 {
		t.Error("a strange message has begun an agreement")
	}
	agreeAll(t, all)
}

// TestManyAgents has random members of larger groups die at random points.
func TestManyAgents(t *testing.T) {
	for range 30 {
		size := 2 + rand.IntN(30)
		n, all := agents(size)
		values := make([]*Value, size)
		var members sync.WaitGroup
		for me, a := range all {
			members.Go(func() {
				if v, err := a.Agree(t.Context(), Flags, uint64(me), 0); err == nil {
					values[me] = &v
				}
			})
			if rand.IntN(4) == 0 {
				members.Go(func() {
					n.kill(me, wire.ErrDied)
					a.Leave(wire.ErrDied)
				})
			}
		}
		members.Wait()
		first := slices.IndexFunc(values, func(v *Value) bool { return v != nil })
		for me, v := range values {
			if v == nil && n.down[me] == nil || v != nil && !v.equal(*values[first]) {
				t.Errorf("member %d got %v, member %d %v", me, v, first, values[first])
			}
		}
	}
}
