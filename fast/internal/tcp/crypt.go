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

// seal makes a record of plain.
func (s *sealer) seal() {
	length := binary.LittleEndian.AppendUint32(s.record[:0], uint32(len(s.plain)+s.Overhead()))
	s.record, s.from = s.Seal(length, s.next(), s.plain, length), 0
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
