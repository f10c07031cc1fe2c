package mesh

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

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

// errBeats: what a process has sent as its count is none, so it is broken.
var errBeats = errors.New("not a count of heartbeats")

// lateBytes are how many bytes say by how much a process has been late: in milliseconds, or nothing if it was not.
const lateBytes = 4

func encodeLate(late int64) []byte {
	if late <= 0 {
		return nil
	}
	return binary.LittleEndian.AppendUint32(nil, uint32(min(late/int64(time.Millisecond), math.MaxUint32)))
}

func decodeLate(b []byte) (int64, error) {
	switch len(b) {
	case 0:
		return 0, nil
	case lateBytes:
		return int64(binary.LittleEndian.Uint32(b)) * int64(time.Millisecond), nil
	}
	return 0, fmt.Errorf("a heartbeat with %d bytes", len(b))
}

// closeReason is why a process leaves. The empty one is Close.
type closeReason struct {
	blame blame
	ranks []int // whom it blames
	text  string
}

// blame is what a process that leaves says of others.
type blame uint8

const (
	blameNobody blame = iota
	blameAbsent       // it waited for them in vain
	blameDead         // they are down
)

const (
	maxBlamed   = 256
	maxReason   = 2 << 10
	maxFarewell = 3 + 4*maxBlamed + maxReason
)

// closeReasonOf returns that of a process that fails with err.
func closeReasonOf(err error) closeReason {
	f := closeReason{text: err.Error()}
	var absent *wire.TimeoutError
	var dead *wire.PeerError
	switch {
	case errors.As(err, &absent):
		f.blame, f.ranks = blameAbsent, absent.Waiting
	case errors.As(err, &dead) && errors.Is(dead, wire.ErrDied):
		f.blame, f.ranks = blameDead, []int{dead.Rank}
	}
	return f
}

// encode returns f as bytes, cut where it is too long.
func (f closeReason) encode() []byte {
	if f.text == "" {
		return nil
	}
	n := min(len(f.ranks), maxBlamed)
	b := binary.LittleEndian.AppendUint16([]byte{byte(f.blame)}, uint16(n))
	for _, r := range f.ranks[:n] {
		b = binary.LittleEndian.AppendUint32(b, uint32(r))
	}
	return append(b, f.text[:min(len(f.text), maxReason)]...)
}

// decodeCloseReason returns the opposite of encode.
func decodeCloseReason(b []byte) (closeReason, error) {
	if len(b) == 0 {
		return closeReason{}, nil
	}
	d := decoder{b: b}
	f := closeReason{blame: blame(d.byte())}
	n := int(d.uint16())
	if d.err != nil || f.blame > blameDead || n > maxBlamed || n > len(d.b)/4 || len(d.b)-4*n > maxReason {
		return closeReason{}, fmt.Errorf("a close reason with %d ranks in %d bytes", n, len(b))
	}
	for range n {
		r := d.uint32()
		if r > maxProcess {
			return closeReason{}, fmt.Errorf("a close reason with the impossible process number %d", r)
		}
		f.ranks = append(f.ranks, int(r))
	}
	if f.text = printable(string(d.b)); f.text == "" {
		return closeReason{}, errors.New("a close reason without a reason")
	}
	return f, nil
}

// err returns why the process that said f is down.
func (f closeReason) err() error {
	if f.text == "" {
		return wire.ErrClosed
	}
	return &gaveUp{f}
}

// gaveUp says that a process has left with a reason, which is not Close.
type gaveUp struct{ closeReason }

func (e *gaveUp) Error() string { return "gave up: " + e.text }

// Is makes it a way to die.
func (e *gaveUp) Is(target error) bool { return target == wire.ErrDied }

// meshComm is the number under which meshes talk among themselves.
const meshComm = 1<<64 - 1

// What they talk about.
const (
	kindReady    uint8 = iota + 1 // to process 0: the sender is connected to all
	kindGo                        // from process 0: all are
	kindMember                    // to a newcomer: a member's card, or nothing after the last one
	kindNewcomer                  // from a newcomer: its card
	kindGone                      // to a newcomer: a member is down
	kindHello                     // to a newcomer: the sender, whose number is the Seq, is connected to it
	kindMeet                      // from the first process of a host: connections to others of the host, and their cards
	kindMet                       // to that process: the sender has taken the last ones
)
