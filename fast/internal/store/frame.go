package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Frames are what the two ends of a connection send each other. Each has its length in front, and a number by which the
// reply is found.
//
//	length uint32, of what follows | id uint32 | kind uint8 | length of key uint8 | key | value
type frame struct {
	id    uint32
	kind  kind
	key   string
	value []byte
}

type kind uint8

const (
	hello  kind = iota + 1 // who the client is; the first frame to a Local store, whose answer is the secret
	set                    // value under key
	get                    // the value under key, when there is one
	remove                 // key
	forget                 // the get of that id
	done                   // the request was carried out; the value, if there is one
	failed                 // it was not; the value is the reason in words
	bye                    // the store is closed
	kinds
)

const (
	frameHead = 4 + 1 + 1
	maxFrame  = frameHead + MaxKey + MaxValue
)

var errFrame = errors.New("this is not a frame of a store")

// encode returns f with its length in front. Its key and value were checked.
func (f frame) encode() []byte {
	b := make([]byte, 0, 4+frameHead+len(f.key)+len(f.value))
	b = binary.LittleEndian.AppendUint32(b, uint32(frameHead+len(f.key)+len(f.value)))
	b = binary.LittleEndian.AppendUint32(b, f.id)
	b = append(b, byte(f.kind), byte(len(f.key)))
	return append(append(b, f.key...), f.value...)
}

// readFrame reads a frame of at most limit bytes without its length.
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
		return frame{}, unexpected(err)
	}
	return decodeFrame(b)
}

// unexpected returns the error of an end in the middle of a frame.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// decodeFrame returns the frame in b, which it keeps.
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
