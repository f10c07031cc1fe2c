package secure

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Conn is a connection to a process that has proved who it is. It uses TLS unless it is Private.
type Conn struct {
	net.Conn
	Peer    Identity
	records *recordReader
	client  bool // this side opened it
}

// Close closes the connection at once. The layer above says goodbye: TLS would wait for a peer that does not read.
func (c *Conn) Close() error { return c.records.Conn.Close() }

// NetConn returns the connection below TLS. Reading or writing it directly bypasses TLS.
func (c *Conn) NetConn() net.Conn { return c.records.Conn }

// Raw takes a data connection out of TLS and returns the TCP connection below. Nothing may have been read or written on
// c since the handshake, and c must not be used afterwards. Both sides have to pass the same argument. With encrypt,
// the data has to be sealed by AES-256-GCM under keys that only the two processes have, one for each direction, so
// nonces may count from 0 on each side. Without, the data is protected only by the fact that the connection was
// authentic when it began.
func (c *Conn) Raw(encrypt bool) (wire.Conn, error) {
	tcp, ok := c.records.Conn.(*net.TCPConn)
	if _, inTLS := c.Conn.(*tls.Conn); !ok || !inTLS || !c.records.exact {
		return wire.Conn{}, errors.New("only a TCP connection for data can be taken out of TLS")
	}
	raw := wire.Conn{TCPConn: tcp}
	if !encrypt {
		return raw, nil
	}
	fromClient, err := c.aead(client)
	if err != nil {
		return wire.Conn{}, err
	}
	fromServer, err := c.aead(server)
	if err != nil {
		return wire.Conn{}, err
	}
	raw.Seal, raw.Open = fromServer, fromClient
	if c.client {
		raw.Seal, raw.Open = fromClient, fromServer
	}
	return raw, nil
}

// aead returns the cipher of what one side sends.
func (c *Conn) aead(sender side) (cipher.AEAD, error) {
	state := c.Conn.(*tls.Conn).ConnectionState()
	key, err := state.ExportKeyingMaterial("EXPORTER-collgen-data-"+string(sender), nil, 32)
	if err != nil {
		return nil, fmt.Errorf("keys for data: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// recordReader is the connection below TLS. While exact is set, a Read never goes beyond the end of a TLS record, so
// the TLS layer never buffers bytes that come after it.
type recordReader struct {
	net.Conn
	exact  bool
	header [5]byte // of the next record: its type, version and length
	have   int     // bytes of the header that were read
	left   int     // bytes of this record still to be read
	allow  int     // bytes that may still be read; negative: any number
}

// maxUnproved is how many bytes of TLS are read from a peer before it is accepted: more than any chain of certificates
// takes.
const maxUnproved = 64 << 10

var errTooLong = errors.New("more bytes than any handshake has")

func (r *recordReader) Read(p []byte) (int, error) {
	if r.allow == 0 {
		return 0, errTooLong
	}
	n := len(p)
	if r.allow > 0 {
		n = min(n, r.allow)
	}
	if r.exact {
		n = min(n, r.remaining())
	}
	n, err := r.Conn.Read(p[:n])
	r.consume(p[:n])
	return n, err
}

// remaining returns how many bytes are left of the record, or of the next header.
func (r *recordReader) remaining() int {
	if r.left > 0 {
		return r.left
	}
	return len(r.header) - r.have
}

// consume accounts for bytes that were read.
func (r *recordReader) consume(p []byte) {
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

// accept lifts the limits of the handshake. Only on data connections, Raw needs records to be read exactly.
func (r *recordReader) accept(p Purpose) {
	r.allow, r.exact = -1, p == Data
}
