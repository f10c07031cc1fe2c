package mesh

import (
	"encoding/binary"
	"fmt"

	"github.com/collgen/collgen/fast/internal/wire"
)

// The kinds of frames on a control connection.
const (
	frameBeat   uint8 = iota + 1 // the sender runs; its body is by how much it has been late
	frameNote                    // a control message
	frameBye                     // the sender leaves; its body is a close reason
	frameFenced                  // the sender takes the receiver for dead
	frameCount                   // the sender counts its heartbeats in the file that comes with it, and sends none
	frameBlind                   // the sender cannot read the receiver's count, and wants heartbeats
)

const (
	headBytes = 20
	maxFiles  = 64 // that go with one message
)

// head is the beginning of a frame; length bytes of body follow.
type head struct {
	kind, files uint8
	length      uint32
	topic       wire.Topic
}

// frame is a frame as it goes out, and the files that go with it.
type frame struct {
	bytes []byte
	files []int
}

// newFrame makes a frame. Files are the frame's from now on.
func newFrame(kind uint8, t wire.Topic, body []byte, files []int) frame {
	b := make([]byte, headBytes, headBytes+len(body))
	binary.LittleEndian.PutUint32(b[0:], uint32(len(body)))
	b[4], b[5], b[6] = kind, uint8(len(files)), t.Kind
	binary.LittleEndian.PutUint64(b[8:], t.Comm)
	binary.LittleEndian.PutUint32(b[16:], t.Seq)
	return frame{append(b, body...), files}
}

// decodeHead checks the beginning of a frame.
func decodeHead(b *[headBytes]byte) (head, error) {
	h := head{kind: b[4], files: b[5], length: binary.LittleEndian.Uint32(b[0:])}
	h.topic = wire.Topic{Kind: b[6], Comm: binary.LittleEndian.Uint64(b[8:]), Seq: binary.LittleEndian.Uint32(b[16:])}
	most := uint32(0)
	switch h.kind {
	case frameFenced, frameCount, frameBlind:
	case frameBeat:
		most = lateBytes
	case frameNote:
		most = wire.MaxNote
	case frameBye:
		most = maxFarewell
	default:
		return head{}, fmt.Errorf("a frame of unknown kind %d", h.kind)
	}
	switch {
	case h.length > most:
		return head{}, fmt.Errorf("a frame of kind %d with %d bytes, at most %d are allowed", h.kind, h.length, most)
	case h.files > maxFiles || (h.files > 0 && h.kind != frameNote && (h.kind != frameCount || h.files > 1)):
		return head{}, fmt.Errorf("a frame of kind %d with %d files", h.kind, h.files)
	case b[7] != 0 || (h.kind != frameNote && h.topic != wire.Topic{}):
		return head{}, fmt.Errorf("a frame of kind %d with bytes set that have no meaning", h.kind)
	}
	return h, nil
}
