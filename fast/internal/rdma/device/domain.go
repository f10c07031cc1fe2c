//go:build linux && cgo && !netgo

package device

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/verbs"
)

// domain is an endpoint's share of a port.
type domain struct {
	context *verbs.Context
	port    verbs.Port
	gid     verbs.GID
	options Options
	pd      *verbs.PD
	channel *verbs.Channel
	cq      *verbs.CQ
	polled  [32]verbs.Completion
	ready   atomic.Bool // all of the above exists
	woken   atomic.Bool
	failed  atomic.Pointer[error] // of the device, port or completion queue
}

// spins is how often a patient Poll polls, on all rails together: for a microsecond or two.
const spins = 32

// Open opens the port that o names, as Find does. It fails if a driver hangs for longer than the limit, or ctx ends.
// Where there is no RDMA, the error is verbs.ErrUnavailable.
func Open(ctx context.Context, o Options) (rdma.Domain, error) {
	ctx, cancel := o.limited(ctx)
	defer cancel()
	what := fmt.Sprintf("open port %d of %s", o.Port, o.Device)
	d, err := within(ctx, what, func() (*domain, error) { return open(o) }, (*domain).discard)
	if err != nil {
		return nil, err
	}
	return d, nil
}

func open(o Options) (*domain, error) {
	d := &domain{options: o}
	var err error
	if d.context, err = verbs.Open(o.Device, d.notify); err != nil {
		return nil, err
	}
	if err := d.create(); err != nil {
		return nil, errors.Join(err, d.context.Close())
	}
	d.ready.Store(true)
	return d, nil
}

func (d *domain) discard() { _ = d.Close() }

func (d *domain) create() (err error) {
	if d.port, err = d.context.Port(d.options.Port); err != nil {
		return err
	}
	if d.port.State != verbs.PortActive {
		return fmt.Errorf("RDMA device %s: the port is %v", d.Name(), d.port.State)
	}
	gids, err := d.context.GIDs(d.port.Number)
	if err != nil {
		return err
	}
	if d.gid, err = verbs.ChooseGID(gids, d.options.GIDType, d.options.Address); err != nil {
		return fmt.Errorf("RDMA device %s: %w", d.Name(), err)
	}
	if d.port.MTU, err = bounded(d.port.MTU, d.options.MTU); err != nil {
		return err
	}
	if err = d.checkCompletions(d.options.Completions); err != nil {
		return err
	}
	if d.channel, err = d.context.CreateChannel(); err != nil {
		return err
	}
	if d.cq, err = d.context.CreateCQ(d.options.Completions, d.channel); err != nil {
		return err
	}
	d.pd, err = d.context.AllocPD()
	return err
}

// checkCompletions returns an error if the device's completion queues cannot hold that many completions: it would drop
// some.
func (d *domain) checkCompletions(completions int) error {
	a, err := d.context.Attributes()
	if err == nil && completions > a.MaxCQE {
		err = fmt.Errorf("RDMA device %s: one of its completion queues holds %d completions, and connections to so many "+
			"ranks may have %d at once",
			d.Name(), a.MaxCQE, completions)
	}
	return err
}

// notify records the failure of the device, the port, or d's completion queue. It may be called while d is being made.
func (d *domain) notify(e verbs.Event, err error) {
	if err == nil && e.Fatal() && (e.Port == 0 || e.Port == d.options.Port) {
		err = errors.New(e.String())
	}
	if err == nil {
		return
	}
	d.failed.Store(&err)
	if d.ready.Load() {
		d.Wake()
	}
}

func (d *domain) Name() string { return fmt.Sprintf("%s:%d", d.context.Device, d.port.Number) }

func (d *domain) MaxMessage() int { return int(d.port.MaxMessage) }

// region is registered memory.
type region struct{ mr *verbs.MR }

func (d *domain) Register(memory []byte) (rdma.Region, error) {
	mr, err := d.pd.Register(memory, verbs.LocalWrite|verbs.RemoteWrite)
	if err != nil {
		return nil, err
	}
	return region{mr}, nil
}

func (r region) Remote() (uint64, uint32) { return r.mr.Address(), r.mr.RKey }

func (r region) Close() error { return r.mr.Close() }

func (d *domain) Poll(into []rdma.Completion, patient bool) (int, error) {
	if err := d.failed.Load(); err != nil {
		return 0, *err
	}
	times := 0
	if patient {
		times = spins / (1 + d.options.OtherRails)
	}
	n, err := d.cq.Spin(d.polled[:min(len(into), len(d.polled))], times)
	for i := range d.polled[:n] {
		into[i] = completion(&d.polled[i], d.context.Device)
	}
	return n, err
}

// receiveID marks the IDs of receives: a failed completion has no other sign of what it is.
const receiveID = 1 << 63

func completion(c *verbs.Completion, device string) rdma.Completion {
	out := rdma.Completion{QP: c.QP, ID: c.ID &^ receiveID, Received: c.ID&receiveID != 0}
	switch c.Status {
	case verbs.Success:
		out.Immediate, out.Bytes = c.Imm, c.Bytes
	case verbs.Flushed:
		out.Err = rdma.ErrFlushed
	default:
		out.Err = c.Err(device, "")
	}
	return out
}

func (d *domain) Arm() error { return d.cq.Arm() }

func (d *domain) Wait(atMost time.Duration) error {
	if err := d.channel.SetDeadline(time.Now().Add(atMost)); err != nil {
		return err
	}
	defer d.woken.Store(false)
	if d.woken.Load() { // perhaps Wake set its deadline before the one above
		return nil
	}
	if err := d.channel.Wait(); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return nil
}

func (d *domain) Wake() {
	d.woken.Store(true)
	_ = d.channel.SetDeadline(time.Unix(1, 0)) // fails when it is closed
}

func (d *domain) Close() error { return d.context.Close() }
