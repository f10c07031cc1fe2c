package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// frame is a message between the two ends of a connection. A reply has the id of its request.
//
//	length uint32, of the rest | id uint32 | kind uint8 | length of key uint8 | key | value
type frame struct {
	id    uint32
	kind  kind
	key   string
	value []byte
}

type kind uint8

const (
	hello     kind = iota + 1 // who the client is: the first frame to a Local store, which replies with the secret
	set                       // store the value under the key
	get                       // wait for the value under the key
	remove                    // the key and its value
	cancelGet                 // the get with this id
	done                      // the reply to a request that succeeded, with its value if any
	failed                    // the reply to a request that failed; the value is the error's text
	bye                       // the store is closed
	kinds
)

const (
	frameHead = 4 + 1 + 1
	maxFrame  = frameHead + MaxKey + MaxValue
)

var errFrame = errors.New("this is not a frame of a store")

// encode returns f with its length. The caller has checked key and value.
func (f frame) encode() []byte {
	b := make([]byte, 0, 4+frameHead+len(f.key)+len(f.value))
	b = binary.LittleEndian.AppendUint32(b, uint32(frameHead+len(f.key)+len(f.value)))
	b = binary.LittleEndian.AppendUint32(b, f.id)
	b = append(b, byte(f.kind), byte(len(f.key)))
	return append(append(b, f.key...), f.value...)
}

// readFrame reads a frame, which may have at most limit bytes after its length.
func readFrame(r io.Reader, limit int) (frame, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return frame{}, err
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n < frameHead || uint64(n) > uint64(limit) {
		return frame{}, fmt.Errorf("%w: %d bytes", errFrame, n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return frame{}, noEOF(err)
	}
	return decodeFrame(b)
}

// noEOF returns err, or io.ErrUnexpectedEOF for io.EOF.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// decodeFrame returns the frame in b. The frame refers to b.
func decodeFrame(b []byte) (frame, error) {
	if len(b) < frameHead || len(b) > maxFrame {
		return frame{}, errFrame
	}
	f := frame{id: binary.LittleEndian.Uint32(b), kind: kind(b[4])}
	n, rest := int(b[5]), b[frameHead:]
	if f.kind == 0 || f.kind >= kinds || n > MaxKey || n > len(rest) || len(rest)-n > MaxValue {
		return frame{}, errFrame
	}
	f.key, f.value = string(rest[:n]), rest[n:]
	return f, nil
}
