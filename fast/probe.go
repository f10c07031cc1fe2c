package fast

import (
	"encoding/binary"
	"slices"

	"github.com/collgen/collgen/fast/internal/failure"

	"github.com/collgen/collgen/fast/internal/wire"
)

// probe is what ranks that make no progress send each other over the control plane to find out whether they wait for
// each other in a ring. See detector.
type probe struct {
	What  uint32
	Round uint32 // of the rank that began: it tells the answers to one question from those to another
	path  []edge // from the rank that began to the one that sends; of a question, the whole ring; of an answer, none
}

// What a probe is.
const (
	probeSeeks    uint32 = iota // it looks for a way back to the rank that began
	probeAsks                   // does the receiver still stand where the ring says?
	probeAnswers                // it does
	probeProves                 // as probeSeeks, but of ranks each of which receives what the next has not begun to send
	probeVerifies               // as probeAsks, of a ring that needs no time to be proved
)

// edge is a rank that makes no progress, and in what.
type edge struct {
	Rank          uint32
	Number, Moved uint64    // as of its stand
	Begun         uint64    // how many collectives it has begun; unknown
	Call          wire.Call // in which it waits for the next rank
}

// maxRing is the length of the longest ring that is looked for: it fits into a control message, along with a notice.
const maxRing = failure.MaxListed

// headBytes and hopBytes are the lengths of a probe's parts.
var headBytes, hopBytes = binary.Size([2]uint32{}), binary.Size(edge{})

func (p *probe) encode() []byte {
	b := binary.LittleEndian.AppendUint32(nil, p.What)
	return append(binary.LittleEndian.AppendUint32(b, p.Round), encodeEdges(p.path)...)
}

// encodeEdges returns what decodeHops takes.
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
	n := len(b) / hopBytes
	if len(b)%hopBytes != 0 || n > min(maxRing, size) {
		return nil, false
	}
	path, seen := make([]edge, n), make(map[uint32]bool, n)
	if _, err := binary.Decode(b, binary.LittleEndian, path); err != nil {
		return nil, false
	}
	for i := range path {
		h := &path[i]
		isPeer := h.Call.Peer == 0 || int64(h.Call.Peer) <= int64(size) && int64(h.Call.Root) < int64(size)
		if int64(h.Rank) >= int64(size) || seen[h.Rank] || !isPeer {
			return nil, false
		}
		seen[h.Rank] = true
	}
	return path, true
}

// placeIn returns the place of a rank in a ring, or -1.
func placeIn(ring []edge, rank int) int {
	return slices.IndexFunc(ring, func(h edge) bool { return int(h.Rank) == rank })
}
