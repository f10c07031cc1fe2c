package secure

import (
	"bytes"
	"crypto/cipher"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"testing/iotest"

	"github.com/collgen/collgen/fast/internal/wire"
	"pgregory.net/rapid"
)

// dataPair returns both ends of a connection for data.
func dataPair(t *testing.T, s *serving, cred Credentials) (client, server *Conn) {
	t.Helper()
	c, err := s.call(t, cred, process(3), Hello{To: 1, Purpose: Data})
	if err != nil {
		t.Fatal(err)
	}
	return c, s.arrived(t).conn
}

func raw(t *testing.T, c *Conn, encrypt bool) wire.Conn {
	t.Helper()
	w, err := c.Raw(encrypt)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestNothingIsLost: what either side says right after the handshake comes as it is, although it comes together with
// the last bytes of the handshake.
func TestNothingIsLost(t *testing.T) {
	cred := FromSecret(secretOf("ours"))
	l := listen(t, "tcp", "127.0.0.1:0")
	s := NewServer(cred, process(1))
	fromServer, fromClient := bytes.Repeat([]byte("server"), 1000), bytes.Repeat([]byte("client"), 1000)
	for range 100 {
		client, server := tcpPair(t, l)
		got := make(chan []byte)
		go func() {
			c, _, err := handshakeOf(t, s, server).handshake(t.Context())
			if err != nil {
				t.Error(err)
				close(got)
				return
			}
			got <- exchange(t, raw(t, c, false), fromServer)
		}()
		c, err := Client(t.Context(), client, cred, process(3), Hello{To: 1, Purpose: Data})
		if err != nil {
			t.Fatal(err)
		}
		if x := exchange(t, raw(t, c, false), fromClient); !bytes.Equal(x, fromServer) {
			t.Errorf("the client got %d bytes, %.20q", len(x), x)
		}
		if x := <-got; !bytes.Equal(x, fromClient) {
			t.Errorf("the server got %d bytes, %.20q", len(x), x)
		}
	}
}

// exchange says text, and returns what the other side says.
func exchange(t *testing.T, c wire.Conn, text []byte) []byte {
	defer c.Close()
	if _, err := c.Write(text); err != nil {
		t.Error(err)
	}
	_ = c.CloseWrite()
	got, err := io.ReadAll(c)
	if err != nil {
		t.Error(err)
	}
	return got
}

// TestRecordsAreExact: in whatever pieces records come and are asked for, no Read goes beyond the end of one.
func TestRecordsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var stream, want []byte
		ends := map[int]bool{}
		for range rapid.IntRange(0, 5).Draw(t, "records") {
			body := bytes.Repeat([]byte{0xff}, rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 3000)).Draw(t, "bytes"))
			stream = append(stream, 23, 3, 3)
			stream = binary.BigEndian.AppendUint16(stream, uint16(len(body)))
			stream = append(stream, body...)
			ends[len(stream)] = true
		}
		want, stream = stream, append(stream, "what comes after the last record"...)
		var source io.Reader = bytes.NewReader(stream)
		if rapid.Bool().Draw(t, "byte by byte") {
			source = iotest.OneByteReader(source)
		}
		r := &recordReader{Conn: readingConn{Reader: source}, exact: true, allow: -1}
		var got []byte
		for len(got) < len(want) {
			from := len(got)
			p := make([]byte, rapid.SampledFrom([]int{1, 4, 5, 6, 512, 1 << 17}).Draw(t, "asked for"))
			n, err := r.Read(p)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, p[:n]...)
			for at := from + 1; at < len(got); at++ {
				if ends[at] {
					t.Fatalf("a Read went from %d to %d, over the end of a record at %d", from, len(got), at)
				}
			}
		}
		if !bytes.Equal(got, want) {
			t.Fatal("not what was sent")
		}
	})
}

type readingConn struct {
	net.Conn
	io.Reader
}

func (c readingConn) Read(p []byte) (int, error) { return c.Reader.Read(p) }

// TestAllowance: no more is read than was allowed.
func TestAllowance(t *testing.T) {
	r := &recordReader{Conn: readingConn{Reader: bytes.NewReader(make([]byte, 100))}, allow: 10}
	if got, err := io.ReadAll(r); len(got) != 10 || err != errTooLong {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	r.accept(Control)
	if got, err := io.ReadAll(r); len(got) != 90 || err != nil {
		t.Errorf("later %d bytes, %v", len(got), err)
	}
}

// TestSealed: what one side seals the other one opens; nothing else does, on another connection or in the other
// direction.
func TestSealed(t *testing.T) {
	cred := FromSecret(secretOf("ours"))
	s := serve(t, cred, process(1), nil, nil)
	var ends [2][2]wire.Conn
	for i := range ends {
		client, server := dataPair(t, s, cred)
		defer client.Close()
		defer server.Close()
		ends[i] = [2]wire.Conn{raw(t, client, true), raw(t, server, true)}
	}
	text := []byte("a segment")
	for i := range ends {
		for side, sender := range ends[i] {
			sealed := sender.Seal.Seal(nil, nonce(7), text, nil)
			for j := range ends {
				for other, receiver := range ends[j] {
					for k, a := range [2]cipher.AEAD{receiver.Open, receiver.Seal} {
						got, err := a.Open(nil, nonce(7), sealed, nil)
						own := i == j && (k == 0) == (side != other)
						if own != (err == nil) || own && !bytes.Equal(got, text) {
							t.Errorf("sealed on side %d of %d, opened by key %d on side %d of %d: %q, %v", side, i, k, other, j, got, err)
						}
					}
				}
			}
			if _, err := ends[i][1-side].Open.Open(nil, nonce(8), sealed, nil); err == nil {
				t.Error("opened with another nonce")
			}
			sealed[3] ^= 1
			if _, err := ends[i][1-side].Open.Open(nil, nonce(7), sealed, nil); err == nil {
				t.Error("opened although it was changed")
			}
		}
	}
}

func nonce(n uint64) []byte { return binary.BigEndian.AppendUint64(make([]byte, 4), n) }

// TestRawIsForData: other connections are not read exactly, and those that are not TCP have no socket to give.
func TestRawIsForData(t *testing.T) {
	cred := FromSecret(secretOf("ours"))
	for _, x := range []struct {
		l net.Listener
		h Hello
	}{
		{nil, Hello{To: 1, Purpose: Control}},
		{listen(t, "unix", t.TempDir()+"/socket"), Hello{To: 1, Purpose: Data}},
	} {
		s := serve(t, cred, process(1), x.l, nil)
		c, err := s.call(t, cred, process(3), x.h)
		if err != nil {
			t.Fatal(err)
		}
		a := s.arrived(t)
		for _, end := range []*Conn{c, a.conn} {
			if _, err := end.Raw(false); err == nil {
				t.Errorf("%v over %v", x.h.Purpose, c.RemoteAddr().Network())
			}
			_ = end.Close()
		}
	}
}
