package secure

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
)

// impostor is a way to be refused.
type impostor struct {
	name string
	bar  bool // one of those that the bar is about
	want error
	call func(t testing.TB, conn net.Conn) error // the error that the client gets
}

func impostors(t testing.TB) []impostor {
	ours, others := FromSecret(secretOf("ours")), FromSecret(secretOf("others"))
	hello := Hello{To: 1, Purpose: Control}
	client := func(cred Credentials, me Identity, h Hello) func(testing.TB, net.Conn) error {
		return func(t testing.TB, conn net.Conn) error {
			_, err := Client(context.Background(), conn, cred, me, h)
			return err
		}
	}
	changed := func(change func(*Identity)) Identity {
		me := process(3)
		change(&me)
		return me
	}
	certified := newAuthority(t, "ours").credentials(t, "rank-3.train-7")
	return []impostor{
		{"wrong secret", true, ErrWrongSecret, client(others, process(3), hello)},
		{"wrong rank claimed", true, ErrWrongRank, claim(ours, 3, 2)},
		{"wrong rank reached", false, ErrWrongRank, client(ours, process(3), Hello{To: 2, Purpose: Control})},
		{"itself", false, ErrWrongRank, client(ours, process(1), hello)},
		{"stale epoch", true, ErrStaleEpoch, client(ours, changed(func(me *Identity) { me.Epoch-- }), hello)},
		{"epoch to come", false, ErrStaleEpoch, client(ours, changed(func(me *Identity) { me.Epoch++ }), hello)},
		{"wrong size", true, ErrWrongSize, client(ours, changed(func(me *Identity) { me.Size++ }), hello)},
		{"wrong job", false, ErrWrongJob, client(ours, changed(func(me *Identity) { me.Job = "train-8" }), hello)},
		{"wrong version", true, ErrWrongVersion, laterVersion},
		{"wrong mode", false, ErrWrongMode, client(certified, process(3), hello)},
		{"no purpose", false, ErrRefused, client(ours, process(3), Hello{To: 1})},
		{"unknown purpose", false, ErrRefused, client(ours, process(3), Hello{To: 1, Purpose: Join + 1})},
		{"fenced", false, wire.ErrFenced, client(ours, process(3), Hello{To: 1, Purpose: Control, Comm: fencedComm})},
		{"unwanted", false, ErrRefused, client(ours, process(3), Hello{To: 1, Purpose: Control, Comm: unwantedComm})},
	}
}

// claim has process n say that it is another one.
func claim(cred Credentials, n, other int) func(testing.TB, net.Conn) error {
	return func(t testing.TB, conn net.Conn) error {
		own, err := cred.certificate(process(n))
		if err != nil {
			t.Fatal(err)
		}
		return withBudget(context.Background(), conn, func() error {
			_, err := connect(conn, cred, own, process(other), Hello{From: other, To: 1, Purpose: Control})
			return err
		})
	}
}

// laterVersion returns a client of the next version.
func laterVersion(_ testing.TB, conn net.Conn) error {
	return withBudget(context.Background(), conn, func() error {
		b := encodePreamble(FromSecret(secretOf("ours")), process(3), 1, false)
		binary.BigEndian.PutUint16(b[12:], Version+1)
		reply, err := request(conn, b)
		if err != nil {
			return err
		}
		_, err = decodeChallenge(reply)
		return err
	})
}

// What the server of these tests has against some communicators.
const (
	fencedComm   = 66
	unwantedComm = 67
)

func dislikes(h Hello, _ Identity) error {
	switch h.Comm {
	case fencedComm:
		return wire.ErrFenced
	case unwantedComm:
		return errors.New("the ticket was used")
	}
	return nil
}

// TestRefusals: each way to be wrong has its own error, on both sides.
func TestRefusals(t *testing.T) {
	for _, x := range impostors(t) {
		t.Run(x.name, func(t *testing.T) {
			s := serve(t, FromSecret(secretOf("ours")), process(1), nil, dislikes)
			err := x.call(t, s.dial(t))
			if !errors.Is(err, x.want) || Transient(err) {
				t.Errorf("the client got %v, want %v", err, x.want)
			}
			for _, other := range append(reasons[1:], ErrBroken, ErrNotCollgen) {
				if other != x.want && errors.Is(err, other) {
					t.Errorf("%v is %v too", err, other)
				}
			}
			s.quiet(t)
			told := fmt.Sprint(s.Refusals())
			if x.name == "wrong rank reached" { // the client finds that out
				return
			}
			if len(s.Refusals()) != 1 || !strings.Contains(told, x.want.Error()) {
				t.Errorf("the server keeps %q, want %q", told, x.want)
			}
			t.Log(err)
		})
	}
}

// TestDetails: a refusal says what is there and what is wanted.
func TestDetails(t *testing.T) {
	s := serve(t, FromSecret(secretOf("ours")), process(1), nil, dislikes)
	for _, x := range impostors(t) {
		for name, want := range map[string]string{
			"stale epoch": "stale epoch: 2, want 3", "wrong size": "wrong size of the job: 5, want 4",
			"wrong version": fmt.Sprintf("%d, want %d", Version+1, Version), "wrong mode": "a certificate, want a secret",
			"unwanted": "refused: the ticket was used", "wrong rank claimed": "not the key of process 2",
		} {
			if err := x.call(t, s.dial(t)); x.name == name && !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
	}
}

// TestManyRefusals is bar 7, as far as the handshake goes: a thousand of each, and those who belong to the job still
// get in.
func TestManyRefusals(t *testing.T) {
	t.Parallel()
	s := serve(t, FromSecret(secretOf("ours")), process(1), nil, dislikes)
	replayed := record(t, s, FromSecret(secretOf("ours")))
	for _, x := range append(impostors(t), impostor{"replay", true, ErrWrongSecret, replayed.again}) {
		tries := 50
		if x.bar && !testing.Short() {
			tries = 1000
		}
		var accepted, otherwise atomic.Int64
		several(tries, func() {
			switch err := x.call(t, s.dial(t)); {
			case err == nil:
				accepted.Add(1)
			case !errors.Is(err, x.want):
				otherwise.Add(1)
				t.Log(err)
			}
		})
		t.Logf("bar 7, handshake: %d of %s: %d accepted, %d with another error", tries, x.name, accepted.Load(),
			otherwise.Load())
		if accepted.Load() > 0 || otherwise.Load() > 0 || len(s.accepted) > 0 {
			t.Errorf("%s: the server has accepted %d", x.name, len(s.accepted))
		}
	}
	c, err := s.call(t, FromSecret(secretOf("ours")), process(3), Hello{To: 1, Purpose: Control})
	if err != nil {
		t.Fatalf("who belongs to the job: %v", err)
	}
	defer c.Close()
	defer s.arrived(t).conn.Close()
}

// several runs f n times, a few at a time.
func several(n int, f func()) {
	var left atomic.Int64
	left.Store(int64(n))
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			for left.Add(-1) >= 0 {
				f()
			}
		})
	}
	running.Wait()
}

// recording is all that a client said in a handshake that went well.
type recording struct {
	net.Conn
	said []byte
}

func (r *recording) Write(p []byte) (int, error) {
	r.said = append(r.said, p...)
	return r.Conn.Write(p)
}

func record(t testing.TB, s *serving, cred Credentials) *recording {
	t.Helper()
	r := &recording{Conn: s.dial(t)}
	c, err := Client(t.Context(), r, cred, process(3), Hello{To: 1, Purpose: Control})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	s.arrived(t).conn.Close()
	return r
}

// again plays the recording on another connection: each part, as its client did, when the server has said something to
// the one before. It returns the server's refusal, or else ErrBroken, when the server has closed the connection.
func (r *recording) again(t testing.TB, conn net.Conn) error {
	defer conn.Close()
	if reply, err := request(conn, r.said[:preambleBytes]); err != nil || reply[14] != 0 {
		t.Errorf("a preamble is good for any number of connections: got %q, %v", reply, err)
	}
	reply, err := request(conn, r.said[preambleBytes:][:macBytes])
	if err = cmp.Or(err, decodeReply(reply)); err != nil {
		return err
	}
	_, _ = conn.Write(r.said[preambleBytes+macBytes:])
	_, _ = io.Copy(io.Discard, conn)
	return ErrBroken
}

// TestReplay: a recorded handshake gets as far as the server's challenge, which is new each time; with certificates as
// far as the keys that TLS makes.
func TestReplay(t *testing.T) {
	a := newAuthority(t, "ours")
	certified := a.credentials(t, "rank-1.train-7", "rank-3.train-7")
	for _, x := range []struct {
		cred  Credentials
		want  error
		texts []string
	}{
		{FromSecret(secretOf("ours")), ErrWrongSecret, []string{"wrong secret"}},
		{certified, ErrBroken, []string{"at TLS", "bad record MAC"}},
	} {
		s := serve(t, x.cred, process(1), nil, nil)
		if err := record(t, s, x.cred).again(t, s.dial(t)); !errors.Is(err, x.want) {
			t.Errorf("got %v, want %v", err, x.want)
		}
		s.quiet(t)
		for _, text := range x.texts {
			if told := fmt.Sprint(s.Refusals()); !strings.Contains(told, text) {
				t.Errorf("the server keeps %q, want %q", told, text)
			}
		}
	}
}

// TestOtherServer: a client finds out who is at the other end, and does not fall for one that accepts everybody.
func TestOtherServer(t *testing.T) {
	ours := FromSecret(secretOf("ours"))
	s := serve(t, gullible{ours.(*secretCredentials), ed25519.NewKeyFromSeed(make([]byte, 32))}, process(1), nil, nil)
	_, err := s.call(t, ours, process(3), Hello{To: 1, Purpose: Control})
	if !errors.Is(err, ErrWrongRank) {
		t.Errorf("got %v", err)
	}
	s.quiet(t)
}

// gullible are credentials of a server that takes everybody, with a key of its own making.
type gullible struct {
	*secretCredentials
	own ed25519.PrivateKey
}

func (g gullible) certificate(me Identity) (*tls.Certificate, error) { return selfSigned(g.own) }

func (gullible) check(Identity, []*x509.Certificate) error { return nil }
