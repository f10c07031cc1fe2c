package tcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/fast/internal/wire"
)

// long is longer than anything takes here, on any machine.
const long = 60 * time.Second

// The first frames on a link: a call, a message of some bytes, and an empty one.
var firstCall = wire.Call{Seq: 1, Primitive: 2, Schedule: 3, Count: 4, Op: 5, Type: 6, Root: 1, Depth: 7, Peer: 2,
	PrimitiveName: wire.NewLabel("AllReduce"), AlgorithmName: wire.NewLabel("ring")}

var firstData = []byte("some data which is not all that short, and not a multiple of 64")

// sendFirst and receiveFirst are the two sides of the first frames.
func sendFirst(ctx context.Context, e *Endpoint) error {
	e.Begin(wire.NewMark(&firstCall))
	// In one Exchange both messages would be one record.
	return errors.Join(e.Exchange(ctx, []wire.Send{{Peer: 1 - e.Rank, Data: firstData}}, nil),
		e.Exchange(ctx, []wire.Send{{Peer: 1 - e.Rank}}, nil))
}

func receiveFirst(ctx context.Context, e *Endpoint) ([]byte, error) {
	e.Begin(wire.NewMark(&firstCall))
	into := make([]byte, len(firstData))
	return into, e.Exchange(ctx, nil, []wire.Recv{{Peer: 1 - e.Rank, Into: into}, {Peer: 1 - e.Rank}})
}

// recorded returns the bytes of the first frames.
func recorded(t testing.TB, w world) []byte {
	t.Helper()
	ends, sender := w.pair(t), New(0, 2, 2, false, func(int) {})
	defer ends[1].Close()
	sender.Attach(1, ends[0])
	if err := sendFirst(t.Context(), sender); err != nil {
		t.Fatal(err)
	}
	n := linkproto.HeaderBytes + linkproto.CallBytes + linkproto.HeaderBytes + len(firstData) + linkproto.HeaderBytes
	if w.encrypted {
		n += lengthBytes*2 + ends[1].Open.Overhead()*2
	}
	stream := make([]byte, n)
	if _, err := io.ReadFull(ends[1], stream); err != nil {
		t.Fatal(err)
	}
	_ = sender.Close()
	return stream
}

// injected returns what a receiver makes of a stream after which the link ends, or not, in some way.
func injected(t *testing.T, w world, stream []byte, end func(*net.TCPConn)) ([]byte, error) {
	t.Helper()
	ends, e := w.pair(t), New(1, 2, 2, false, func(int) {})
	defer ends[0].Close()
	defer e.Close()
	e.Attach(0, ends[1])
	if _, err := ends[0].Write(stream); err != nil {
		t.Fatal(err)
	}
	end(ends[0].TCPConn)
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	return receiveFirst(ctx, e)
}

func fin(c *net.TCPConn) { _ = c.CloseWrite() }

func reset(c *net.TCPConn) { _, _ = c.SetLinger(0), c.Close() }

func silent(*net.TCPConn) {}

// TestTruncation ends the stream at every byte of the first three frames, in two ways.
func TestTruncation(t *testing.T) {
	for _, name := range []string{"plain", "encrypted"} {
		stream := recorded(t, worlds[name])
		for n := range len(stream) {
			for how, end := range map[string]func(*net.TCPConn){"FIN": fin, "RST": reset} {
				if _, err := injected(t, worlds[name], stream[:n], end); !isDeath(err, 0) {
					t.Errorf("%s, %s after %d bytes: %v", name, how, n, err)
				}
			}
		}
		if got, err := injected(t, worlds[name], stream, fin); err != nil || string(got) != string(firstData) {
			t.Errorf("%s, all of it: %q, %v", name, got, err)
		}
	}
}

// TestPieces has the first frames come byte by byte, and a message go out through a socket that takes little at a time.
func TestPieces(t *testing.T) {
	for _, name := range []string{"plain", "encrypted"} {
		ends, e := worlds[name].pair(t), New(1, 2, 2, false, func(int) {})
		e.Attach(0, ends[1])
		stream := recorded(t, worlds[name])
		go func() {
			for i := range stream {
				_, _ = ends[0].Write(stream[i : i+1])
			}
		}()
		if got, err := receiveFirst(t.Context(), e); err != nil || string(got) != string(firstData) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		_ = e.Close()
		_ = ends[0].Close()
		tiny := worlds[name]
		tiny.buffer = 1
		all := tiny.group(t, 2)
		done := make(chan error)
		data, into := bytes.Repeat([]byte("abcdefg"), 3000), make([]byte, 7*3000)
		go func() { done <- send(all[0], 1, data) }()
		if err := errors.Join(receive(all[1], 0, into), <-done); err != nil || string(into) != string(data) {
			t.Errorf("%s, little at a time: %v", name, err)
		}
	}
}

func isDeath(err error, rank int) bool {
	var peer *wire.PeerError
	return errors.As(err, &peer) && peer.Rank == rank && errors.Is(err, wire.ErrDied)
}

// TestCorruption changes every byte of the first three frames, in three ways. The receiver does not wait for the end of
// the stream to see it; what it cannot see is a change of data, or of a name.
func TestCorruption(t *testing.T) {
	stream := recorded(t, worlds["plain"])
	unseen := 0
	for i := range stream {
		for _, flip := range []byte{1, 0x80, 0xff} {
			bad := slices.Clone(stream)
			bad[i] ^= flip
			_, err := injected(t, worlds["plain"], bad, silent)
			switch {
			case isDeath(err, 0) || errors.As(err, new(*wire.MismatchError)):
			case err == nil && (isNotCompared(i) || isData(i)):
				unseen++
			default:
				t.Errorf("byte %d of %d: %v", i, len(stream), err)
			}
		}
	}
	t.Logf("%d changes of %d bytes, %d of them of data, or of names that are not compared", 3*len(stream), len(stream),
		unseen)
}

// isNotCompared reports whether byte i is one of a name, or of what fills the call up.
func isNotCompared(i int) bool {
	return i >= linkproto.HeaderBytes+60 && i < linkproto.HeaderBytes+linkproto.CallBytes
}

func isData(i int) bool {
	i -= linkproto.HeaderBytes + linkproto.CallBytes + linkproto.HeaderBytes
	return i >= 0 && i < len(firstData)
}

// TestTampering changes every byte of an encrypted stream, and leaves out, repeats and swaps records.
func TestTampering(t *testing.T) {
	w := worlds["encrypted"]
	stream := recorded(t, w)
	first := linkproto.HeaderBytes + linkproto.CallBytes + linkproto.HeaderBytes + len(firstData) + lengthBytes + 16
	if first+linkproto.HeaderBytes+lengthBytes+16 != len(stream) {
		t.Fatalf("the records are not those expected in %d bytes", len(stream))
	}
	bad := map[string][]byte{
		"left out": stream[first:],
		"repeated": slices.Concat(stream[:first], stream[:first]),
		"swapped":  slices.Concat(stream[first:], stream[:first]),
	}
	for i := range stream {
		changed := slices.Clone(stream)
		changed[i] ^= 0x10
		bad[fmt.Sprint("byte ", i)] = changed
	}
	for how, b := range bad {
		if got, err := injected(t, w, b, fin); !isDeath(err, 0) {
			t.Errorf("%s: %q, %v", how, got, err)
		}
	}
	for _, how := range []string{"swapped", "byte 2", "byte 3"} { // the last two make a record longer than any
		if _, err := injected(t, w, bad[how], silent); !errors.Is(err, errTampered) {
			t.Errorf("%s, and then silence: %v", how, err)
		}
	}
}

// FuzzFrames has a rank receive what a broken peer may send, and send to it: it fails or does not, but never panics or
// waits for more than there is.
func FuzzFrames(f *testing.F) {
	stream := recorded(f, worlds["plain"])
	f.Add(stream)
	f.Add(linkproto.AppendCallFrame(nil, linkproto.Past, &firstCall, firstCall.Fingerprint()))
	var p linkproto.Partner
	turn := linkproto.Turn{N: 3, Call: &firstCall, Fingerprint: firstCall.Fingerprint()}
	p.RequestReport()
	f.Add(p.AppendReport(nil, new(linkproto.History), turn, turn))
	_ = p.Refuse(new(linkproto.History), turn, 2, turn.Fingerprint, 1)
	f.Add(p.Refusal)
	f.Add(linkproto.Header{Kind: linkproto.Bye}.Append(slices.Clone(stream)))
	f.Add(linkproto.Header{Kind: linkproto.Message, Left: 1<<56 - 1, Fingerprint: firstCall.Fingerprint()}.Append(nil))
	f.Fuzz(func(t *testing.T, stream []byte) {
		e := New(0, 2, 2, false, func(int) {})
		defer e.Close()
		l := &e.links[1]
		l.requested = true
		l.in = input{buf: append(slices.Clone(stream), make([]byte, bufferBytes)...), w: len(stream), err: io.EOF,
			empty: true}
		l.socket = descriptor(never)
		defer func() { l.socket = nil }()
		e.Begin(wire.NewMark(&firstCall))
		into := make([]byte, len(firstData))
		ctx, cancel := context.WithTimeout(t.Context(), long)
		defer cancel()
		err := e.Exchange(ctx, nil, []wire.Recv{{Peer: 1, Into: into}, {Peer: 1}, {Peer: 1, Into: make([]byte, 1<<20)}})
		if err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	})
}

// never is a descriptor that is not open.
const never = 1 << 30

// FuzzRecords has encrypted records opened that a broken peer may send.
func FuzzRecords(f *testing.F) {
	f.Add(recorded(f, worlds["encrypted"]))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1, 2, 3})
	f.Add([]byte{16, 0, 0, 0, 15: 1})
	f.Fuzz(func(t *testing.T, stream []byte) {
		in := input{buf: make([]byte, bufferBytes), opener: newOpener(key(t, 1))}
		in.opener.w = copy(in.opener.buf, stream)
		in.opener.open(&in)
		if in.w > len(stream) || in.opener.r > in.opener.w {
			t.Fatalf("%d bytes out of %d", in.w, len(stream))
		}
	})
}
