package tcp

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"net"
	"testing"

	"github.com/collgen/collgen/fast/internal/exchangetest"
	"github.com/collgen/collgen/fast/internal/wire"
)

func TestExchange(t *testing.T) {
	for name, w := range worlds {
		t.Run(name, func(t *testing.T) {
			exchangetest.Run(t, func(t *testing.T, size int) []exchangetest.Transport {
				var all []exchangetest.Transport
				for _, e := range w.group(t, size) {
					all = append(all, e)
				}
				return all
			})
		})
	}
}

// TestAfterSendOnNarrowLinks: what comes is there long before what it overwrites was sent.
func TestAfterSendOnNarrowLinks(t *testing.T) {
	for _, encrypted := range []bool{false, true} {
		w := world{address: "127.0.0.1:0", encrypted: encrypted, early: true, narrow: true}
		exchangetest.RunAfterSend(t, func(t *testing.T, size int) (all []exchangetest.Transport) {
			for _, e := range w.group(t, size) {
				all = append(all, e)
			}
			return all
		})
	}
}

// world is how the links of a test are.
type world struct {
	address   string // to listen on
	encrypted bool
	buffer    int  // bytes that sockets take to send, if not as many as the system likes
	early     bool // links are attached before they are needed
	narrow    bool // one direction of each link holds little, and the other much
}

var worlds = map[string]world{
	"plain":         {address: "127.0.0.1:0"},
	"IPv6":          {address: "[::1]:0", early: true},
	"encrypted":     {address: "127.0.0.1:0", encrypted: true},
	"short buffers": {address: "127.0.0.1:0", buffer: 64 << 10, early: true},
}

// group returns endpoints of size ranks.
func (w world) group(t testing.TB, size int) []*Endpoint {
	t.Helper()
	h := newHub(t, w, size)
	if w.early {
		for a := range size {
			for b := range a {
				h.join(a, b)
			}
		}
	}
	return h.all
}

// connected returns the two ends of a TCP connection.
func (w world) connected(t testing.TB) [2]*net.TCPConn {
	t.Helper()
	listener, err := net.Listen("tcp", w.address)
	if err != nil {
		if w.address[0] == '[' {
			t.Skip("no IPv6 here: ", err)
		}
		t.Fatal(err)
	}
	defer listener.Close()
	dialed, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	ends := [2]*net.TCPConn{dialed.(*net.TCPConn), accepted.(*net.TCPConn)}
	if w.narrow {
		err := errors.Join(ends[1].SetWriteBuffer(1), ends[0].SetWriteBuffer(4<<20), ends[1].SetReadBuffer(4<<20))
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range ends {
		if w.buffer > 0 {
			if err := c.SetWriteBuffer(w.buffer); err != nil {
				t.Fatal(err)
			}
		}
	}
	return ends
}

// pair returns the two ends of a link.
func (w world) pair(t testing.TB) [2]wire.Conn {
	t.Helper()
	c := w.connected(t)
	ends := [2]wire.Conn{{TCPConn: c[0]}, {TCPConn: c[1]}}
	if w.encrypted {
		ends[0].Seal, ends[1].Open = key(t, 1), key(t, 1)
		ends[1].Seal, ends[0].Open = key(t, 2), key(t, 2)
	}
	return ends
}

func key(t testing.TB, b byte) cipher.AEAD {
	t.Helper()
	block, err := aes.NewCipher([]byte{15: b})
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	return aead
}
