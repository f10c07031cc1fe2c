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
	frameBeat   uint8 = iota + 1 // a heartbeat; its body is by how much the sender has been late
	frameNote                    // a control message
	frameBye                     // the sender leaves; the body is a close reason
	frameFenced                  // the sender takes the receiver for dead
	frameCount                   // the sender counts its heartbeats in the file that comes with it, and sends none
	frameBlind                   // the sender cannot read the receiver's count, and wants heartbeats
)

const (
	headBytes = 20
	maxFiles  = 64 // per message
)

// head is the header of a frame, before a body of length bytes.
type head struct {
	kind, files uint8
	length      uint32
	topic       wire.Topic
}

// frame is an encoded frame and the files to send with it.
type frame struct {
	bytes []byte
	body  []byte // follows them; the caller's, until keep
	files []int
	begun bool   // the system has taken what was before bytes
	spare *spare // has bytes, if not nil
}

// newFrame returns a frame, which owns files from now on.
func newFrame(kind uint8, t wire.Topic, body []byte, files []int) frame {
	b := make([]byte, headBytes, headBytes+len(body))
	binary.LittleEndian.PutUint32(b[0:], uint32(len(body)))
	b[4], b[5], b[6] = kind, uint8(len(files)), t.Kind
	binary.LittleEndian.PutUint64(b[8:], t.Comm)
	binary.LittleEndian.PutUint32(b[16:], t.Seq)
	return frame{bytes: append(b, body...), files: files}
}

// noteFrame returns the frame of a control message. It owns files from now on, but body only after keep.
func noteFrame(t wire.Topic, body []byte, files []int) frame {
	f := newFrame(frameNote, t, nil, files)
	binary.LittleEndian.PutUint32(f.bytes, uint32(len(body)))
	f.body = body
	return f
}

// decodeHead decodes and checks the header of a frame.
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
		most = maxCloseReason
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

// errBeats is for a process that sends a file which is no count of heartbeats, so it is broken.
var errBeats = errors.New("not a count of heartbeats")

// lateBytes is the length of a delay in a heartbeat, in milliseconds. A heartbeat without delay has no body.
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

// closeReason is why a process leaves. It is empty after Close.
type closeReason struct {
	blame blame
	ranks []int // the processes that it blames
	text  string
}

// blame is what a process that leaves blames others for.
type blame uint8

const (
	blameNobody blame = iota
	blameAbsent       // they did not come in time
	blameDead         // they are down
)

const (
	maxBlamed      = 256
	maxReason      = 2 << 10
	maxCloseReason = 3 + 4*maxBlamed + maxReason
)

// closeReasonOf returns the close reason of a process that fails with err.
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

// encode encodes f, and truncates what is too long.
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

// decodeCloseReason decodes a close reason.
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

// err returns why the process that sent f is down.
func (f closeReason) err() error {
	if f.text == "" {
		return wire.ErrClosed
	}
	return &gaveUp{f}
}

// gaveUp is the error of a process that has left for a reason other than Close.
type gaveUp struct{ closeReason }

func (e *gaveUp) Error() string { return "gave up: " + e.text }

// Is reports true for wire.ErrDied.
func (e *gaveUp) Is(target error) bool { return target == wire.ErrDied }

// meshComm is the communicator number of the mesh's own messages.
const meshComm = 1<<64 - 1

// The kinds of the mesh's own messages.
const (
	kindReady      uint8 = iota + 1 // to process 0: the sender is connected to all others
	kindGo                          // from process 0: all processes are connected to all others
	kindMember                      // to a newcomer: the card of a member, or nothing after the last one
	kindNewcomer                    // from a newcomer: its card
	kindGone                        // to a newcomer: a member is down
	kindHello                       // to a newcomer: the sender, whose number is the Seq, is connected to it
	kindIntroduce                   // from the first process of a host: connections to others of the host, and their cards
	kindIntroduced                  // to the first process of a host: the sender has taken the last connections
	kindCards                       // from the first process of a host: cards of others
)
