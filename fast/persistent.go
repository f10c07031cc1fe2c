package fast

import (
	"context"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Persistent is a call that is prepared once and made many times, with the same buffers and arguments, as those of
// MPI's functions with _init are. What it saves is the checks of arguments and the choice of an algorithm, most of all
// where a program makes more than four calls in turn, or calls with options: a Comm keeps the last four others that it
// has prepared, and makes them without these anyway.
//
// A Persistent is of one Comm, and used by one goroutine at a time.
type Persistent struct {
	c       *Comm
	request exec.Request
	handle  Handle
	started bool // the handle's call was not waited for
}

// Prepare returns the call that call makes on c. Call passes opt on to one function of this package, which checks its
// arguments, makes nothing, and returns:
//
//	p, err := c.Prepare(func(opt fast.Option) error {
//		return fast.AllReduce(ctx, c, grad, fast.Sum, opt)
//	})
//
// Only this rank prepares the call: others may make it by Persistent.Do or by the function. Prepare fails as the
// function does if arguments are wrong. SendRecv, SendRecvReplace and the functions Start… cannot be prepared.
func (c *Comm) Prepare(call func(opt Option) error) (*Persistent, error) {
	if call == nil {
		return nil, wire.Refuse("Prepare", "call is nil")
	}
	p := &Persistent{handle: Handle{done: make(chan struct{}, 1), again: true, isCall: true}}
	switch err := call(Option{Kind: exec.PrepareOption, Handle: p}); {
	case err != nil:
		return nil, err
	case p.c == nil:
		return nil, wire.Refuse("Prepare", "call has passed its option to no function that can be prepared")
	case p.c != c:
		return nil, wire.Refuse("Prepare", "the call is made on another communicator")
	}
	return p, nil
}

// Do makes the call.
func (p *Persistent) Do(ctx context.Context) error {
	if err := p.enter(ctx, "Do"); err != nil {
		return err
	}
	c := p.c
	defer c.busy.Unset()
	return c.inTurn(ctx, &p.request)
}

// Start starts the call, as the functions Start… do. Wait has to be called before it is made again.
func (p *Persistent) Start(ctx context.Context) error {
	if err := p.enter(ctx, "Start"); err != nil {
		return err
	}
	c := p.c
	defer c.busy.Unset()
	p.started = true
	p.handle.rearm()
	c.start(ctx, &p.handle, &p.request)
	return nil
}

// Wait waits until the call is over that was started, and returns its error. If ctx ends first, Wait returns an error
// that wraps ctx's, and the call goes on.
func (p *Persistent) Wait(ctx context.Context) error {
	if p == nil || !p.started {
		return wire.Refuse("Wait", "the call was not started")
	}
	err := p.handle.Wait(ctx)
	p.started = !p.handle.ended.Load()
	return err
}

// enter makes the communicator this goroutine's, unless a call of p is on its way.
func (p *Persistent) enter(ctx context.Context, what string) error {
	switch {
	case p == nil || p.c == nil:
		return wire.Refuse(what, "the call was not returned by Prepare")
	case p.started:
		return wire.Refuse(what, "the %s that was started was not waited for", p.request.Collective.Name)
	}
	return p.c.enter(ctx, p.request.Collective.Name)
}

// prepare keeps r in what opts ask to be prepared, and reports whether they do.
func (c *Comm) prepare(r *exec.Request, opts []Option) (done bool, err error) {
	p := preparedBy(opts)
	switch {
	case p == nil:
		return false, nil
	case p.c != nil:
		return true, wire.Refuse(r.Collective.Name, "a call was prepared before, and Prepare is for one")
	case handleOf(opts) != nil:
		return true, wire.Refuse(r.Collective.Name, "a call that is prepared is started by Persistent.Start")
	}
	p.c, p.request = c, r.Kept()
	return true, nil
}

// preparedBy returns what opts ask to be prepared, or nil.
func preparedBy(opts []Option) *Persistent {
	for i := range opts {
		if opts[i].Kind == exec.PrepareOption {
			return opts[i].Handle.(*Persistent)
		}
	}
	return nil
}
