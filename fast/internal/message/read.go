package message

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/cma"
	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/spec"
)

// Where the receiver may read the memory of the sender's process, an announcement says where the message lies. The
// receiver copies it when a receive has matched, and acknowledges it. After that it looks at a word there, the seal: it
// is whole until the send is over, and its value is drawn for this message. So a sender whose call ends at any other
// time breaks the seal and returns, without an answer: what is read then, or in another process of the same number, is
// not taken for the message. A receiver that cannot read all of it accepts the message, and the bytes follow.

// place is where a message lies, in the memory of its sender's process. The zero place is nowhere.
type place struct {
	at     uint64 // the address of its bytes
	seal   uint64 // the address of the seal
	unique uint64 // the value of the seal while it is whole
}

// placeBytes is the length of an encoded place.
const placeBytes = 3 * 8

func (l place) encode() []byte {
	b := binary.LittleEndian.AppendUint64(nil, l.at)
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, l.seal), l.unique)
}

// placeOf returns the place that b encodes; nowhere, if b is empty. A broken seal is 0, so no seal is whole then.
func placeOf(b []byte) (l place, ok bool) {
	if len(b) != placeBytes {
		return l, len(b) == 0
	}
	l = place{at: binary.LittleEndian.Uint64(b), seal: binary.LittleEndian.Uint64(b[8:]),
		unique: binary.LittleEndian.Uint64(b[16:])}
	return l, l.seal != 0 && l.unique != 0
}

// expose seals the message of o, and returns where p can read it: nowhere, if it cannot. The engine is locked.
func (e *Engine) expose(p *peer, o *Op) place {
	if len(o.buf) <= EagerLimit || p.rank == e.rank || e.comm.Process(p.rank) == 0 {
		return place{}
	}
	unique := rand.Uint64() | 1
	o.seal.Store(unique)
	at, seal := unsafe.Pointer(unsafe.SliceData(o.buf)), unsafe.Pointer(&o.seal)
	return place{uint64(uintptr(at)), uint64(uintptr(seal)), unique}
}

// readable reports whether o, which m has matched, is to read it in the memory of its sender. The engine is locked.
func (e *Engine) readable(p *peer, o *Op, m *envelope) bool {
	return o.toRead != nil && m.place != place{} && !p.unreadable && e.comm.Process(p.rank) != 0
}

// piece is how much is read at a time. A receive notices only between pieces, every millisecond, that it has ended.
const piece = 4 << 20

// read copies the message that o has matched from the memory of its sender, until o is over or ends returns true. The
// goroutine that waits for o calls it, so that the buffer is not used any more when that returns.
func (o *Op) read(ends func() bool) {
	e := o.e
	e.mu.Lock()
	if o.over {
		e.unlock()
		return
	}
	m, buf, p := o.message, o.buf[:o.message.length], e.peer(o.message.source)
	process := e.comm.Process(p.rank)
	e.reading[o] = buf
	e.unlock()
	err := m.place.copy(buf, process, func() bool { return o.Over() || ends() })
	e.mu.Lock()
	defer e.unlock()
	defer delete(e.reading, o)
	switch {
	case o.over: // meanwhile, so that something may have come after it was made tidy
		o.tidy(buf)
	case err == errEnds: // its caller ends o
	case err != nil:
		p.unreadable = p.unreadable || cma.Refused(err)
		o.accepted = true
		e.send(p, frame{kind: accept, id: m.id})
	default:
		delete(p.transfers, m.id)
		e.send(p, frame{kind: ack, id: m.id})
		e.finish(o, nil)
	}
}

// The reasons why a message is not read.
var (
	errEnds   = errors.New("it need not be read")
	errBroken = errors.New("its seal is broken, or in another process")
)

// copy copies what lies at l in the memory of a process to buf. It fails with errEnds when ends returns true.
func (l place) copy(buf []byte, process int, ends func() bool) error {
	var r cma.Reader
	for at := 0; at < len(buf); {
		n, seal := min(len(buf)-at, piece), uintptr(0)
		if at+n == len(buf) {
			seal = uintptr(l.seal)
		}
		if ends() {
			return errEnds
		}
		word, err := r.Read(process, buf[at:at+n], uintptr(l.at)+uintptr(at), seal)
		switch {
		case err != nil:
			return err
		case seal != 0 && word != l.unique:
			return errBroken
		}
		at += n
	}
	return nil
}

// tidy leaves nothing but bools in the buffer of a receive of bools, whatever has come.
func (o *Op) tidy(buf []byte) {
	if o.typ == spec.TypeBool {
		kernel.Tidy(buf)
	}
}

// ended returns whether a wait with ctx for o ends.
func (o *Op) ended(ctx context.Context, ended <-chan struct{}) func() bool {
	return func() bool {
		select {
		case <-ctx.Done():
		case <-o.e.left:
		case <-ended:
		default:
			return false
		}
		return true
	}
}
