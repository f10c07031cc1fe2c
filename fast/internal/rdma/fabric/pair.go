package fabric

import (
	"errors"
	"fmt"

	"github.com/collgen/collgen/fast/internal/rdma"
)

// The errors of completions, in the words that package verbs has for them.
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
	room     int // and how many receives there may be
	receives int // how many were posted and not consumed
	peer     *rdma.Address
	flights  []flight          // as many as may be in flight, by their numbers
	unseen   []rdma.Completion // of writes that have arrived, on their way back
	posted   uint64            // writes
	arrived  uint64            // those before it have
	over     uint64            // those before it are over, as far as completions say
	moves    bool              // something is in flight
	ends     bool              // it is broken off, and completes what is in flight
	failed   bool
	gone     bool // with its process
}

// flight is a write on its way.
type flight struct {
	rdma.Write
	inline []byte // what it carries, if that was copied when it was posted
	pieces int    // in so many it is placed
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
	p := &pair{domain: d, room: receives, flights: make([]flight, writes), unseen: make([]rdma.Completion, 0, writes), address: rdma.Address{MTU: uint16(f.MTU), QP: n, PSN: f.rand.Uint32() >> 8}}
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

// Write takes writes. A slot in the queue is free again when the completion of the write, or of a later one, was told.
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
		case w.Length > 0 && (w.Offset < 0 || w.Offset > len(w.Memory) || w.Length > len(w.Memory)-w.Offset || w.From == nil && !w.Inline):
			return i, errors.New("it does not lie in its registered memory")
		}
		p.add(w)
	}
	if f.move(p); p.failed {
		p.flush(rdma.ErrFlushed)
	}
	return len(writes), nil
}

// add has w on its way.
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

// flight returns the place of the flight of that number.
func (p *pair) flight(n uint64) *flight { return &p.flights[n%uint64(len(p.flights))] }

// flying returns how many writes have not arrived.
func (p *pair) flying() int { return int(p.posted - p.arrived) }

// Break returns the end of the connection. What is in flight completes when somebody looks.
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
		p.tell(c)
	}
	p.unseen = p.unseen[:0]
	err = p.flush(err)
	for ; p.receives > 0; p.receives-- {
		p.domain.complete(rdma.Completion{QP: p.address.QP, Received: true, Err: err})
	}
}

// flush has all writes in flight complete, the first one with err, and gives the error of what comes after them.
func (p *pair) flush(err error) error {
	for p.flying() > 0 {
		p.flushOne(err)
		err = rdma.ErrFlushed
	}
	return err
}

func (p *pair) flushOne(err error) {
	p.tell(rdma.Completion{QP: p.address.QP, ID: p.flight(p.arrived).ID, Err: err})
	p.arrived++
}

// tell has a write complete.
func (p *pair) tell(c rdma.Completion) {
	p.over = c.ID + 1
	p.domain.complete(c)
}

// tellUnseen has the first of the writes complete that have arrived.
func (p *pair) tellUnseen() {
	p.tell(p.unseen[0])
	p.unseen = p.unseen[:copy(p.unseen, p.unseen[1:])]
}
