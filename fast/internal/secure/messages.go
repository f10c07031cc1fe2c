package secure

import (
	"bytes"
	"crypto/hmac"
	"encoding/binary"
	"errors"
	"fmt"
)

// magic begins the first message of either side. An HTTP server takes it for a complete and malformed request, so it
// answers at once. Neither TLS nor SSH begins with its first byte.
const magic = "COLLGEN\x00\r\n\r\n"

const macBytes = 32

// preambleBytes is the length of a preamble in all versions. Magic and version have the same place in all of them:
//
//	0  magic    14 mode          16 hash of the job   36 server, if private
//	12 version  15 1 if private  32 epoch             40 zeros
//
// With certificates, only the hello has the job and epoch. The client's answer to the challenge that follows is the
// HMAC-SHA256 of its side, the preamble and the challenge, or zeros with certificates; so an overheard answer is
// useless on another connection. On a private connection, the server that the client wants answers its own challenge
// too.
const preambleBytes = 96

func encodePreamble(c Credentials, me Identity, to int, private bool) []byte {
	b := make([]byte, preambleBytes)
	copy(b, magic)
	binary.BigEndian.PutUint16(b[12:], Version)
	b[14] = byte(c.mode())
	if private {
		b[15] = 1
		binary.BigEndian.PutUint32(b[36:], uint32(to))
	}
	if c.mode() == modeSecret {
		job := hashJob(me.Job)
		copy(b[16:], job[:])
		binary.BigEndian.PutUint32(b[32:], me.Epoch)
	}
	return b
}

// checkPreamble returns why the client that sent b cannot be challenged. The caller has checked the magic.
func checkPreamble(b []byte, c Credentials, private bool) error {
	if len(b) != preambleBytes {
		return fmt.Errorf("%w: a preamble of %d bytes", ErrBroken, len(b))
	}
	switch version := binary.BigEndian.Uint16(b[12:]); {
	case version != Version:
		return mismatch(ErrWrongVersion, version, Version)
	case mode(b[14]) != c.mode():
		return fmt.Errorf("%w: %v, want %v", ErrWrongMode, mode(b[14]), c.mode())
	case b[15] > 1 || (b[15] == 1) != private:
		return fmt.Errorf("%w: only one side takes the connection for private", ErrWrongMode)
	}
	return nil
}

// checkAnswer returns why to refuse the client that sent the preamble b and answered the challenge so.
func checkAnswer(b, challenge, answer []byte, c Credentials, me Identity) error {
	mac, job, epoch := c.mac(client, b, challenge), hashJob(me.Job), binary.BigEndian.Uint32(b[32:])
	switch {
	case !hmac.Equal(mac[:], answer):
		return ErrWrongSecret
	case c.mode() == modeCertificate:
		return nil
	case !bytes.Equal(job[:], b[16:32]):
		return ErrWrongJob
	case epoch != me.Epoch:
		return mismatch(ErrStaleEpoch, epoch, me.Epoch)
	case b[15] == 1 && binary.BigEndian.Uint32(b[36:]) != uint32(me.Process):
		return mismatch(ErrWrongRank, int(binary.BigEndian.Uint32(b[36:])&StoreProcess), me.Process)
	}
	return nil
}

// replyBytes is the length of a reply in all versions, and its fields mean the same in all of them. The server sends a
// reply after the preamble, unless it sends a challenge, and another after the hello.
//
//	0 magic   12 version   14 status: an index into reasons   15 zero   16 text, padded with zeros
//
// A challenge is a reply with status 0 and fresh random bytes in place of the text.
const replyBytes = 96

func encodeReply(err error) []byte {
	b := make([]byte, replyBytes)
	copy(b, magic)
	binary.BigEndian.PutUint16(b[12:], Version)
	status, detail := encodeReason(err)
	b[14] = byte(status)
	copy(b[16:], detail)
	return b
}

// errUnknownReply is for replies that no server of this version sends.
var errUnknownReply = errors.New("a reply that this version does not know")

// decodeReply returns the server's refusal, or nil if it accepts.
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

// decodeChallenge returns the random bytes of the server's challenge, or its refusal.
func decodeChallenge(b []byte) ([]byte, error) {
	if len(b) == replyBytes {
		challenge := b[16 : 16+challengeBytes]
		if bytes.Equal(b, encodeChallenge(challenge)) {
			return challenge, nil
		}
	}
	return nil, decodeReply(b)
}

// printable returns the text in b up to the first zero, with question marks for anything but printable ASCII.
func printable(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	return string(bytes.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text))
}

// Hello is what a client says about a connection.
type Hello struct {
	From, To int // processes; Client sets From
	Purpose  Purpose
	Encrypt  bool     // of a data connection: it stays encrypted; see Conn.Raw
	Comm     uint64   // the communicator that uses it, if any
	Token    [16]byte // lets the server recognise the connection, where its purpose needs that
}

// Purpose is what a connection is for.
type Purpose uint8

// The purposes of connections.
const (
	Control Purpose = 1 + iota // messages between two processes
	Data                       // a communicator's data
	Store                      // how processes find each other
	Join                       // a process that joins later
)

// String returns the purpose's name.
func (p Purpose) String() string {
	names := [...]string{Control: "control", Data: "data", Store: "store", Join: "join"}
	if p >= Control && int(p) < len(names) {
		return names[p]
	}
	return fmt.Sprintf("purpose %d", uint8(p))
}

// helloBytes is the length of a hello, which comes in one record:
//
//	0 version   3 1 if encrypted   20 epoch   28 from   36 communicator
//	2 purpose   4 hash of the job  24 size    32 to     44 token
const helloBytes = 60

func encodeHello(h Hello, me Identity) []byte {
	b := make([]byte, 0, helloBytes)
	b = binary.BigEndian.AppendUint16(b, Version)
	b = append(b, byte(h.Purpose), 0)
	if h.Encrypt {
		b[3] = 1
	}
	job := hashJob(me.Job)
	b = append(b, job[:]...)
	for _, v := range [...]uint32{me.Epoch, uint32(me.Size), uint32(h.From), uint32(h.To)} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	b = binary.BigEndian.AppendUint64(b, h.Comm)
	return append(b, h.Token[:]...)
}

// decodeHello returns the client's hello and the identity that it claims. It returns an error if me cannot accept them.
func decodeHello(b []byte, me Identity) (Hello, Identity, error) {
	if len(b) != helloBytes {
		return Hello{}, Identity{}, fmt.Errorf("%w: a hello of %d bytes, want %d", ErrRefused, len(b), helloBytes)
	}
	number := func(at int) int { return int(binary.BigEndian.Uint32(b[at:]) & StoreProcess) }
	h := Hello{From: number(28), To: number(32), Purpose: Purpose(b[2]), Encrypt: b[3] == 1,
		Comm: binary.BigEndian.Uint64(b[36:]), Token: [16]byte(b[44:])}
	from := Identity{Job: me.Job, Epoch: binary.BigEndian.Uint32(b[20:]), Process: h.From, Size: number(24)}
	switch version := binary.BigEndian.Uint16(b); {
	case version != Version:
		return h, from, mismatch(ErrWrongVersion, version, Version)
	case jobHash(b[4:]) != hashJob(me.Job):
		return h, from, ErrWrongJob
	case from.Epoch != me.Epoch:
		return h, from, mismatch(ErrStaleEpoch, from.Epoch, me.Epoch)
	case me.Size != 0 && from.Size != me.Size:
		return h, from, mismatch(ErrWrongSize, from.Size, me.Size)
	case h.To != me.Process:
		return h, from, fmt.Errorf("%w: this is process %d, want %d", ErrWrongRank, me.Process, h.To)
	case h.From == h.To || b[28]|b[32]|b[24] > 127:
		return h, from, fmt.Errorf("%w: process %d cannot call process %d", ErrWrongRank, h.From, h.To)
	case h.Purpose < Control || h.Purpose > Join || b[3] > 1:
		return h, from, fmt.Errorf("%w: %v is unknown", ErrRefused, h.Purpose)
	}
	return h, from, nil
}
