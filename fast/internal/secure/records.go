package secure

import (
	"encoding/binary"
	"errors"
	"net"
)

// records is the connection beneath TLS. As long as exact is set, a Read ends where a record of TLS ends, at the
// latest, so that the TLS layer never holds bytes of what comes after.
type records struct {
	net.Conn
	exact  bool
	header [5]byte // of the next record: its type, version and length
	have   int     // bytes of it that were read
	left   int     // bytes of this record that were not
	allow  int     // bytes that may still be read; negative: any number
}

// unproven is how many bytes of TLS are read from a peer before it is accepted: more than any chain of certificates
// takes.
const unproven = 64 << 10

var errTooMuch = errors.New("more bytes than any handshake has")

func (r *records) Read(p []byte) (int, error) {
	if r.allow == 0 {
		return 0, errTooMuch
	}
	n := len(p)
	if r.allow > 0 {
		n = min(n, r.allow)
	}
	if r.exact {
		n = min(n, r.atOnce())
	}
	n, err := r.Conn.Read(p[:n])
	r.took(p[:n])
	return n, err
}

// atOnce returns how many bytes are known to belong to the header, or else to the record.
func (r *records) atOnce() int {
	if r.left > 0 {
		return r.left
	}
	return len(r.header) - r.have
}

func (r *records) took(p []byte) {
	if r.allow > 0 {
		r.allow -= len(p)
	}
	switch {
	case !r.exact:
	case r.left > 0:
		r.left -= len(p)
	default:
		r.have += copy(r.header[r.have:], p)
		if r.have == len(r.header) {
			r.left, r.have = int(binary.BigEndian.Uint16(r.header[3:])), 0
		}
	}
}

// settle ends what holds only for the handshake. For data, records are read exactly to the end.
func (r *records) settle(p Purpose) {
	r.allow, r.exact = -1, p == Data
}
