// Package memory allocates memory for a rank of a communicator that the other ranks of its host can read. All ranks
// allocate together, and free each on its own.
package memory

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/setup"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Pool is the memory of one rank.
type Pool struct {
	rank, size int
	transport  transport.Transport

	mu     sync.Mutex
	number uint64 // of the last Alloc; all ranks count alike
	all    []allocation
	closed bool
}

type allocation struct {
	number uint64 // the same on all ranks
	*region
}

// SetUp prepares p for a rank of a communicator of size ranks that talk over t; nil: there is no other rank.
func (p *Pool) SetUp(rank, size int, t transport.Transport) {
	p.rank, p.size, p.transport = rank, size, t
}

// Next returns the number of the next Alloc.
func (p *Pool) Next() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.number++
	return p.number
}

// Together has all ranks do a step of an Alloc. It returns nil if all ranks have done it, or the error of one of them,
// such as err, with which this rank does not do the step.
type Together func(ctx context.Context, step uint64, err error, do func(context.Context, *setup.Group) error) error

// Alloc returns n bytes that the other ranks of the host can read, for Alloc number. It succeeds on all ranks or on
// none, except for ranks that go down meanwhile. If err is why this rank cannot take part, the others learn it.
func (p *Pool) Alloc(ctx context.Context, number uint64, n int, err error, together Together) ([]byte, error) {
	a := allocation{number: number}
	err = together(ctx, 0, err, func(context.Context, *setup.Group) (err error) {
		a.region, err = p.newRegion(n, number)
		return err
	})
	if err == nil {
		err = together(ctx, 1, nil, func(ctx context.Context, g *setup.Group) error { return p.exchangeFiles(ctx, g, &a) })
	}
	if err == nil {
		err = p.keep(a)
	}
	if err != nil {
		if a.region != nil {
			p.release(a)
		}
		return nil, err
	}
	return a.Bytes, nil
}

// keep has the memory freed with p at the latest.
func (p *Pool) keep(a allocation) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return wire.ErrClosed
	}
	p.all = append(p.all, a)
	if r, ok := p.transport.(transport.Registrar); ok {
		r.Know(a.Bytes)
	}
	return nil
}

// ErrUnknown is the error of Free for memory that Alloc has not returned.
var ErrUnknown = errors.New("not memory of Alloc")

// Free frees what Alloc has returned, all of it. It fails with ErrUnknown, or wire.ErrClosed.
func (p *Pool) Free(b []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return wire.ErrClosed
	}
	at := slices.IndexFunc(p.all, func(a allocation) bool {
		return unsafe.SliceData(a.Bytes) == unsafe.SliceData(b) && len(a.Bytes) == len(b)
	})
	if at < 0 {
		return ErrUnknown
	}
	p.free(p.all[at])
	p.all = slices.Delete(p.all, at, at+1)
	return nil
}

// Close frees all memory between lock and unlock. If lock fails because a call is running, which may use the memory and
// ends soon, Close returns, and the memory is freed later.
func (p *Pool) Close(lock func() bool, unlock func()) {
	p.mu.Lock()
	all := p.all
	p.all, p.closed = nil, true
	p.mu.Unlock()
	freeIdle := func() bool {
		if !lock() {
			return false
		}
		defer unlock()
		for _, a := range all {
			p.free(a)
		}
		return true
	}
	if len(all) == 0 || freeIdle() {
		return
	}
	go func() {
		for !freeIdle() {
			time.Sleep(time.Millisecond)
		}
	}()
}

// free frees memory that the transport knows.
func (p *Pool) free(a allocation) {
	if r, ok := p.transport.(transport.Registrar); ok {
		_ = r.Forget(a.Bytes)
	}
	p.release(a)
}
