package secure

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// A reply is what the server says, once after the preamble, unless that gets a challenge, and once after the hello. It
// has this many bytes, in all versions, and means the same in all:
//
//	0 magic   12 version   14 status: a place in reasons   15 zero   16 text, filled up with zeros
//
// A challenge is a reply with status 0 and, instead of the text, random bytes that were never sent before.
const replyBytes = 96

func encodeReply(err error) []byte {
	b := make([]byte, replyBytes)
	copy(b, magic)
	binary.BigEndian.PutUint16(b[12:], Version)
	status, detail := reasonOf(err)
	b[14] = byte(status)
	copy(b[16:], detail)
	return b
}

// errUnknownReply: nothing that a server of this version says.
var errUnknownReply = errors.New("a reply that this version does not know")

// decodeReply returns the server's refusal, or nil if it goes on.
func decodeReply(b []byte) error {
	switch {
	case bytes.Equal(b, encodeReply(nil)):
		return nil
	case len(b) != replyBytes || string(b[:len(magic)]) != magic || b[14] == 0 || int(b[14]) >= len(reasons):
		return fmt.Errorf("%w: %w", ErrBroken, errUnknownReply)
	}
	reason, detail := reasons[b[14]], printable(b[16:])
	if detail == "" || detail == reason.Error() {
		return fmt.Errorf("the other side says: %w", reason)
	}
	return fmt.Errorf("the other side says: %w: %s", reason, detail)
}

// challengeBytes is how many bytes of a challenge are random.
const challengeBytes = 32

func encodeChallenge(challenge []byte) []byte {
	b := encodeReply(nil)
	copy(b[16:], challenge)
	return b
}

// decodeChallenge returns what the server wants an answer to, or its refusal.
func decodeChallenge(b []byte) ([]byte, error) {
	if len(b) == replyBytes {
		challenge := b[16 : 16+challengeBytes]
		if bytes.Equal(b, encodeChallenge(challenge)) {
			return challenge, nil
		}
	}
	return nil, decodeReply(b)
}

// printable returns the text in b up to the first zero, with question marks for what is not printable ASCII.
func printable(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	return string(bytes.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text))
}
