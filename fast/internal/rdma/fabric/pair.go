package fabric

import (
	"errors"
	"fmt"

	"github.com/collgen/collgen/fast/internal/rdma"
)

// The errors of completions, worded as in package verbs.
var (
	errNoAnswer = errors.New("the peer does not answer (status 12)")
	errRNR      = errors.New("the peer was not ready to receive (status 13)")
	errAccess   = errors.New("the peer's memory is not registered for this (status 10)")
	errLocal    = errors.New("the memory is not registered (status 4)")
)

// pair is a queue pair.
type pair struct {
	domain   *Domain
	address  rdma.Address
	room     int // how many receives there may be
	receives int // how many were posted and not consumed
	peer     *rdma.Address
	flights  []flight          // as many as may be in flight, by number
	unseen   []rdma.Completion // of writes that have arrived, on their way back
	posted   uint64            // writes
	arrived  uint64            // writes before this one have arrived
	over     uint64            // writes before this one are over, according to completions
	moves    bool              // something is in flight
	ends     bool              // Break was called: it completes what is in flight
	failed   bool
	gone     bool // its process has died
}

// flight is a write on its way.
type flight struct {
	rdma.Write
	inline []byte // its bytes, if they were copied when it was posted
	pieces int    // how many pieces it is placed in
	placed uint64 // a bit for each piece that is in place
	tries  int
}

// Pair returns a new queue pair.
func (d *Domain) Pair(writes, receives int) (rdma.Pair, error) {
	d.Before("pair")
	f := d.fabric
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.number()
	p := &pair{domain: d, room: receives, flights: make([]flight, writes), unseen: make([]rdma.Completion, 0, writes),
		address: rdma.Address{MTU: uint16(f.MTU), QP: n, PSN: f.rand.Uint32() >> 8}}
	p.address.GID[15] = byte(n)
	for i := range p.flights {
		p.flights[i].inline = make([]byte, 0, f.Inline)
	}
	f.pairs[n] = p
	d.open++
	return p, nil
}

func (p *pair) Address() rdma.Address { return p.address }

func (p *pair) Inline() int { return p.domain.fabric.Inline }

func (p *pair) Connect(peer rdma.Address) error {
	p.domain.Before("connect")
	p.domain.fabric.mu.Lock()
	defer p.domain.fabric.mu.Unlock()
	if p.peer != nil {
		return errors.New("it is connected")
	}
	p.peer = &peer
	return nil
}

func (p *pair) Receive(n int) error {
	p.domain.fabric.mu.Lock()
	defer p.domain.fabric.mu.Unlock()
	if p.receives += n; p.receives > p.room {
		return fmt.Errorf("%d receives, where there is room for %d", p.receives, p.room)
	}
	return nil
}

// Write posts writes. A slot in the queue is free again when the write, or a later one, has completed.
func (p *pair) Write(writes []rdma.Write) (posted int, err error) {
	f := p.domain.fabric
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range writes {
		w := &writes[i]
		switch {
		case p.peer == nil:
			return i, errors.New("it is not connected")
		case p.domain.takes == 0:
			f.move(p)
			return i, errors.New("the device takes no more writes")
		case p.posted-p.over >= uint64(len(p.flights)):
			return i, fmt.Errorf("%d writes are in flight", len(p.flights))
		case w.Length > f.MaxMessage:
			return i, fmt.Errorf("a write of %d bytes", w.Length)
		case w.Length > 0 && (w.Offset < 0 || w.Offset > len(w.Memory) || w.Length > len(w.Memory)-w.Offset ||
			w.From == nil && !w.Inline):
			return i, errors.New("it does not lie in its registered memory")
		}
		p.add(w)
	}
	if f.move(p); p.failed {
		p.flush(rdma.ErrFlushed)
	}
	return len(writes), nil
}

// add puts w in flight.
func (p *pair) add(w *rdma.Write) {
	fl := p.flight(p.posted)
	p.posted++
	p.domain.carried += w.Length
	p.domain.takes--
	inline := fl.inline[:0]
	if w.Inline {
		inline = append(inline, w.Memory[w.Offset:][:w.Length]...)
	}
	mtu := int(p.address.MTU)
	*fl = flight{Write: *w, inline: inline, pieces: min(64, (w.Length+mtu-1)/mtu)}
}

// flight returns flight n.
func (p *pair) flight(n uint64) *flight { return &p.flights[n%uint64(len(p.flights))] }

// flying returns how many writes have not arrived.
func (p *pair) flying() int { return int(p.posted - p.arrived) }

// Break ends the connection. What is in flight completes as somebody polls.
func (p *pair) Break() error {
	p.domain.fabric.mu.Lock()
	defer p.domain.fabric.mu.Unlock()
	if p.domain.Unbreakable {
		return errors.New("it cannot be broken off")
	}
	p.ends = true
	p.domain.fabric.move(p)
	return nil
}

func (p *pair) Close() error {
	f := p.domain.fabric
	f.mu.Lock()
	defer f.mu.Unlock()
	p.gone, p.failed = true, true
	p.arrived, p.unseen = p.posted, nil
	clear(p.flights)
	delete(f.pairs, p.address.QP)
	p.domain.open--
	return nil
}

// fail breaks the pair: the first write that has not arrived ends with err, and everything else is flushed.
func (p *pair) fail(err error) {
	if p.failed || p.gone {
		return
	}
	p.failed = true
	for _, c := range p.unseen {
		p.complete(c)
	}
	p.unseen = p.unseen[:0]
	err = p.flush(err)
	for ; p.receives > 0; p.receives-- {
		p.domain.complete(rdma.Completion{QP: p.address.QP, Received: true, Err: err})
	}
}

// flush completes all writes in flight, the first one with err. It returns the error for whatever comes after them.
func (p *pair) flush(err error) error {
	for p.flying() > 0 {
		p.flushOne(err)
		err = rdma.ErrFlushed
	}
	return err
}

func (p *pair) flushOne(err error) {
	p.complete(rdma.Completion{QP: p.address.QP, ID: p.flight(p.arrived).ID, Err: err})
	p.arrived++
}

// complete completes a write.
func (p *pair) complete(c rdma.Completion) {
	p.over = c.ID + 1
	p.domain.complete(c)
}

// completeNext completes the first of the writes that have arrived.
func (p *pair) completeNext() {
	p.complete(p.unseen[0])
	p.unseen = p.unseen[:copy(p.unseen, p.unseen[1:])]
}

// ahead is how many writes are on the wire at once.
const ahead = 4

// step advances something of p, and reports whether there may be more. The caller holds the fabric's lock.
func (p *pair) step() bool {
	if p.failed || p.gone {
		return false
	}
	if p.ends {
		return p.end()
	}
	if p.domain.carried >= p.domain.freezes {
		return false
	}
	if p.domain.breaks != nil && p.flying() > 0 {
		err := p.domain.breaks
		p.domain.breaks = nil
		p.fail(err)
		return false
	}
	f := p.domain.fabric
	flying := p.flying()
	if n := len(p.unseen); n > 0 && (flying == 0 || f.rand.IntN(3) == 0) {
		p.completeNext()
		return true
	}
	if flying == 0 {
		return false
	}
	to := f.pairs[p.peer.QP]
	if to == nil || to.failed || to.ends || to.peer == nil || to.peer.QP != p.address.QP {
		return p.retry(p.flight(p.arrived), errNoAnswer)
	}
	if !p.place(to, p.flight(p.arrived+f.rand.Uint64N(uint64(min(flying, ahead))))) {
		return false
	}
	return p.arrive(to)
}

// end completes one more of the writes in flight after Break, and reports whether there may be more.
func (p *pair) end() bool {
	switch {
	case len(p.unseen) > 0:
		p.completeNext()
	case p.flying() > 0:
		p.flushOne(rdma.ErrFlushed)
	default:
		p.fail(rdma.ErrFlushed)
		return false
	}
	return true
}

// place places the next pieces of one of p's flights, in any order.
func (p *pair) place(to *pair, fl *flight) bool {
	f := p.domain.fabric
	if fl.pieces == 0 {
		return true
	}
	memory, err := f.target(fl.Key, fl.To, fl.Length)
	if err != nil {
		p.fail(errAccess)
		to.fail(rdma.ErrFlushed)
		return false
	}
	source := fl.inline
	if !fl.Inline {
		if own := fl.From.(*region); f.regions[own.key] != own {
			p.fail(errLocal)
			return false
		}
		source = fl.Memory[fl.Offset:][:fl.Length]
	}
	for range 1 + f.rand.IntN(fl.pieces) {
		k := f.rand.IntN(fl.pieces)
		if fl.placed&(1<<k) == 0 {
			from, until := fl.Length*k/fl.pieces, fl.Length*(k+1)/fl.pieces
			copy(memory[from:until], source[from:until])
			fl.placed |= 1 << k
		}
	}
	return true
}

// arrive ends p's first flights, as far as they are completely placed and there is a receive for each immediate.
func (p *pair) arrive(to *pair) bool {
	for p.flying() > 0 {
		fl := p.flight(p.arrived)
		if all := uint64(1)<<fl.pieces - 1; fl.placed != all && !p.domain.Misplaced {
			return true
		}
		if fl.Tell {
			if to.receives == 0 {
				return p.retry(fl, errRNR)
			}
			to.receives--
			to.domain.complete(rdma.Completion{QP: to.address.QP, Received: true, Immediate: fl.Immediate,
				Bytes: uint32(fl.Length)})
		}
		p.arrived++
		if fl.Signal {
			p.unseen = append(p.unseen, rdma.Completion{QP: p.address.QP, ID: fl.ID})
		}
	}
	return true
}

// retry counts a failed try. The last one breaks the pair.
func (p *pair) retry(fl *flight, err error) bool {
	if fl.tries++; fl.tries > p.domain.fabric.RNRTries*50 {
		p.fail(err)
		return false
	}
	return true
}
