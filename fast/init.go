package fast

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/collgen/collgen/fast/internal/bootstrap"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/inproc"
	"github.com/collgen/collgen/fast/internal/store"
	"github.com/collgen/collgen/fast/internal/wire"
)

// initTime is how long Init and Join wait for the other ranks if their context has no deadline.
const initTime = time.Minute

// Init connects this process with those of all other ranks, and returns when all of them are connected. Ranks on one
// host share memory, which needs Linux. Others use TCP, or RDMA if it is asked for (WithRDMADevice). If all ranks are
// on one host, they need no network.
//
// Ranks prove to each other that they belong to the job: by the secret or the certificates given as options, or by a
// secret that their store hands out.
//
// Init ends with ctx, or after a minute if ctx has no deadline. It fails with ErrInvalidArgument for an option that is
// wrong; with a *TimeoutError that names the ranks which did not come; with a *PeerError that names one which died; or
// with an error in words. If it fails on one rank, it fails on all. There is one exception: if a process dies at the
// very end, Init may succeed on some ranks, and their next call fails.
//
// The death of a process during Init is detected when nobody listens at its address any more, which takes up to half a
// second on one host and three seconds over TCP. If the process has not published its address, Init waits until ctx
// ends. The caller closes the Comm.
func Init(ctx context.Context, opts ...InitOption) (*Comm, error) {
	p, err := newInitConfig(ctx, opts)
	if err != nil {
		return nil, err
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, initTime)
		defer cancel()
	}
	watched, stop := flight.Warner{Log: p.Logger(), Slow: p.slow}.Watch(ctx, "Init", "comm", "world", "rank", p.Rank,
		"size", p.Size)
	connector, err := p.Connect(watched)
	stop()
	if err != nil {
		return nil, fmt.Errorf("connecting rank %d of %d: %w", p.Rank, p.Size, err)
	}
	w := p.newWorld(connector)
	c, err := w.first(ctx, p.Size)
	if err != nil {
		return nil, errors.Join(err, w.plane.Close())
	}
	return c, nil
}

// newInitConfig returns the configuration that opts make, and refuses options that are wrong or contradict each other.
func newInitConfig(ctx context.Context, opts []InitOption) (*initConfig, error) {
	switch {
	case ctx == nil:
		return nil, wire.Refuse("Init", "the context is nil")
	case fork.Child():
		return nil, ErrForked
	}
	p := new(initConfig)
	if err := p.apply("Init", opts); err != nil {
		return nil, err
	}
	return p, p.Check()
}

// CheckRDMA returns the ports of RDMA devices that a process on this host would use with [WithRDMADevice], in the form
// of that option, with all settings:
// "mlx5_0:1,gid=10.0.0.7,gid=v2,mtu=4096,tc=0,sl=0,pkey=0,retry=5,timeout=67.108864ms". If there are none, its error
// has the reasons. Like Init, it registers memory, and has a queue pair write to itself. If a driver hangs, its device
// is given up after ten seconds for each step.
func CheckRDMA(ctx context.Context, devices string) (ports []string, err error) {
	return bootstrap.CheckRDMA(ctx, devices)
}

// ServeStore keeps the store of one job at l, for ranks that are given its address by WithStoreAddress("tcp://…"). Of
// the options, those for the job's name, its epoch, and its secret or certificate count. A secret or a certificate is
// required; the certificate has the DNS name "store.<job>". ServeStore returns nil when ctx ends, or the failure of l.
// It closes l.
func ServeStore(ctx context.Context, l net.Listener, opts ...InitOption) error {
	var p initConfig
	for _, o := range opts {
		if o != nil {
			o(&p)
		}
	}
	if p.err != nil {
		_ = l.Close()
		return p.err
	}
	return p.ServeStore(ctx, l)
}

// Store is where the processes of a job leave their addresses for the others while they start. Keys have at most 200
// bytes and values at most 64 KiB. All methods may be called at any time, from many goroutines.
//
// A Store need not be trusted: its contents are authenticated by the job's secret, which it does not see. A Store that
// can give the same 32 secret bytes to all processes of the job, and to nobody else, has one more method:
//
//	Secret(ctx context.Context) ([]byte, error)
type Store interface {
	// Set sets or replaces the value under key. It keeps a copy.
	Set(ctx context.Context, key string, value []byte) error
	// Get waits until there is a value under key, or until ctx ends.
	Get(ctx context.Context, key string) ([]byte, error)
	// Delete removes key and its value. A missing key is no error.
	Delete(ctx context.Context, key string) error
}

// MaxStoreKey and MaxStoreValue are the limits of a Store's keys and values, in bytes.
const (
	MaxStoreKey   = store.MaxKey
	MaxStoreValue = store.MaxValue
)

// CheckStoreEntry returns an error if key is empty or too long, or value is too long. Implementations of Store call it.
func CheckStoreEntry(key string, value []byte) error { return store.Check(key, value) }

// NewMemoryStore returns a Store for ranks that are goroutines of one process. It has a random secret for them.
func NewMemoryStore() Store { return store.NewMemory() }

// maxGoroutines is the most ranks that Run starts: memory grows with their square.
const maxGoroutines = 4096

// errLeft is the error of a rank whose function did not return: it called runtime.Goexit, as testing's FailNow does, or
// it is panicking.
var errLeft = errors.New("the rank's function did not return")

// Run calls f once for each of n ranks, each in its own goroutine with its own Comm, and waits for all of them. Each
// rank's Comm is closed when its f returns.
//
// The first rank whose f returns an error, or leaves by runtime.Goexit, ends the context of the others and aborts the
// communicator. Run's error names that rank first; errors of other ranks are joined to it, except those that merely
// follow from it. A panic of f is not recovered: it ends the program, as a panic does in any goroutine.
//
// Of the options of Init, those on tuning, the logger, traces, events and slow calls count; the others have no meaning.
func Run(ctx context.Context, n int, f func(ctx context.Context, c *Comm) error, opts ...InitOption) error {
	switch {
	case ctx == nil:
		return wire.Refuse("Run", "the context is nil")
	case f == nil:
		return wire.Refuse("Run", "the function is nil")
	case n < 1 || n > maxGoroutines:
		return wire.Refuse("Run", "%d ranks, want 1 to %d", n, maxGoroutines)
	}
	p := new(initConfig)
	if err := p.apply("Run", opts); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	failures := failures{cancel: cancel}
	job := inproc.NewJob(n)
	defer job.Close()
	var all sync.WaitGroup
	for rank := range n {
		all.Go(func() {
			failures.watch(p.goroutineWorld(job.Plane(rank), n), n, func(c *Comm) error { return f(ctx, c) })
		})
	}
	all.Wait()
	return errors.Join(failures.errs...)
}

// failures collects the errors of ranks.
type failures struct {
	cancel context.CancelCauseFunc
	mu     sync.Mutex
	errs   []error
	first  *PeerError // the cause of the others' canceled contexts
}

// watch runs the function of the rank whose world is w.
func (l *failures) watch(w *world, n int, f func(c *Comm) error) {
	rank := w.plane.Self()
	c, err := w.first(context.Background(), n)
	if err != nil { // another rank has left before this one began
		l.add(rank, err)
		return
	}
	err = errLeft
	defer func() {
		if err != nil {
			l.add(rank, err)
			c.abort(err)
		}
		if closed := c.Close(); err == nil && closed != nil { // a call that could not be started, which nobody has waited for
			l.add(rank, closed)
		}
		_ = w.plane.Close() // if it has left others open
	}()
	err = f(c)
}

func (l *failures) add(rank int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first == nil {
		l.first = &PeerError{Rank: rank, Err: err}
		l.cancel(l.first)
	} else if l.isConsequence(err) {
		return
	}
	l.errs = append(l.errs, fmt.Errorf("rank %d: %w", rank, err))
}

// isConsequence reports whether err says no more than that the first failure ended the other ranks' calls.
func (l *failures) isConsequence(err error) bool {
	return errors.Is(err, l.first) || errors.Is(err, ErrAborted) || errors.Is(err, context.Canceled)
}
