package deadlock

import (
	"encoding/binary"
	"slices"

	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/wire"
)

// probe is a message between ranks that make no progress, by which they find out whether they wait for each other in a
// ring.
type probe struct {
	What  uint32
	Round uint32 // of the rank that began: it tells the answers to one question from those to another
	path  []edge // from the rank that began to the one that sends; of a question, the whole ring; of an answer, none
}

// The kinds of probes.
const (
	probeSeeks    uint32 = iota // it looks for a way back to the rank that began
	probeAsks                   // is the receiver still where the ring says?
	probeAnswers                // it is
	probeProves                 // like probeSeeks, for ranks each of which receives what the next has not begun to send
	probeVerifies               // like probeAsks, for a ring that needs no time to be proved
)

// edge is a rank that makes no progress, and the call in which it waits for another one.
type edge struct {
	Rank          uint32
	Number, Moved uint64 // its position
	Begun         uint64 // how many collectives it has begun, or flight.Unknown
	Call          wire.Call
}

func (e *edge) position() flight.Position { return flight.Position{Number: e.Number, Moved: e.Moved} }

// maxRing is the length of the longest ring that is found: it fits into a control message, along with a notice.
const maxRing = failure.MaxListed

// headBytes and edgeBytes are the lengths of a probe's parts.
var headBytes, edgeBytes = binary.Size([2]uint32{}), binary.Size(edge{})

func (p *probe) encode() []byte {
	b := binary.LittleEndian.AppendUint32(nil, p.What)
	return append(binary.LittleEndian.AppendUint32(b, p.Round), encodeEdges(p.path)...)
}

// encodeEdges returns what decodeEdges takes.
func encodeEdges(path []edge) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, path)
	if err != nil {
		panic(err) // of numbers
	}
	return b
}

// decodeProbe returns the probe in b, of a communicator of size ranks.
func decodeProbe(b []byte, size int) (p probe, ok bool) {
	if len(b) < headBytes {
		return p, false
	}
	p.What, p.Round = binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	if p.path, ok = decodeEdges(b[headBytes:], size); !ok {
		return p, false
	}
	return p, p.What <= probeVerifies && (len(p.path) == 0) == (p.What == probeAnswers)
}

// decodeEdges returns the edges in b: different ranks of size, at most maxRing, none of which waits for itself.
func decodeEdges(b []byte, size int) ([]edge, bool) {
	n := len(b) / edgeBytes
	if len(b)%edgeBytes != 0 || n > min(maxRing, size) {
		return nil, false
	}
	path, seen := make([]edge, n), make(map[uint32]bool, n)
	if _, err := binary.Decode(b, binary.LittleEndian, path); err != nil {
		return nil, false
	}
	for i := range path {
		e := &path[i]
		isPeer := e.Call.Peer == 0 || int64(e.Call.Peer) <= int64(size) && int64(e.Call.Root) < int64(size)
		if int64(e.Rank) >= int64(size) || seen[e.Rank] || !isPeer {
			return nil, false
		}
		seen[e.Rank] = true
	}
	return path, true
}

// indexOf returns the index of a rank in a ring, or -1.
func indexOf(ring []edge, rank int) int {
	return slices.IndexFunc(ring, func(e edge) bool { return int(e.Rank) == rank })
}
