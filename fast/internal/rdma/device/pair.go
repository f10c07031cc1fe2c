//go:build linux && cgo && !netgo

package device

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/verbs"
)

// inline is how many bytes of a write should be copied while posting: what fits into a few cache lines.
const inline = 200

// pair is a queue pair. Posting allocates nothing: it goes through slices that are as long as the queues.
type pair struct {
	domain *domain
	psn    uint32

	mu       sync.Mutex // protects the following
	qp       *verbs.QP
	sends    []verbs.Send
	inlined  []verbs.MR // for inline bytes that are not registered
	receives []verbs.Receive
}

func (d *domain) Pair(writes, receives int) (rdma.Pair, error) {
	qp, err := d.pd.CreateQP(d.cq, d.cq, verbs.Depths{Sends: writes, Receives: receives, Inline: inline})
	if err != nil {
		return nil, err
	}
	p := &pair{domain: d, qp: qp, psn: rand.Uint32() >> 8, sends: make([]verbs.Send, writes),
		inlined:  make([]verbs.MR, writes),
		receives: slices.Repeat([]verbs.Receive{{ID: receiveID}}, receives)}
	if err := qp.ToInit(d.port.Number, d.options.Partition, verbs.RemoteWrite); err != nil {
		_ = qp.Close() // the first error says more
		return nil, err
	}
	return p, nil
}

func (p *pair) Address() rdma.Address {
	d := p.domain
	return rdma.Address{GID: d.gid.Raw(), LID: d.port.LID, MTU: uint16(d.port.MTU.Bytes()), QP: p.qp.Number, PSN: p.psn}
}

func (p *pair) Inline() int { return p.qp.Depths.Inline }

func (p *pair) Connect(peer rdma.Address) error {
	d := p.domain
	mtu, err := bounded(d.port.MTU, int(peer.MTU))
	if err != nil {
		return fmt.Errorf("the peer of a queue pair of %s: %w", d.Name(), err)
	}
	path := verbs.Path{
		QP: peer.QP, PSN: peer.PSN, GID: peer.GID, LID: peer.LID, MTU: mtu, GIDIndex: d.gid.Index,
		TrafficClass: d.options.Traffic, ServiceLevel: d.options.Service, MinRNRTimer: rnrTimer,
	}
	if own := d.gid.Raw(); d.port.Link != verbs.Ethernet && peer.LID != 0 && [8]byte(own[:8]) == [8]byte(peer.GID[:8]) {
		path.GID = [16]byte{} // within a subnet the LID suffices, and packets are shorter
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.qp.ToReceive(path); err != nil {
		return err
	}
	return p.qp.ToSend(p.psn, d.options.retry())
}

// rnrTimer, 5 ms, is when a peer without a receive is asked again. Credits ensure that this does not happen.
const rnrTimer = 18

func (p *pair) Receive(n int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.qp.PostReceives(p.receives[:n])
	return err
}

func (p *pair) Write(writes []rdma.Write) (posted int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range writes {
		p.encode(i, &writes[i])
	}
	return p.qp.Post(p.sends[:len(writes)])
}

// encode makes send i of the write.
func (p *pair) encode(i int, w *rdma.Write) {
	s := &p.sends[i]
	*s = verbs.Send{
		ID: w.ID, Opcode: verbs.Write, Offset: w.Offset, Length: w.Length, Remote: w.To, RKey: w.Key, Imm: w.Immediate,
		Signaled: w.Signal, Inline: w.Inline,
	}
	if w.Tell {
		s.Opcode = verbs.WriteWithImm
	}
	if r, ok := w.From.(region); ok {
		s.MR = r.mr
	} else if w.Inline {
		p.inlined[i].Memory = w.Memory
		s.MR = &p.inlined[i]
	}
}

func (p *pair) Break() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.qp.ToError()
}

func (p *pair) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.qp.Close()
}
