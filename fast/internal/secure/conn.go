package secure

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Conn is a connection to a process that has proved who it is: in TLS, unless it is Private.
type Conn struct {
	net.Conn
	Peer   Identity
	under  *records
	client bool
}

// Close closes the connection at once. What says goodbye on it is for the layer above: TLS would wait for a peer that
// does not read.
func (c *Conn) Close() error { return c.under.Conn.Close() }

// Under returns the connection that the handshake was made on. What is read or written on it is not TLS's.
func (c *Conn) Under() net.Conn { return c.under.Conn }

// Raw takes a connection for data, on which nothing was read or written since the handshake, out of TLS: it is the TCP
// connection beneath, of which nothing is lost, and c is not to be used any more. Both sides have to make the same
// choice: with encrypt, what is sent is to be sealed with AES-256-GCM under keys that nobody else has, one for each
// direction, so that nonces may count from 0 on each side. Without, what protects the data is only that the connection
// was authentic when it began.
func (c *Conn) Raw(encrypt bool) (wire.Conn, error) {
	tcp, ok := c.under.Conn.(*net.TCPConn)
	if _, inTLS := c.Conn.(*tls.Conn); !ok || !inTLS || !c.under.exact {
		return wire.Conn{}, errors.New("only a TCP connection for data can be taken out of TLS")
	}
	raw := wire.Conn{TCPConn: tcp}
	if !encrypt {
		return raw, nil
	}
	fromClient, err := c.aead("client")
	if err != nil {
		return wire.Conn{}, err
	}
	fromServer, err := c.aead("server")
	if err != nil {
		return wire.Conn{}, err
	}
	raw.Seal, raw.Open = fromServer, fromClient
	if c.client {
		raw.Seal, raw.Open = fromClient, fromServer
	}
	return raw, nil
}

// aead is for what the client sends, or the server.
func (c *Conn) aead(sender string) (cipher.AEAD, error) {
	state := c.Conn.(*tls.Conn).ConnectionState()
	key, err := state.ExportKeyingMaterial("EXPORTER-collgen-data-"+sender, nil, 32)
	if err != nil {
		return nil, fmt.Errorf("keys for data: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
