package fast

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/deadlock"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/inproc"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/tsc"
	"github.com/collgen/collgen/fast/internal/wire"
)

// halted is a transport whose Exchange waits for the ranks that a test says, until it is failed.
type halted struct {
	waits []int
	moved atomic.Uint64
	fails chan error

	nudges chan struct{}
}

func (h *halted) Begin(wire.Mark) {}

func (h *halted) Exchange(ctx context.Context, _ []wire.Send, _ []wire.Recv) error {
	select {
	case err := <-h.fails:
		return err
	case <-ctx.Done():
		return &wire.TimeoutError{Waiting: h.waits, Err: context.Cause(ctx)}
	}
}

// Post keeps nothing: no message is ever over.
func (h *halted) Post([]wire.Send, []wire.Recv) error { return nil }

// Progress waits as Exchange does.
func (h *halted) Progress(ctx, until context.Context) error {
	select {
	case <-until.Done():
		return nil
	case <-h.nudges:
		return nil
	default:
	}
	select {
	case err := <-h.fails:
		return err
	case <-ctx.Done():
		return &wire.TimeoutError{Waiting: h.waits, Err: context.Cause(ctx)}
	case <-until.Done():
	case <-h.nudges:
	}
	return nil
}

func (h *halted) Nudge() {
	select {
	case h.nudges <- struct{}{}:
	default:
	}
}

func (h *halted) Waiting() []int { return slices.Clone(h.waits) }
func (h *halted) Moved() uint64  { return h.moved.Load() }
func (h *halted) Close() error   { return nil }

func (h *halted) Fail(err error) {
	select {
	case h.fails <- err:
	default:
	}
}

// silent is a plane that drops probes.
type silent struct{ control.Plane }

func (s silent) Send(to int, topic wire.Topic, body []byte, files ...int) {
	if topic.Kind != control.KindProbe {
		s.Plane.Send(to, topic, body, files...)
	}
}

// halt makes ranks that wait for each other as waits says, with real control planes, of which over may make others.
func halt(t *testing.T, waits [][]int, times deadlock.Limits, over func(rank int, p control.Plane) control.Plane) (
	[]*Comm, []*halted) {
	job, ends := inproc.NewJob(len(waits)), make([]*halted, len(waits))
	all := fasttest.Begin(t, len(waits), func(rank int) (*Comm, error) {
		ends[rank] = &halted{waits: waits[rank], fails: make(chan error, 1), nudges: make(chan struct{}, 1)}
		w := &world{
			plane:  over(rank, job.Plane(rank)),
			create: func(context.Context, uint64, int, []int) (transport.Transport, error) { return ends[rank], nil },
			record: flight.New(flight.Config{Operations: 16, Interval: times.Still / 2, Clock: tsc.OfTime()}),
			limits: times,
		}
		return w.first(t.Context(), len(waits))
	})
	return all, ends
}

// ring is whom the ranks of a ring of three wait for.
var ring = [][]int{{1}, {2}, {0}}

// A waiting is a call of a rank that waits for another.
type waiting func(ctx context.Context, c *Comm, other int) error

func receives(ctx context.Context, c *Comm, from int) error {
	return Recv(ctx, c, make([]int32, 1), from)
}
func sends(ctx context.Context, c *Comm, to int) error { return Send(ctx, c, make([]int32, 1), to) }

// adds makes an AllReduce, whomever the rank waits for.
func adds(ctx context.Context, c *Comm, _ int) error { return AllReduce(ctx, c, make([]int32, 1), Sum) }

// givesRoot makes a Reduce to rank 0, and takesRoot a Broadcast from it.
func givesRoot(ctx context.Context, c *Comm, _ int) error {
	return Reduce(ctx, c, make([]int32, 1), Sum, 0)
}
func takesRoot(ctx context.Context, c *Comm, _ int) error {
	return Broadcast(ctx, c, make([]int32, 1), 0)
}

// hasSent receives, and has a message on its way to the rank before it.
func hasSent(ctx context.Context, c *Comm, from int) error {
	StartSend(ctx, c, make([]int32, 1), (c.Rank()+c.Size()-1)%c.Size())
	return StartRecv(ctx, c, make([]int32, 1), from).Wait(context.Background())
}

// alsoNothing receives a message that is on its way, and one without bytes.
func alsoNothing(ctx context.Context, c *Comm, from int) error {
	h := StartRecv(ctx, c, make([]int32, 1), from)
	StartRecv(ctx, c, []int32{}, from)
	return h.Wait(context.Background())
}

// sendsBesideNothing sends, and receives a message without bytes.
func sendsBesideNothing(ctx context.Context, c *Comm, other int) error {
	h := StartSend(ctx, c, make([]int32, 1), other)
	StartRecv(ctx, c, []int32{}, other)
	return h.Wait(context.Background())
}

// longWait is many times as long as it takes to find a ring.
const longWait = 10 * time.Minute

// aWhile has all ranks wait for another one, as calls say, for longer than a search takes, in which f is called every
// two seconds. It gives how long it took, and the errors.
func aWhile(t *testing.T, all []*Comm, ends []*halted, calls []waiting, f func()) (time.Duration, []error) {
	ctx, cancel := context.WithTimeout(t.Context(), longWait)
	start := time.Now()
	var ticker sync.WaitGroup
	ticker.Go(func() {
		for ctx.Err() == nil {
			time.Sleep(2 * time.Second)
			f()
		}
	})
	defer ticker.Wait()
	defer cancel()
	errs := fasttest.OnAll(all, func(c *Comm) error { return calls[c.Rank()%len(calls)](ctx, c, ends[c.Rank()].waits[0]) })
	return time.Since(start), errs
}

// TestChase: a ring of sends in which nothing moves is found; one that the messages of a rank do not reach, or in which
// something moves, is not. A rank that believes a ring that it has seen twice in a row, however soon, is caught. A ring
// that can be proved is found soon, whatever moves, unless a rank has begun what another one waits for.
func TestChase(t *testing.T) {
	for _, x := range []struct {
		what   string
		waits  [][]int
		calls  []waiting // by rank, or all in one
		times  deadlock.Limits
		moves  bool
		drops  bool
		chosen bool // it is found
		soon   bool // before the search that takes time begins
		other  bool // it is no deadlock of messages alone
	}{
		{what: "a ring", waits: ring, calls: []waiting{sends}, chosen: true},
		{what: "a ring beside which a rank waits", waits: [][]int{{1}, {2}, {0}, {0}}, calls: []waiting{sends}, chosen: true},
		{what: "two that receive from each other, which is their transports' to find", waits: [][]int{{1}, {0}, {0}},
			calls: []waiting{receives}},
		{what: "a rank that moves now and then", waits: ring, calls: []waiting{sends}, moves: true},
		{what: "planted: a ring is believed at once", waits: ring, calls: []waiting{sends}, moves: true,
			times: deadlock.Limits{Holds: 1}, chosen: true},
		{what: "planted: a rank passes nothing on", waits: ring, calls: []waiting{sends}, drops: true},

		{what: "all receive", waits: ring, calls: []waiting{receives}, chosen: true, soon: true},
		{what: "all receive, beside them a rank", waits: [][]int{{1}, {2}, {0}, {0}}, calls: []waiting{receives},
			chosen: true, soon: true},
		{what: "all receive, and a rank moves now and then", waits: ring, calls: []waiting{receives}, moves: true,
			chosen: true, soon: true},
		{what: "all receive, and nobody hears one of them", waits: ring, calls: []waiting{receives}, drops: true},
		{what: "all receive, and one has sent", waits: ring, calls: []waiting{receives, hasSent, receives}},
		{what: "all receive, and one has sent to one that receives nothing besides", waits: ring,
			calls: []waiting{alsoNothing, hasSent, receives}, moves: true},
		{what: "one sends slowly, and receives nothing besides", waits: ring, calls: []waiting{sendsBesideNothing, receives,
			receives}, moves: true},
		{what: "a receive against a collective", waits: ring, calls: []waiting{adds, receives, adds}, chosen: true,
			soon: true, other: true},
		{what: "two receives against a collective", waits: ring, calls: []waiting{adds, receives, receives}, chosen: true,
			soon: true, other: true},
		{what: "a receive against the collective of a root", waits: [][]int{{1}, {0}, {1}},
			calls:  []waiting{givesRoot, receives, givesRoot},
			chosen: true, soon: true, other: true},
		{what: "the root receives from one that needs it", waits: [][]int{{1}, {2}, {0}},
			calls:  []waiting{receives, takesRoot, takesRoot},
			chosen: true, soon: true, other: true},
		{what: "the root receives from one that may go on without it", waits: [][]int{{1}, {2}, {2}},
			calls: []waiting{receives, givesRoot, givesRoot}},
	} {
		synctest.Test(t, func(t *testing.T) {
			all, ends := halt(t, x.waits, x.times, func(rank int, p control.Plane) control.Plane {
				if x.drops && rank == 1 {
					return silent{p}
				}
				return p
			})
			took, errs := aWhile(t, all, ends, x.calls, func() {
				if x.moves {
					ends[1].moved.Add(1)
				}
			})
			t.Logf("%s: %v, %v", x.what, took, errs[0])
			for rank, err := range errs {
				var d *DeadlockError
				if in := rank < 3 && !x.other; errors.As(err, &d) != (x.chosen && in) && !(x.chosen && errors.Is(err, ErrAborted)) {
					t.Errorf("%s: rank %d after %v: %v", x.what, rank, took, err)
				}
			}
			found := errors.Is(errors.Join(errs...), ErrDeadlock)
			if x.other {
				found = slices.ContainsFunc(errs,
					func(err error) bool { _, own := failure.Within[*MismatchError](err); return own })
			}
			if x.chosen && (took == longWait || !found) || x.soon && took >= time.Second {
				t.Errorf("%s: it is not found, or late: %v, %v", x.what, took, errs)
			}
			leaveAll(all)
			synctest.Wait()
		})
	}
}
