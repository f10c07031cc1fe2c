//go:build linux

package rendezvous

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestMessages(t *testing.T) {
	h := hello{3, 4, [32]byte{1, 2, 3}}
	if got, err := decodeHello(h.encode()); err != nil || got != h {
		t.Error(got, err)
	}
	for _, n := range []note{{kind: accepted}, {kind: files, n: 700}, {kind: failed, n: 3, text: "größer"}} {
		if got, err := decodeNote(n.encode()); err != nil || got != n {
			t.Error(got, err)
		}
	}
	long := note{kind: refused, text: strings.Repeat("x", 1000)}
	if got, err := decodeNote(long.encode()); err != nil || got.text != long.text[:textBytes] {
		t.Error(got, err)
	}
}

func TestBadMessages(t *testing.T) {
	good := hello{3, 4, [32]byte{}}.encode()
	change := func(at int, to byte) []byte {
		b := bytes.Clone(good)
		b[at] = to
		return b
	}
	for name, b := range map[string][]byte{
		"empty": {}, "short": good[1:], "long": append(good, 0), "magic": change(0, 'C'), "version": change(7, 2),
		"rank 0": change(8, 0), "rank = size": change(8, 4), "huge rank": change(11, 0xff), "huge size": change(15, 1),
	} {
		if h, err := decodeHello(b); err == nil {
			t.Errorf("%s: %+v", name, h)
		}
	}
	for name, n := range map[string]note{"kind": {kind: kinds}, "n": {n: maxSize + 1}} {
		if _, err := decodeNote(n.encode()); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func FuzzDecodeHello(f *testing.F) {
	f.Add(hello{3, 4, [32]byte{9}}.encode())
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := decodeHello(b)
		if err != nil {
			return
		}
		if h.rank <= 0 || h.rank >= h.size || h.size > maxSize || !bytes.Equal(h.encode(), b) {
			t.Errorf("%+v", h)
		}
	})
}

func FuzzDecodeNote(f *testing.F) {
	f.Add(note{kind: failed, n: 2, text: "no memory"}.encode())
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := decodeNote(b)
		if err != nil {
			return
		}
		if n.kind >= kinds || n.n < 0 || n.n > maxSize || len(n.text) > 3*textBytes || strings.ContainsAny(n.text, "\x1b\n\x7f\u009b") {
			t.Errorf("%+v", n)
		}
		_ = n.failure(1)
	})
}

func FuzzParseRights(f *testing.F) {
	f.Add(unix.UnixRights(3, 4))
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		if fds, err := parseRights(b); err == nil && len(fds) > len(b)/4 {
			t.Errorf("%d files in %d bytes", len(fds), len(b))
		}
	})
}
