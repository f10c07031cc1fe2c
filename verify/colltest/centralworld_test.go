package colltest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/collgen/collgen/verify/colltest"
)

// world is the ranks of a central implementation, with the communicators that they have made.
type world struct {
	all    *room
	splits map[int]*split
	rooms  map[string]*room  // by the ranks, if communicators share them
	queues [][]colltest.Wait // by rank, of the calls that have begun
	starts sync.Map          // of persistent calls, by rank, primitive and counts
	plans  []*prepared       // by rank, the persistent call that was prepared last
	opened []int             // by rank, how many persistent calls were prepared
	closed []int             // by rank, how many persistent calls were closed
	places sync.Map          // of persistent calls, by planKey
}

func newWorld(f fault, byRef bool, size int) *world {
	return &world{all: newRoom(f, byRef, size), splits: map[int]*split{}, rooms: map[string]*room{},
		queues: make([][]colltest.Wait, size), plans: make([]*prepared, size), opened: make([]int, size),
		closed: make([]int, size)}
}

func (w *world) Close() error { return nil }

// on returns the room of a call, and the rank's place in it.
func (w *world) on(rank int, c *colltest.Call) (*room, int) {
	if c.Comm == 0 {
		return w.all, rank
	}
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	s := w.splits[c.Comm]
	color := s.colors[rank]
	r, members := s.rooms[color], s.members(color)
	isAll := len(members) == w.all.size && slices.IsSorted(members)
	if n := w.all.mailboxes; n > 0 && c.Comm%n == 0 && c.Tag > 0 && isAll {
		return w.all, rank
	}
	if name := fmt.Sprint(members); w.all.oneRoom && w.rooms[name] == nil {
		w.rooms[name] = r
	} else if w.all.oneRoom {
		r = w.rooms[name]
	}
	return r, slices.Index(members, rank)
}

func (w *world) Call(ctx context.Context, rank int, c *colltest.Call) error {
	r, place := w.on(rank, c)
	return r.call(ctx, place, c)
}

// Start joins the rounds of calls at once, and leaves the rest to those that wait.
func (w *world) Start(ctx context.Context, rank int, calls ...*colltest.Call) (waits []colltest.Wait) {
	if w.all.together != nil {
		w.all.together(calls)
	}
	var begun []*round
	for i, c := range calls {
		r, place := w.on(rank, c)
		if w.all.batchTag {
			c.Tag = calls[0].Tag
		}
		round, err := r.start(ctx, place, c)
		if begun = append(begun, round); err == nil && r.eager {
			err = r.end(ctx, place, c, round)
		}
		waits = append(waits, func(ctx context.Context) error {
			if r.losesErrors && begun[i] == nil {
				return nil
			}
			if err != nil || r.eager {
				return err
			}
			return r.end(ctx, place, c, begun[i])
		})
	}
	if w.all.batch != nil {
		w.all.batch(rank, begun)
	}
	if n := w.all.handles; n > 0 {
		for i, wait := range waits {
			w.queues[rank] = append(w.queues[rank], wait)
			handle := (len(w.queues[rank]) - 1) % n
			waits[i] = func(ctx context.Context) error {
				last := len(w.queues[rank]) - 1
				return w.queues[rank][last-(last-handle)%n](ctx)
			}
		}
	}
	if w.all.fifo {
		w.queues[rank] = append(w.queues[rank], waits...)
		for i := range waits {
			waits[i] = func(ctx context.Context) error {
				first := w.queues[rank][0]
				w.queues[rank] = w.queues[rank][1:]
				return first(ctx)
			}
		}
	}
	return waits
}

func (w *world) Prepare(_ context.Context, rank int, c *colltest.Call) (colltest.Prepared, error) {
	if w.all.cachesStarts && c.OutStarts != nil {
		starts, _ := w.starts.LoadOrStore(fmt.Sprint(rank, c.Primitive, c.OutCounts), c.OutStarts)
		cached := *c
		if cached.OutStarts = starts.([]int); end(cached.OutStarts, c.OutCounts) <= end(c.OutStarts, c.OutCounts) {
			c = &cached
		}
	}
	if w.all.untagged {
		c.Tag = 0
	}
	p := &prepared{w: w, rank: rank, c: c, closed: w.closed[rank], at: planKey{rank, w.opened[rank] - w.closed[rank]}}
	w.opened[rank]++
	w.places.Store(p.at, p)
	w.plans[rank] = p
	return p, nil
}

// end returns how many elements blocks and their gaps take.
func end(starts, counts []int) (end int) {
	for i, n := range counts {
		end = max(end, starts[i]+n)
	}
	return end
}

// prepared is a persistent call.
type prepared struct {
	w     *world
	rank  int
	c     *colltest.Call
	times int

	closed int // how many others were closed before
	at     planKey
}

// planKey is a rank's place of a persistent call.
type planKey struct{ rank, place int }

func (p *prepared) Start(ctx context.Context) colltest.Wait {
	if p.w.all.onePlan {
		p = p.w.plans[p.rank]
	}
	if p.w.all.reusesPlans {
		at, _ := p.w.places.Load(p.at)
		p = at.(*prepared)
	}
	if p.w.all.closesAll && p.w.closed[p.rank] > p.closed {
		return func(context.Context) error { return errors.New("it was closed") }
	}
	wait := p.w.Start(ctx, p.rank, p.c)[0]
	return func(ctx context.Context) error {
		err := wait(ctx)
		if p.times++; p.w.all.again != nil {
			p.w.all.again(p.times, p.c)
		}
		return err
	}
}

func (p *prepared) Close() error {
	p.w.closed[p.rank]++
	return nil
}

// split is communicators by color.
type split struct {
	colors  map[int]int // by rank
	keys    map[int]int
	missing int
	full    chan struct{}
	rooms   map[int]*room // by color
}

func (s *split) members(color int) (ranks []int) {
	for rank := range len(s.colors) {
		if s.colors[rank] == color {
			ranks = append(ranks, rank)
		}
	}
	slices.SortStableFunc(ranks, func(a, b int) int { return cmp.Compare(s.keys[a], s.keys[b]) })
	return ranks
}

func (w *world) Split(ctx context.Context, rank, comm, color, key int) error {
	r := w.all
	r.mu.Lock()
	s := w.splits[comm]
	if s == nil {
		s = &split{colors: map[int]int{}, keys: map[int]int{}, missing: r.size, full: make(chan struct{}),
			rooms: map[int]*room{}}
		w.splits[comm] = s
	}
	if r.key != nil {
		key = r.key(key)
	}
	if r.color != nil {
		color = r.color(color)
	}
	s.colors[rank], s.keys[rank] = color, key
	if s.missing--; s.missing == 0 {
		for _, color := range s.colors {
			s.rooms[color] = newRoom(r.fault, r.byRef, len(s.members(color)))
		}
		if r.dropsOnSplit {
			w.drop()
		}
		close(s.full)
	}
	r.mu.Unlock()
	select {
	case <-s.full:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *world) Free(context.Context, int, int) error {
	if w.all.dropsOnFree {
		w.all.mu.Lock()
		defer w.all.mu.Unlock()
		w.drop()
	}
	return nil
}

// drop drops the messages that were not received, of all ranks. Its caller holds w.all.mu.
func (w *world) drop() {
	for key, round := range w.all.rounds {
		if key.root >= 0 && round.missing > 0 {
			delete(w.all.rounds, key)
		}
	}
}
