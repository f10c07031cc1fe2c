package tcp

import (
	"bytes"
	"context"
	"crypto/cipher"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/fast/internal/simnet"
	"github.com/collgen/collgen/fast/internal/wire"
)

// slowly reads what comes at one end of a link, so many bytes ten times a second, until the other one has closed it, or
// until it has read that many.
func slowly(s *simnet.Socket, each, atMost int) (came []byte) {
	for buf := make([]byte, each); len(came) < atMost; time.Sleep(time.Second / 10) {
		n, err := s.Read(buf)
		came = append(came, buf[:n]...)
		if n == 0 && err == nil {
			break
		}
	}
	return came
}

// lone returns an endpoint of rank 0 of 2, and the other rank's end of its link.
func lone(w simnet.Weather) (*Endpoint, *simnet.Socket) {
	one, other := simnet.NewLink(new(simnet.Process), new(simnet.Process), w, 1, 1)
	e := NewSimulated(0, 2, func(int) {})
	e.AttachSimulated(1, one.Socket())
	return e, other.Socket()
}

// capacity is how many bytes a link of these tests takes that nobody reads.
const capacity = 64 << 10

// TestWait: all that was sent before Close arrives, with the last word, over a slow link; and Wait returns when it has,
// not before.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, other := lone(simnet.Weather{Capacity: capacity})
		data := bytes.Repeat([]byte{1, 2, 3, 4}, capacity/2)
		read := make(chan []byte)
		go func() { read <- slowly(other, 500, 1<<30) }()
		if err := e.Exchange(t.Context(), []wire.Send{{Peer: 1, Data: data}}, nil); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_ = e.Close()
		e.Wait()
		if took := time.Since(start); took < 10*time.Second {
			t.Errorf("it has waited for %v: this test shows nothing", took)
		}
		came := <-read
		if bye := (linkproto.Header{Kind: linkproto.Bye}).Append(nil); !bytes.HasSuffix(came, bye) ||
			bytes.Count(came, []byte{1, 2, 3, 4}) != len(data)/4 {
			t.Errorf("%d of %d bytes came, and then %v", len(came), len(data), came[max(0, len(came)-len(bye)):])
		}
	})
}

// reticent is a socket of a system that does not tell how much of what was written has arrived.
type reticent struct{ *simnet.Socket }

func (reticent) Queued() int { return 0 }

// TestWaitReticent: Close waits until a socket that does not tell what has arrived has taken the last word, which a
// full link does not before anything was read, whether it is sealed or not.
func TestWaitReticent(t *testing.T) {
	bye := linkproto.Header{Kind: linkproto.Bye}.Append(nil)
	sealed := newSealer(key(t, 1))
	sealed.plain = bye
	sealed.seal()
	for _, test := range []struct {
		seal cipher.AEAD
		want []byte
	}{{nil, bye}, {key(t, 1), sealed.record}} {
		synctest.Test(t, func(t *testing.T) {
			one, other := simnet.NewLink(new(simnet.Process), new(simnet.Process), simnet.Weather{Capacity: capacity}, 1, 1)
			if n, err := one.Socket().Write(make([]byte, capacity), nil); n < capacity || err != nil {
				t.Fatal(n, err)
			}
			e := NewSimulated(0, 2, func(int) {})
			e.deliver(arrival{peer: 1, socket: reticent{one.Socket()}, conn: wire.Conn{Seal: test.seal, Open: test.seal}})
			read := make(chan []byte)
			time.AfterFunc(time.Second, func() { read <- slowly(other.Socket(), 500, 1<<30) })
			_ = e.Close()
			e.Wait()
			if came := <-read; len(came) < capacity || !bytes.Equal(came[capacity:], test.want) {
				t.Errorf("encrypted %v: after what was sent before, %x came, want %x", test.seal != nil,
					came[min(capacity, len(came)):], test.want)
			}
		})
	}
}

// TestWaitGivenUp: who reads no more is waited for until it is given up, and then the others still are.
func TestWaitGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewSimulated(0, 3, func(int) {})
		data := bytes.Repeat([]byte{1, 2, 3, 4}, capacity/8)
		var others [3]*simnet.Socket
		for peer := 1; peer < 3; peer++ {
			one, other := simnet.NewLink(new(simnet.Process), new(simnet.Process), simnet.Weather{Capacity: capacity}, 1, 1)
			e.AttachSimulated(peer, one.Socket())
			others[peer] = other.Socket()
		}
		if err := e.Exchange(t.Context(), []wire.Send{{Peer: 1, Data: data}, {Peer: 2, Data: data}}, nil); err != nil {
			t.Fatal(err)
		}
		_ = e.Close()
		start, came := time.Now(), make(chan []byte, 1)
		time.AfterFunc(time.Hour, func() { e.GiveUp(1) })
		time.AfterFunc(2*time.Hour, func() { came <- slowly(others[2], 5000, 1<<30) })
		time.Sleep(30 * time.Minute)
		if waiting := e.Waiting(); !slices.Equal(waiting, []int{1, 2}) {
			t.Errorf("it waits for %v", waiting)
		}
		time.Sleep(time.Hour)
		if waiting := e.Waiting(); !slices.Equal(waiting, []int{2}) {
			t.Errorf("when rank 1 is given up it waits for %v", waiting)
		}
		e.Wait()
		if waited := time.Since(start); waited < 2*time.Hour {
			t.Errorf("it has waited for %v", waited)
		}
		if n := bytes.Count(<-came, []byte{1, 2, 3, 4}); n != len(data)/4 {
			t.Errorf("%d of %d words came", n, len(data)/4)
		}
	})
}

// TestWaitForNobody: whose other rank has closed its end waits for nothing, whatever was not read.
func TestWaitForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, other := lone(simnet.Weather{Capacity: capacity})
		if err := e.Exchange(t.Context(), []wire.Send{{Peer: 1, Data: make([]byte, capacity/2)}}, nil); err != nil {
			t.Fatal(err)
		}
		other.Close()
		start := time.Now()
		_ = e.Close()
		if e.Wait(); time.Since(start) > 0 {
			t.Errorf("it has waited for %v", time.Since(start))
		}
	})
}

// TestLeft: a connection that the other rank has, which has closed, may come long after that, with what it has sent. If
// it has none, nothing comes, and if it has and none comes, that ends too.
func TestLeft(t *testing.T) {
	for _, test := range []struct {
		linked bool
		after  time.Duration // 0: no connection comes
		err    error
		takes  time.Duration
	}{
		{true, handshakeTime - time.Second, nil, handshakeTime - time.Second},
		{true, 0, wire.ErrClosed, handshakeTime},
		{false, 0, wire.ErrClosed, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			one, other := simnet.NewLink(new(simnet.Process), new(simnet.Process), simnet.Weather{Capacity: capacity}, 1, 1)
			from, to := NewSimulated(0, 2, func(int) {}), NewSimulated(1, 2, func(int) {})
			if from.Linked(1) {
				t.Error("a link before there is one")
			}
			from.AttachSimulated(1, one.Socket())
			data, got := []byte("sent before"), make([]byte, len("sent before"))
			call := wire.NewMark(new(wire.Call))
			from.Begin(call)
			to.Begin(call)
			if err := from.Exchange(t.Context(), []wire.Send{{Peer: 1, Data: data}}, nil); err != nil || !from.Linked(1) {
				t.Fatal(err)
			}
			_ = from.Close()
			start := time.Now()
			to.Left(0, test.linked)
			if test.after > 0 {
				time.AfterFunc(test.after, func() { to.AttachSimulated(0, other.Socket()) })
			}
			err := to.Exchange(context.Background(), nil, []wire.Recv{{Peer: 0, Into: got}})
			if !errors.Is(err, test.err) || (err == nil) != (test.err == nil) || err == nil && !slices.Equal(got, data) {
				t.Errorf("%+v: %q, %v", test, got, err)
			}
			if took := time.Since(start); took < test.takes || took > test.takes+linkbase.MaxSleep {
				t.Errorf("%+v: after %v", test, took)
			}
			_ = to.Close()
			from.GiveUp(1) // where no connection came, nobody ever reads
			time.Sleep(time.Minute)
		})
	}
}

// TestLateSealed: the last word on an encrypted connection that comes after Close is encrypted.
func TestLateSealed(t *testing.T) {
	sealed := newSealer(key(t, 1))
	sealed.plain = linkproto.Header{Kind: linkproto.Bye}.Append(nil)
	sealed.seal()
	synctest.Test(t, func(t *testing.T) {
		one, other := simnet.NewLink(new(simnet.Process), new(simnet.Process), simnet.Weather{Capacity: capacity}, 1, 1)
		e := NewSimulated(0, 2, func(int) {})
		_ = e.Close()
		e.Wait()
		e.deliver(arrival{peer: 1, socket: one.Socket(), conn: wire.Conn{Seal: key(t, 1), Open: key(t, 1)}})
		time.Sleep(time.Second)
		if came := slowly(other.Socket(), 500, 1<<30); !bytes.Equal(came, sealed.record) {
			t.Errorf("%x came, want %x", came, sealed.record)
		}
	})
}
