package fast

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/collgen/collgen/fast/internal/bootstrap"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/fork"
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
