package fast

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/inproc"
	"github.com/collgen/collgen/fast/internal/membership"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
)

// others returns all but some ranks.
func others(all []*Comm, but ...int) (left []*Comm) {
	for rank, c := range all {
		if !slices.Contains(but, rank) {
			left = append(left, c)
		}
	}
	return left
}

// shrinkAndUse shrinks c, and makes an all-reduce on the result, which has to have those ranks of c.
func shrinkAndUse(ctx context.Context, c *Comm, want []int, opts ...ShrinkOption) error {
	small, err := c.Shrink(ctx, opts...)
	if err != nil {
		return err
	}
	defer func() { _ = small.Close() }()
	var sum int64
	for _, rank := range want {
		sum += int64(c.process(rank))
	}
	if small.Size() != len(want) || small.Rank() != slices.Index(want, c.Rank()) {
		return fmt.Errorf("made %v of ranks %v", small, want)
	}
	return checkSum(ctx, small, int64(c.process(c.rank)), sum)
}

// TestShrink has rank 1 die while the others wait for it.
func TestShrink(t *testing.T) {
	j, all := jobOf(t, 4)
	left := others(all, 1)
	time.AfterFunc(time.Millisecond, func() { j.Plane(1).End(wire.ErrDied) })
	fasttest.CheckErrors(t, fasttest.OnAll(left, func(c *Comm) error {
		var peer *PeerError
		if err := Barrier(t.Context(), c); !errors.As(err, &peer) || peer.Rank != 1 || !errors.Is(err, ErrDied) {
			t.Errorf("%v: %v", c, err)
		}
		if err := shrinkAndUse(t.Context(), c, []int{0, 2, 3}); err != nil {
			return err
		}
		if c.State() != Failed {
			t.Errorf("%v: it is %v", c, c.State())
		}
		return nil
	}))
}

// TestShrinkOnce shrinks a communicator of which no rank has failed, also one for which memory was made before: the
// first round makes the new one, because what Alloc agrees on and what Shrink makes are not taken for each other.
func TestShrinkOnce(t *testing.T) {
	for _, w := range worlds {
		for _, allocs := range []int{0, 2 * membership.ShrinkTries} {
			t.Run(fmt.Sprintf("%s, %d allocations", w.Name, allocs), func(t *testing.T) {
				all := w.Comms(t, 3)
				fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *Comm) error {
					for range allocs {
						if _, err := Alloc[int](t.Context(), c, 10); err != nil {
							return err
						}
					}
					small, err := c.Shrink(t.Context())
					if err != nil {
						return err
					}
					defer small.Close()
					if !strings.HasSuffix(small.name, "/shrink1") {
						return fmt.Errorf("it took more than one round to make %v", small)
					}
					return checkSum(t.Context(), small, 1, 3)
				}))
				fasttest.CloseAll(t, all)
			})
		}
	}
}

// TestNumbers: a communicator cannot have a number that another one has or had.
func TestNumbers(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 2)
			const number = 77
			for _, err := range fasttest.OnAll(all, func(c *Comm) error {
				made, err := c.derive(t.Context(), number, "made", []int{0, 1})
				if err != nil {
					return err
				}
				for _, when := range []string{"in use", "used before"} {
					other, err := c.derive(t.Context(), number, "other", []int{0, 1})
					if err == nil || !strings.Contains(err.Error(), when) {
						return fmt.Errorf("%s: %v, %v", when, other, err)
					}
					if err := checkSum(t.Context(), c, 1, 2); err != nil {
						return err
					}
					_ = made.Close()
				}
				return nil
			}) {
				if err != nil {
					t.Error(err)
				}
			}
			fasttest.CloseAll(t, all)
		})
	}
}

// TestShrinkOfOthers shrinks communicators in other states, and those whose ranks are not those of the job.
func TestShrinkOfOthers(t *testing.T) {
	_, all := jobOf(t, 4)
	fasttest.CheckErrors(t, fasttest.OnAll(all,
		func(c *Comm) error { return shrinkAndUse(t.Context(), c, []int{0, 1, 2, 3}) }))
	checkHealthy(t, all)
	fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *Comm) error {
		back, err := c.Split(t.Context(), 0, -c.Rank())
		if err != nil {
			return err
		}
		if c.Rank() == 0 { // rank 3 there
			return back.Close()
		}
		if err := back.Revoke(); err != nil {
			return err
		}
		return shrinkAndUse(t.Context(), back, []int{0, 1, 2})
	}))
}

// TestRevoke has two ranks wait for a third one, which waits for nobody.
func TestRevoke(t *testing.T) {
	_, all := jobOf(t, 3)
	for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
		if c.Rank() == 2 {
			return errors.Join(c.Revoke(), c.Revoke())
		}
		return Barrier(t.Context(), c)
	}) {
		if rank < 2 != errors.Is(err, ErrRevoked) || all[rank].State() != Revoked {
			t.Errorf("rank %d, which is %v: %v", rank, all[rank].State(), err)
		}
		if err := Barrier(t.Context(), all[rank]); !errors.Is(err, ErrRevoked) {
			t.Errorf("rank %d, later: %v", rank, err)
		}
	}
	fasttest.CheckErrors(t, fasttest.OnAll(all,
		func(c *Comm) error { return shrinkAndUse(t.Context(), c, []int{0, 1, 2}) }))
	_ = all[0].Close()
	if err := all[0].Revoke(); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// TestFencedRank has all others take rank 2 for dead, which it is not.
func TestFencedRank(t *testing.T) {
	j, all := jobOf(t, 4)
	j.Plane(0).Fence(2, wire.ErrFrozen)
	for rank, err := range fasttest.OnAll(all,
		func(c *Comm) error { return shrinkAndUse(t.Context(), c, []int{0, 1, 3}) }) {
		if rank == 2 != errors.Is(err, ErrFenced) || rank != 2 && err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	if err := Barrier(t.Context(), all[2]); !errors.Is(err, ErrFenced) {
		t.Errorf("a later call of the rank that is fenced: %v", err)
	}
	for _, rank := range []int{0, 1, 3} {
		if err := j.Plane(rank).Down(2); err == nil {
			t.Errorf("rank %d has not fenced rank 2", rank)
		}
	}
}

// cutPlane is a control plane over a network that may be cut: then the processes of the other side do not answer.
type cutPlane struct {
	*inproc.Plane
	mu       sync.Mutex
	beyond   map[int]bool
	watchers []func(process int, err error)
}

func (p *cutPlane) Send(to int, t wire.Topic, body []byte, files ...int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.beyond[to] {
		p.Plane.Send(to, t, body, files...)
	}
}

func (p *cutPlane) Watch(f func(process int, err error)) (stop func()) {
	p.mu.Lock()
	p.watchers = append(p.watchers, f)
	beyond := slices.Collect(maps.Keys(p.beyond))
	p.mu.Unlock()
	for _, process := range beyond {
		f(process, wire.ErrFrozen)
	}
	return p.Plane.Watch(f)
}

func (p *cutPlane) Fence(process int, err error) {
	if p.Down(process) == nil {
		p.Plane.Fence(process, err)
	}
}

func (p *cutPlane) Down(process int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.beyond[process] {
		return wire.ErrFrozen
	}
	return p.Plane.Down(process)
}

func (p *cutPlane) cut(process int) {
	p.mu.Lock()
	p.beyond[process] = true
	watchers := slices.Clone(p.watchers)
	p.mu.Unlock()
	for _, f := range watchers {
		f(process, wire.ErrFrozen)
	}
}

// cutJob returns ranks whose network is cut between the first ones and the others.
func cutJob(t *testing.T, size, first int) []*Comm {
	j, all := jobOf(t, size)
	for _, c := range all {
		c.world.plane = &cutPlane{Plane: j.Plane(c.rank), beyond: make(map[int]bool)}
		c.membership = membership.New(agreeing{c}, c.world.plane, c.id, c.name, c.rank, c.size, c.processes)
		c.unwatch()
		c.unwatch = c.world.plane.Watch(c.lost)
	}
	for p := range first {
		for q := first; q < size; q++ {
			all[p].world.plane.(*cutPlane).cut(q)
			all[q].world.plane.(*cutPlane).cut(p)
		}
	}
	return all
}

// TestPartition cuts the network: without a quorum both sides go on, with one the smaller side fails.
func TestPartition(t *testing.T) {
	high := []int{2, 3, 4}
	sides := map[bool][]int{false: {0, 1}, true: high}
	for rank, err := range fasttest.OnAll(cutJob(t, 5, 2), func(c *Comm) error {
		return shrinkAndUse(t.Context(), c, sides[c.Rank()/2 > 0])
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	for rank, err := range fasttest.OnAll(cutJob(t, 5, 2), func(c *Comm) error {
		return shrinkAndUse(t.Context(), c, high, WithQuorum(3))
	}) {
		if rank < 2 != errors.Is(err, ErrNoQuorum) || rank >= 2 && err != nil {
			t.Errorf("with a quorum, rank %d: %v", rank, err)
		}
	}
}

// TestShrinkEnds has rank 2 not call Shrink: the others' calls end with their contexts, Abort or Close.
func TestShrinkEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, all := jobOf(t, 3)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		time.AfterFunc(time.Second, all[1].Abort)
		errs := fasttest.OnAll(all[:2], func(c *Comm) error { _, err := c.Shrink(ctx); return err })
		var timeout *TimeoutError
		if !errors.As(errs[0], &timeout) || !slices.Equal(timeout.Waiting, []int{2}) || !errors.Is(errs[1], ErrAborted) {
			t.Errorf("got %v", errs)
		}
		// Rank 0 calls again, and rank 2 for the first time.
		fasttest.CheckErrors(t, fasttest.OnAll(others(all, 1),
			func(c *Comm) error { return shrinkAndUse(t.Context(), c, []int{0, 2}) }))
	})
}

// TestShrinkWithoutMemory has rank 1 fail to make its part of the new communicator, once or always.
func TestShrinkWithoutMemory(t *testing.T) {
	for times := range membership.ShrinkTries + 1 {
		_, all := jobOf(t, 3)
		found, tries := all[1].world.create, 0
		all[1].world.create = func(ctx context.Context, id uint64, rank int, members []int) (transport.Transport, error) {
			if tries++; tries > times {
				return found(ctx, id, rank, members)
			}
			made, err := found(ctx, id, rank, members)
			if err != nil {
				return nil, err
			}
			return nil, errors.Join(errors.New("no memory"), made.Close())
		}
		for rank, err := range fasttest.OnAll(all,
			func(c *Comm) error { return shrinkAndUse(t.Context(), c, []int{0, 1, 2}) }) {
			want := map[bool]string{true: "no memory", false: "other ranks could not make the communicator"}[rank == 1]
			if times < membership.ShrinkTries && err != nil || times == membership.ShrinkTries &&
				(err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%d failures, rank %d: %v", times, rank, err)
			}
		}
	}
}

// TestShrinkRounds kills ranks until one is left, in a third of the rounds a second one during Shrink.
func TestShrinkRounds(t *testing.T) {
	rounds := 0
	for rounds < 100 {
		rounds += shrinkToOne(t, 2+rand.IntN(6))
	}
	t.Logf("%d rounds", rounds)
}

// shrinkToOne kills all ranks but one of a job, and gives the number of rounds that took.
func shrinkToOne(t *testing.T, size int) (rounds int) {
	j, all := jobOf(t, size)
	deaths := make([]death, size) // by rank
	order := rand.Perm(size)
	left := size
	for i := 0; i < size-1; i++ {
		deaths[order[i]] = death{size: left, calls: rand.IntN(4)}
		if rounds++; rand.IntN(3) == 0 && i+1 < size-1 {
			i++
			deaths[order[i]] = death{size: left, during: true}
			left--
		}
		left--
	}
	last := order[size-1]
	fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *Comm) error {
		m := &mortal{death: deaths[c.rank], plane: j.Plane(c.rank)}
		m.ctx, m.cancel = context.WithCancel(t.Context())
		defer m.cancel()
		err := m.live(c)
		if m.died.Load() {
			return nil
		}
		if c.rank != last {
			err = errors.Join(err, fmt.Errorf("it should have died: %+v", m.death))
		}
		return err
	}))
	return rounds
}

// death is when a rank dies: in a communicator of that size, after a number of calls or during the Shrink that follows.
type death struct {
	size, calls int
	during      bool
}

// mortal is a rank that dies.
type mortal struct {
	death
	plane  *inproc.Plane
	ctx    context.Context
	cancel context.CancelFunc
	died   atomic.Bool
}

func (m *mortal) die() {
	m.died.Store(true)
	m.plane.End(wire.ErrDied)
	m.cancel()
}

// live makes all-reduces, and shrinks the communicator when one fails, until the rank dies or is the only one left.
func (m *mortal) live(c *Comm) error {
	for calls := 0; c.Size() > 1; calls++ {
		if m.size >= c.Size() && !m.during && calls >= m.calls {
			m.die()
			return nil
		}
		err := checkSum(m.ctx, c, 1, int64(c.Size()))
		if err == nil {
			continue
		}
		var peer *PeerError
		if !errors.As(err, &peer) {
			return err
		}
		if m.size >= c.Size() && m.during {
			time.AfterFunc(time.Duration(rand.IntN(300))*time.Microsecond, m.die)
		}
		if c, err = m.shrink(c); err != nil {
			return err
		}
		calls = -1
	}
	if m.size > 0 {
		m.die()
	}
	return c.Close()
}

func (m *mortal) shrink(c *Comm) (*Comm, error) {
	small, err := c.Shrink(m.ctx)
	return small, errors.Join(err, c.Close())
}

// TestShrinkQuorumAgain: when a Shrink goes on that has not ended in its context, the quorum of the later call counts.
func TestShrinkQuorumAgain(t *testing.T) {
	all := comms(t, 3)
	defer leaveAll(all)
	for rank, err := range fasttest.OnAll(all[:2], func(c *Comm) error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := c.Shrink(ctx)
		return err
	}) {
		if !errors.As(err, new(*TimeoutError)) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	_ = all[2].Close()
	for rank, err := range fasttest.OnAll(all[:2], func(c *Comm) error {
		d, err := c.Shrink(t.Context(), WithQuorum(3))
		if err == nil {
			_ = d.Close()
		}
		return err
	}) {
		if !errors.Is(err, ErrNoQuorum) {
			t.Errorf("rank %d: %v, want ErrNoQuorum", rank, err)
		}
	}
}
