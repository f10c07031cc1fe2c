package tcp

import (
	"crypto/cipher"
	"encoding/binary"
	"errors"
)

// An encrypted link carries records: a length, and a sealed piece of the stream of frames of that length. The length is
// authenticated, and the number of the record is the nonce. So a record that was changed, left out, repeated or moved
// does not open.
const (
	recordBytes = 32 << 10 // the most bytes of frames in a record
	lengthBytes = 4
	maxOverhead = 64 // the most that an AEAD adds
)

var errTampered = errors.New("what came was not sent by it, or was changed on the way")

// numbered is an AEAD with the number of its last record.
type numbered struct {
	cipher.AEAD
	nonce []byte
}

// next returns the nonce of the next record.
func (a *numbered) next() []byte {
	tail := a.nonce[len(a.nonce)-8:]
	binary.BigEndian.PutUint64(tail, binary.BigEndian.Uint64(tail)+1)
	return a.nonce
}

// sealer encrypts what goes out on a link.
type sealer struct {
	numbered
	plain  []byte // the contents of the next record
	record []byte // the last record
	from   int    // how much of it has gone out
}

func newSealer(a cipher.AEAD) *sealer {
	if a == nil {
		return nil
	}
	return &sealer{numbered: numbered{a, make([]byte, a.NonceSize())}, plain: make([]byte, 0, recordBytes),
		record: make([]byte, 0, lengthBytes+recordBytes+a.Overhead())}
}

func (s *sealer) flushed() bool { return s.from == len(s.record) }

// write is output.write. What is copied from payload to a record counts as sent.
func (s *sealer) write(o *output, to Socket, payload []byte) int {
	if s.send(o, to); !s.flushed() {
		return 0
	}
	head := o.pending[o.from:]
	s.plain = append(s.plain[:0], head[:min(len(head), recordBytes)]...)
	o.drop(len(s.plain))
	n := min(len(payload), recordBytes-len(s.plain))
	s.plain = append(s.plain, payload[:n]...)
	if len(s.plain) > 0 {
		s.seal()
		s.send(o, to)
	}
	return n
}

// seal makes a record of plain.
func (s *sealer) seal() {
	length := binary.LittleEndian.AppendUint32(s.record[:0], uint32(len(s.plain)+s.Overhead()))
	s.record, s.from = s.Seal(length, s.next(), s.plain, length), 0
}

func (s *sealer) send(o *output, to Socket) {
	if !s.flushed() {
		s.from += o.result(to.Write(s.record[s.from:], nil))
	}
}

// opener decrypts what arrives on a link.
type opener struct {
	numbered
	buf  []byte
	r, w int
}

func newOpener(a cipher.AEAD) *opener {
	if a == nil {
		return nil
	}
	return &opener{numbered: numbered{a, make([]byte, a.NonceSize())}, buf: make([]byte, bufferBytes)}
}

// fill is input.fill.
func (o *opener) fill(in *input, from Socket) bool {
	if o.open(in) {
		return true
	}
	if o.w == len(o.buf) {
		o.w, o.r = copy(o.buf, o.buf[o.r:o.w]), 0
	}
	n := in.readInto(from, o.buf[o.w:])
	o.w += n
	o.open(in)
	return n > 0
}

// open opens the records that have arrived, as far as there is room, and reports whether there were any.
func (o *opener) open(in *input) (opened bool) {
	for {
		if o.r == o.w {
			o.r, o.w = 0, 0
		}
		rest := o.buf[o.r:o.w]
		if len(rest) < lengthBytes || errors.Is(in.err, errTampered) {
			return opened
		}
		length := rest[:lengthBytes]
		n := uint64(binary.LittleEndian.Uint32(length))
		if n < uint64(o.Overhead()) || n > uint64(recordBytes+o.Overhead()) {
			in.err, in.empty = errTampered, true
			return opened
		}
		if uint64(len(rest)) < lengthBytes+n || uint64(len(in.buf)-in.w) < n {
			return opened
		}
		plain, err := o.Open(in.buf[in.w:in.w], o.next(), rest[lengthBytes:lengthBytes+n], length)
		if err != nil {
			in.err, in.empty = errTampered, true
			return opened
		}
		in.w += len(plain)
		o.r += lengthBytes + int(n)
		opened = true
	}
}
