package linkbase

import (
	"bytes"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
	"pgregory.net/rapid"
)

// TestPieces: a message that comes in pieces of any size is in place as if it had come at once, is cut where elements
// end, and overwrites nothing of a send of the same memory before it was sent.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 5*wire.Segment+1).Draw(t, "bytes")
		fill := func(seed byte) []byte {
			b := make([]byte, n)
			for i := range b {
				b[i] = seed + byte(7*i)
			}
			return b
		}
		into, with, data, send := fill(1), fill(2), fill(3), &Outgoing{}
		m := Incoming{Recv: &wire.Recv{Into: into, With: with, ReceivedFirst: rapid.Bool().Draw(t, "received first")}}
		reduces, after := rapid.Bool().Draw(t, "reduces"), rapid.Bool().Draw(t, "after send")
		if reduces {
			m.Kernel = func(dst, a, b []byte) {
				if len(a) != len(dst) || len(b) != len(dst) || m.At%wire.Segment != 0 {
					t.Fatalf("a kernel has %d, %d and %d bytes at %d", len(dst), len(a), len(b), m.At)
				}
				for i := range dst {
					dst[i] = 3*a[i] + 5*b[i]
				}
			}
		}
		if after {
			m.After = send
		}
		for m.At < n {
			send.At = rapid.IntRange(send.At, n).Draw(t, "sent")
			come := rapid.IntRange(0, n-m.At).Draw(t, "come")
			fits, may := m.Fits(come), come
			if after {
				may = min(may, send.At-m.At)
			}
			if fits < 0 || fits > may || !reduces && fits != may {
				t.Fatalf("of %d bytes at %d of %d, of which %d were sent, %d fit", come, m.At, n, send.At, fits)
			}
			if send.At == n && come == n-m.At && fits != come {
				t.Fatalf("the rest of %d bytes does not fit: %d", come, fits)
			}
			m.Apply(data[m.At:][:fits])
			m.At += fits
		}
		if want := whole(&m, with, data); !bytes.Equal(into, want) {
			t.Fatalf("%x, want %x", into, want)
		}
	})
}

// whole returns what m receives of data.
func whole(m *Incoming, with, data []byte) []byte {
	want := bytes.Clone(data)
	if m.Kernel == nil {
		return want
	}
	for i := range want {
		a, b := with[i], data[i]
		if m.ReceivedFirst {
			a, b = b, a
		}
		want[i] = 3*a + 5*b
	}
	return want
}
