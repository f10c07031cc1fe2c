package fabric

import "github.com/collgen/collgen/fast/internal/rdma"

// ahead is how many writes are on the wire at once.
const ahead = 4

// step moves something of p's on, and tells whether there may be more. The fabric is locked.
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
		p.tellUnseen()
		return true
	}
	if flying == 0 {
		return false
	}
	to := f.pairs[p.peer.QP]
	if to == nil || to.failed || to.ends || to.peer == nil || to.peer.QP != p.address.QP {
		return p.again(p.flight(p.arrived), errNoAnswer)
	}
	if !p.place(to, p.flight(p.arrived+f.rand.Uint64N(uint64(min(flying, ahead))))) {
		return false
	}
	return p.arrive(to)
}

// end completes one more of the writes in flight of a pair that was broken off, and tells whether there may be more.
func (p *pair) end() bool {
	switch {
	case len(p.unseen) > 0:
		p.tellUnseen()
	case p.flying() > 0:
		p.flushOne(rdma.ErrFlushed)
	default:
		p.fail(rdma.ErrFlushed)
		return false
	}
	return true
}

// place puts the next pieces of one of p's flights where they belong, in any order.
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

// arrive ends p's first flights, as far as all of them is in place, and there is a receive for each immediate.
func (p *pair) arrive(to *pair) bool {
	for p.flying() > 0 {
		fl := p.flight(p.arrived)
		if all := uint64(1)<<fl.pieces - 1; fl.placed != all && !p.domain.Misplaced {
			return true
		}
		if fl.Tell {
			if to.receives == 0 {
				return p.again(fl, errRNR)
			}
			to.receives--
			to.domain.complete(rdma.Completion{QP: to.address.QP, Received: true, Immediate: fl.Immediate, Bytes: uint32(fl.Length)})
		}
		p.arrived++
		if fl.Signal {
			p.unseen = append(p.unseen, rdma.Completion{QP: p.address.QP, ID: fl.ID})
		}
	}
	return true
}

// again counts a try that was in vain, of which the last one breaks the pair.
func (p *pair) again(fl *flight, err error) bool {
	if fl.tries++; fl.tries > p.domain.fabric.RNRTries*50 {
		p.fail(err)
		return false
	}
	return true
}
