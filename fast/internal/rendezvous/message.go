//go:build linux

package rendezvous

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode"
)

// Messages are packets of fixed length, each with a kind of its own.
const (
	magic      = "collgen\x01" // ends with the version
	helloBytes = len(magic) + 8 + sha256.Size
	noteBytes  = 256
	textBytes  = noteBytes - len(magic) - 8
)

// maxSize bounds the number of ranks, and so what a message may claim.
const maxSize = 1 << 16

// hello is what a rank says when it connects to rank 0.
type hello struct {
	rank, size int
	job        [sha256.Size]byte // hash of its job's name
}

func (h hello) encode() []byte {
	b := append(make([]byte, 0, helloBytes), magic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(h.rank))
	b = binary.LittleEndian.AppendUint32(b, uint32(h.size))
	return append(b, h.job[:]...)
}

var errNotAMessage = errors.New("this is not a message of collgen, or of another version")

// decodeHello is the hello in b, with 0 < rank < size <= maxSize.
func decodeHello(b []byte) (hello, error) {
	if len(b) != helloBytes || !bytes.HasPrefix(b, []byte(magic)) {
		return hello{}, errNotAMessage
	}
	b = b[len(magic):]
	rank, size := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	if size > maxSize || rank == 0 || rank >= size {
		return hello{}, fmt.Errorf("there is no rank %d of %d", rank, size)
	}
	return hello{int(rank), int(size), [sha256.Size]byte(b[8:])}, nil
}

// note is every other message.
type note struct {
	kind kind
	n    int // of files: how many more will follow in other notes; of died and failed: the rank
	text string
}

type kind uint32

const (
	accepted kind = iota // rank 0 has accepted the rank
	refused              // it has not; text says why
	files                // carries files
	ready                // the rank has taken its files
	proceed              // all ranks have
	died                 // rank n died
	failed               // rank n gives up; text says why
	kinds
)

// encode cuts a text that is too long.
func (n note) encode() []byte {
	b := append(make([]byte, 0, noteBytes), magic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(n.kind))
	b = binary.LittleEndian.AppendUint32(b, uint32(n.n))
	return append(b, n.text[:min(len(n.text), textBytes)]...)[:noteBytes]
}

// decodeNote is the note in b, with 0 <= n <= maxSize. Its text is printable.
func decodeNote(b []byte) (note, error) {
	if len(b) != noteBytes || !bytes.HasPrefix(b, []byte(magic)) {
		return note{}, errNotAMessage
	}
	b = b[len(magic):]
	k, n := kind(binary.LittleEndian.Uint32(b)), binary.LittleEndian.Uint32(b[4:])
	if k >= kinds || n > maxSize {
		return note{}, errNotAMessage
	}
	text, _, _ := bytes.Cut(b[8:], []byte{0})
	return note{k, int(n), printable(text)}, nil
}

// printable is text with a question mark for all that a terminal might take for a command.
func printable(text []byte) string {
	return string(bytes.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return '?'
	}, text))
}
