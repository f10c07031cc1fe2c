package rdma

import "github.com/collgen/collgen/fast/internal/wire"

// What the tests of package rdma_test use: they import package fabric, which imports this one.
var NewEndpoint = newEndpoint

const (
	DefaultSlots = defaultSlots
	DefaultBytes = defaultBytes
	LongBytes    = longBytes
)

// StartAt has the numbers of what is sent and received begin at n on all links.
func (e *Endpoint) StartAt(n uint32) {
	for i := range e.links {
		l := &e.links[i]
		l.out.sent, l.out.freed, l.controlOut.sent, l.controlOut.freed = n, n, n, n
		l.in.next, l.in.arrived, l.in.reported, l.controlIn.next, l.controlIn.arrived, l.controlIn.reported = n, n, n, n, n, n
		l.scanned, l.sentDirect, l.granted = n, n, n
	}
}

// OrdinaryCall returns a call.
func OrdinaryCall() *wire.Call { return &wire.Call{Seq: 1, Primitive: 2, Count: 3} }

func ordinaryMark() wire.Mark { return wire.NewMark(OrdinaryCall()) }

// Peer is what a rank is told of another one, for peers that tests make.
type Peer struct {
	Ends         []End
	At           uint64
	Slots, Bytes uint32
}

// End is one rail of a Peer.
type End = end

// ReadCard returns a card's contents.
func ReadCard(b []byte) (Peer, error) {
	c, err := decode(b)
	return Peer{c.ends[:c.rails], c.at, c.slots, c.bytes}, err
}

// Card returns p's card, which is ready.
func (p Peer) Card() []byte {
	c := card{rails: len(p.Ends), at: p.At, slots: p.Slots, bytes: p.Bytes, ready: true}
	copy(c.ends[:], p.Ends)
	return c.encode()
}

// What tests of hostile peers say.
const (
	HeaderAt     = headerAt
	PayloadAt    = payloadAt
	Part         = immPart
	Segment      = immSegment
	Control      = immControl
	Freed        = immFreed
	ControlFreed = immControlFreed
)

// ControlOffset returns where the slots for control frames begin.
func (p Peer) ControlOffset() uint64 { return controlOffset(p.Slots, p.Bytes) }

// looseLink returns a link that is connected with nothing.
func looseLink() *link {
	l := &link{conn: &conn{slots: 4, bytes: leastBytes, memory: make([]byte, linkBytes(4, leastBytes))},
		pairs: make([]queuePair, 1)}
	l.main = &l.pairs[0]
	l.main.link = l
	return l
}

// SegmentOf returns a segment without bytes, of a message of so many, in ordinaryCall, and where in a slot it begins.
func SegmentOf(left uint64) (b []byte, from int) {
	l := looseLink()
	mark := ordinaryMark()
	from = l.compose(&mark, left, nil)
	return l.main.sendSlot()[from:payloadAt], from
}

// Overbook has e take the other ranks' slots for more than they are.
func (e *Endpoint) Overbook() {
	for i := range e.links {
		e.links[i].out.slots *= 2
	}
}

// Register registers memory that e knows at once.
func (e *Endpoint) Register(b []byte) bool { return e.registered.find(b) != nil }

// SaysReady reports whether a card says that its rank is ready.
func SaysReady(b []byte) bool {
	c, err := decode(b)
	return err == nil && c.ready
}

// Connected reports whether there is a connection with peer, on this side.
func (e *Endpoint) Connected(peer int) bool {
	e.End.Lock()
	defer e.End.Unlock()
	return e.conns[peer] != nil && e.conns[peer].connected
}

// Taken returns how many segments have come from peer.
func (e *Endpoint) Taken(peer int) uint32 { return e.links[peer].in.next }
