//go:build linux

package shm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Endpoint is one rank's end of its links to all others.
type Endpoint struct {
	rank     int
	mem      *memory
	own      *control
	links    []link // by rank; its own is unused
	patience patience

	call        *wire.Call
	fingerprint uint64
	out         []outgoing // the sends of the Exchange in progress
	in          []incoming // and its receives
	open        int        // how many of both are not complete

	gate      gate
	lease     int // this rank's lifeline, its own as long as the gate is open
	lifelines []lifeline
	worst     atomic.Uint32         // of the fates of all ranks
	failed    atomic.Pointer[error] // what Fail was given; nil: nothing
	awaited   awaited
	polls     []unix.PollFd // for dead, by rank
}

// Attach is rank's end of its links to all of size ranks. files are copies of what Origin.Files names. They are the
// endpoint's now, and closed if it fails.
func Attach(rank, size int, files []int) (*Endpoint, error) {
	mem, err := openFiles(rank, size, files)
	if err != nil {
		return nil, errors.Join(err, closeAll(files))
	}
	_ = unix.Close(files[0]) // the mapping keeps the memory
	e := &Endpoint{rank: rank, mem: mem, own: mem.control(rank), patience: patienceFor(size, cores), call: new(wire.Call),
		links: make([]link, size), lease: files[1], lifelines: make([]lifeline, size), polls: make([]unix.PollFd, size)}
	e.connect(files[2:])
	return e, nil
}

func openFiles(rank, size int, files []int) (*memory, error) {
	if size < 2 || size > MaxSize || rank < 0 || rank >= size || len(files) != size+1 {
		return nil, fmt.Errorf("rank %d of %d cannot attach to shared memory with %d files", rank, size, len(files))
	}
	for _, fd := range files[2:] {
		if err := unix.SetNonblock(fd, true); err != nil {
			return nil, fmt.Errorf("a lifeline: %w", err)
		}
	}
	return openMemory(files[0], size)
}

// connect sets up the links with all other ranks, whose lifelines are given in rank order.
func (e *Endpoint) connect(lifelines []int) {
	e.polls[e.rank].Fd = -1
	for peer := range e.links {
		if peer == e.rank {
			continue
		}
		e.links[peer] = link{peer: peer, control: e.mem.control(peer), out: e.mem.ring(e.rank, peer), in: e.mem.ring(peer, e.rank)}
		l := &e.lifelines[peer]
		l.file = os.NewFile(uintptr(lifelines[0]), "lifeline")
		e.polls[peer].Fd = int32(lifelines[0])
		lifelines = lifelines[1:]
		go e.watch(peer)
	}
}

// Begin says which call the following messages belong to.
func (e *Endpoint) Begin(call *wire.Call) {
	e.call, e.fingerprint = call, call.Fingerprint()
	if e.gate.enter() {
		e.own.publish(call, e.fingerprint)
		e.leave()
	}
}

// Exchange has all sends and receives in flight together, and returns when all of them are complete or one failed.
// What was sent may still be in the shared memory then. After an error the endpoint is only good for Abort and Close.
func (e *Endpoint) Exchange(ctx context.Context, sends []wire.Send, recvs []wire.Recv) error {
	if !e.gate.enter() {
		return e.gate.reason()
	}
	defer e.leave()
	if e.worst.Load() > closed || e.failed.Load() != nil { // after a death or an abort nothing is begun, even if it could be done
		if err := e.failure(context.Background()); err != nil {
			return err
		}
	}
	err := e.list(sends, recvs)
	if err == nil {
		err = e.complete(ctx)
	}
	if err == nil && len(recvs) == 0 {
		err = e.crossed()
	}
	e.awaited.forget()
	clear(e.out) // so that the caller's memory can be collected
	clear(e.in)
	e.out, e.in = e.out[:0], e.in[:0]
	return err
}

// Fail has the Exchange in progress, and every later one, return err. The first error counts. Other ranks do not hear of
// it.
func (e *Endpoint) Fail(err error) {
	if e.failed.CompareAndSwap(nil, &err) && e.gate.enter() {
		e.own.ring()
		e.leave()
	}
}

// Abort gives up on behalf of this rank: every other rank gets *wire.PeerError with this rank and wire.ErrAborted. Of
// several ranks that give up, the first is named.
func (e *Endpoint) Abort() { e.end(aborted) }

// Close leaves: a rank that waits for this one gets *wire.PeerError with this rank and wire.ErrClosed, and an Exchange
// of this rank wire.ErrClosed. What was sent can still be received.
func (e *Endpoint) Close() error {
	e.end(closed)
	return nil
}

// end ends this rank's part, for the others to see, unless it has ended.
func (e *Endpoint) end(state uint32) {
	if !e.gate.enter() {
		return
	}
	defer e.leave()
	if !e.gate.shut(state) {
		return
	}
	if state == aborted {
		e.mem.header().aborter.CompareAndSwap(0, uint32(e.rank)+1)
	}
	e.own.state.Store(state)
	_ = unix.Close(e.lease) // the others look at the state now
	e.own.ring()
}

// leave leaves the gate, and frees everything if that was the last to do.
func (e *Endpoint) leave() {
	if !e.gate.leave() {
		return
	}
	e.mem.unmap()
	for i := range e.lifelines {
		if f := e.lifelines[i].file; f != nil {
			_ = f.Close() // ends its watch
		}
	}
}

// list prepares the messages of an Exchange.
func (e *Endpoint) list(sends []wire.Send, recvs []wire.Recv) error {
	e.open = len(sends) + len(recvs)
	for i := range sends {
		if err := wire.CheckPeer(e.rank, sends[i].Peer, len(e.links)); err != nil {
			return err
		}
		l := &e.links[sends[i].Peer]
		e.out = append(e.out, outgoing{Send: &sends[i], link: l, turn: l.sends})
		l.sends++
	}
	for i := range recvs {
		if err := wire.CheckPeer(e.rank, recvs[i].Peer, len(e.links)); err != nil {
			return err
		}
		l := &e.links[recvs[i].Peer]
		m := incoming{Recv: &recvs[i], link: l, turn: l.recvs}
		l.recvs++
		if m.AfterSend {
			if m.after = e.sendTo(m.Peer, len(m.Into)); m.after == nil {
				return fmt.Errorf("rank %d receives from rank %d after a send, but sends it no such message", e.rank, m.Peer)
			}
		}
		e.in = append(e.in, m)
	}
	return nil
}

// sendTo is the listed send of that many bytes to peer, or nil.
func (e *Endpoint) sendTo(peer, bytes int) *outgoing {
	for i := range e.out {
		if m := &e.out[i]; m.Peer == peer && len(m.Data) == bytes {
			return m
		}
	}
	return nil
}

// complete drives the listed messages until all are complete or one fails.
func (e *Endpoint) complete(ctx context.Context) error {
	for moves, idle := 0, 0; e.open > 0; {
		moved, err := e.advance()
		if err != nil {
			return err
		}
		switch {
		case moved:
			idle = 0
			e.awaited.forget()
			if moves++; moves%64 == 0 && e.open > 0 && (ctx.Err() != nil || e.reason() != nil) {
				return e.failure(ctx)
			}
		case e.patience.pause(idle):
			idle++
		default:
			if err := e.sleep(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// advance does what can be done without waiting, and tells whether that was anything.
func (e *Endpoint) advance() (moved bool, err error) {
	for i := range e.out {
		did, err := e.push(&e.out[i])
		if err != nil {
			return moved, err
		}
		moved = moved || did
	}
	for i := range e.in {
		did, err := e.pull(&e.in[i])
		if err != nil {
			return moved, err
		}
		moved = moved || did
	}
	return moved, nil
}
