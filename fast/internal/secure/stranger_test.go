package secure

import (
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestStrangers: what a client gets of servers that are something else.
func TestStrangers(t *testing.T) {
	t.Parallel()
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	plain, encrypted := httptest.NewServer(page), httptest.NewUnstartedServer(page)
	encrypted.Config.ErrorLog = log.New(io.Discard, "", 0)
	encrypted.StartTLS()
	t.Cleanup(plain.Close)
	t.Cleanup(encrypted.Close)
	says := func(text string) string {
		l := listen(t, "tcp", "127.0.0.1:0")
		t.Cleanup(func() { l.Close() })
		go func() {
			for c, err := l.Accept(); err == nil; c, err = l.Accept() {
				_, _ = io.WriteString(c, text)
				_, _ = io.Copy(io.Discard, c) // until the client has enough
				_ = c.Close()
			}
		}()
		return l.Addr().String()
	}
	goOn := string(encodeReply(nil)) // also in place of a challenge
	for name, x := range map[string]struct {
		address string
		want    error
		text    string
	}{
		"HTTP":              {plain.Listener.Addr().String(), ErrNotCollgen, `"HTTP/1.1 400`},
		"TLS":               {encrypted.Listener.Addr().String(), ErrBroken, "EOF"},
		"SSH":               {says("SSH-2.0-OpenSSH_10.0\r\n"), ErrNotCollgen, `"SSH-2.0-Open"`},
		"one byte":          {says("x"), ErrNotCollgen, `"x"`},
		"a status of ours":  {says(goOn[:replyBytes-1] + "x"), ErrBroken, "does not know"},
		"an unknown status": {says(goOn[:14] + "\xff" + goOn[15:]), ErrBroken, "does not know"},
		"an echo of TLS":    {says(goOn + goOn + "HTTP/1.1 200 OK\r\n"), ErrBroken, "at TLS"},
		"silence":           {says(""), ErrBroken, "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", x.address)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Client(t.Context(), conn, FromSecret(secretOf("ours")), process(3), Hello{To: 1, Purpose: Control})
			if !errors.Is(err, x.want) || !strings.Contains(err.Error(), x.text) {
				t.Errorf("got %v, want %v with %q", err, x.want, x.text)
			}
			if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
				t.Errorf("the connection is not closed: %v", err)
			}
		})
	}
}

// TestTLSClient: a client that speaks TLS from the beginning, and one that shows no certificate.
func TestTLSClient(t *testing.T) {
	s := serve(t, FromSecret(secretOf("ours")), process(1), nil, nil)
	c := tls.Client(s.dial(t), &tls.Config{InsecureSkipVerify: true})
	if err := c.Handshake(); err == nil {
		t.Error("TLS without a preamble")
	}
	_ = c.Close()
	conn := s.dial(t)
	defer conn.Close()
	if err := answerChallenge(conn, FromSecret(secretOf("ours")), process(3), 1); err != nil {
		t.Fatal(err)
	}
	c = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	_, _ = c.Write(encodeHello(Hello{From: 3, To: 1, Purpose: Control}, process(3))) // it learns only by reading
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := c.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "certificate required") {
		t.Errorf("without a certificate: %v", err)
	}
	s.quiet(t)
}

// TestProvedStays: who has proved that it belongs to the job keeps its place for longer than a stranger.
func TestProvedStays(t *testing.T) {
	var p pendingConns
	p.init(1)
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	v := p.add(near)
	p.expect(v, challengeGrace)
	p.setProved(v)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if left := time.Until(v.lateAt); left < provedGrace-time.Minute/10 {
		t.Errorf("it has %v left", left)
	}
	v.lateAt = time.Now().Add(-time.Second)
	if p.evict(); !v.evicted {
		t.Error("it stays when that is over")
	}
}
