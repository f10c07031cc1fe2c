package tcp

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
)

// taking is a Socket that keeps what is written to it. It takes so many bytes at most, and then nothing once.
type taking struct {
	atMost int
	full   bool
	stream []byte
	writes int
	head   int // of the longest
}

func (s *taking) Read([]byte) (int, error) { return 0, unix.EAGAIN }

func (s *taking) Write(head, tail []byte) (int, error) {
	s.writes, s.head = s.writes+1, max(s.head, len(head))
	if s.full {
		s.full = false
		return 0, unix.EAGAIN
	}
	h := min(len(head), s.atMost)
	n := min(len(tail), s.atMost-h)
	s.stream = append(append(s.stream, head[:h]...), tail[:n]...)
	s.full = h+n < len(head)+len(tail)
	return h + n, nil
}

func (s *taking) Queued() int           { return 0 }
func (s *taking) Close()                {}
func (s *taking) Ready() (in, out bool) { return false, true }
func (s *taking) Notify(func())         {}

// mostCopied is the most that goes out from a copy at once: a batch, one more message, and the headers of both.
const mostCopied = batchBytes + copyBytes + 256

// TestBatch: messages of one Exchange go out as they do in an Exchange each, but short ones together.
func TestBatch(t *testing.T) {
	repeated := func(n, length int) []int { return slices.Repeat([]int{length}, n) }
	for _, c := range []struct {
		name    string
		lengths []int
		writes  int // where the socket takes all
	}{
		{"one", []int{8}, 1},
		{"empty ones", repeated(5, 0), 1},
		{"short ones", repeated(16, 8), 1},
		{"a long one between", []int{8, 100_000, 0, 8}, 2},
		{"a long one first", []int{100_000, 8, 8}, 2},
		{"a long one last", []int{8, 8, 100_000}, 1},
		{"longer than a batch in all", repeated(100, 1000), 12},
		{"as long as a batch", repeated(3, batchBytes), 2},
	} {
		for _, atMost := range []int{1 << 20, 1000, 1} {
			var sends []wire.Send
			for i, n := range c.lengths {
				sends = append(sends, wire.Send{Peer: 1, Data: bytes.Repeat([]byte{byte(i + 1)}, n)})
			}
			together, apart := taking{atMost: atMost}, taking{atMost: atMost}
			sendAll(t, &together, sends)
			sendAll(t, &apart, slices.Collect(slices.Chunk(sends, 1))...)
			switch {
			case !bytes.Equal(together.stream, apart.stream):
				t.Errorf("%s, %d at a time: other bytes than in an Exchange each", c.name, atMost)
			case atMost == 1<<20 && together.writes != c.writes:
				t.Errorf("%s: %d writes, want %d", c.name, together.writes, c.writes)
			case together.head > mostCopied:
				t.Errorf("%s: %d bytes are copied, want at most %d", c.name, together.head, mostCopied)
			}
		}
	}
}

// sendAll sends messages over s, in one Exchange after the other.
func sendAll(t *testing.T, s *taking, exchanges ...[]wire.Send) {
	t.Helper()
	e := NewSimulated(0, 2, func(int) {})
	e.Patience = time.Hour // it never sleeps, and so has no stall to report
	e.AttachSimulated(1, s)
	e.Begin(wire.NewMark(&firstCall))
	for _, sends := range exchanges {
		if err := e.Exchange(t.Context(), sends, nil); err != nil {
			t.Fatal(err)
		}
	}
}
