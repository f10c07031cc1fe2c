package secure

import (
	"bytes"
	"crypto/hmac"
	"encoding/binary"
	"fmt"
)

// magic begins what either side says first. To a server of HTTP it is a whole request, and a bad one, so that it
// answers at once; its first byte is none that TLS or SSH begin with.
const magic = "COLLGEN\x00\r\n\r\n"

const macBytes = 32

// A preamble has this many bytes, in all versions, of which the magic and the version are the same in all versions:
//
//	0  magic    14 mode          16 hash of the job   36 server, if private
//	12 version  15 1 if private  32 epoch             40 zeros
//
// With certificates, job and epoch are in the hello alone. The client's answer to the challenge that follows is the
// HMAC-SHA256 of its side, the preamble and the challenge, or zeros with certificates. So what somebody has overheard
// is worth nothing on another connection. On a private connection the server answers its own challenge too, if it is
// the one that the client wants.
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

// judgePreamble says why the client that sent b cannot be asked for more. The caller has checked the magic.
func judgePreamble(b []byte, c Credentials, private bool) error {
	if len(b) != preambleBytes {
		return fmt.Errorf("%w: a preamble of %d bytes", ErrBroken, len(b))
	}
	switch version := binary.BigEndian.Uint16(b[12:]); {
	case version != Version:
		return not(ErrWrongVersion, int(version), Version)
	case mode(b[14]) != c.mode():
		return fmt.Errorf("%w: %v, and not %v", ErrWrongMode, mode(b[14]), c.mode())
	case b[15] > 1 || (b[15] == 1) != private:
		return fmt.Errorf("%w: only one side takes the connection for private", ErrWrongMode)
	}
	return nil
}

// judgeAnswer says why the client is refused that sent the preamble b and, when it was challenged, answer.
func judgeAnswer(b, challenge, answer []byte, c Credentials, me Identity) error {
	mac, job, epoch := c.mac(client, b, challenge), hashJob(me.Job), binary.BigEndian.Uint32(b[32:])
	switch {
	case !hmac.Equal(mac[:], answer):
		return ErrWrongSecret
	case c.mode() == modeCertificate:
		return nil
	case !bytes.Equal(job[:], b[16:32]):
		return ErrWrongJob
	case epoch != me.Epoch:
		return notEpoch(epoch, me.Epoch)
	case b[15] == 1 && binary.BigEndian.Uint32(b[36:]) != uint32(me.Process):
		return not(ErrWrongRank, int(binary.BigEndian.Uint32(b[36:])&StoreProcess), me.Process)
	}
	return nil
}

func notEpoch(got, want uint32) error {
	return fmt.Errorf("%w: %d, and not %d", ErrStaleEpoch, got, want)
}
