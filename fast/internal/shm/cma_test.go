//go:build linux

package shm

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/exchangetest"
	"github.com/collgen/collgen/fast/internal/wire"
)

// openGroup returns endpoints that read all but short messages where they lie in each other's process, which is this
// one.
func openGroup(t tester, size int) []*Endpoint {
	t.Helper()
	all := group(t, size)
	for _, e := range all {
		e.peeking.from, e.peeking.always = directFrom, true
		for peer := range e.links {
			if l := &e.links[peer]; peer != e.rank {
				if e.probe(l); !l.readable {
					t.Fatalf("rank %d cannot read the memory of its own process", e.rank)
				}
			}
		}
	}
	return all
}

// TestTransportOfProcesses tests what all transports keep with messages that are read in the sender's process.
func TestTransportOfProcesses(t *testing.T) {
	exchangetest.Run(t, func(t *testing.T, size int) []exchangetest.Transport {
		if size < 2 {
			t.Skip("memory is shared by two or more")
		}
		var all []exchangetest.Transport
		for _, e := range openGroup(t, size) {
			all = append(all, e)
		}
		return all
	})
}

// segmentsOf returns how many segments a message takes from rank 0 to rank 1, which have to get it right. Rank 1 sends
// as much at the same time, if back.
func segmentsOf(t *testing.T, all []*Endpoint, data []byte, back bool) uint32 {
	t.Helper()
	for i := range data {
		data[i] = byte(i * 7)
	}
	before, into := all[1].links[0].in.next, make([]byte, len(data))
	errs := together(all, func(e *Endpoint) error {
		sends, recvs := []wire.Send{{Peer: 1, Data: data}}, []wire.Recv{{Peer: 0, Into: into}}
		if back {
			other, buf := 1-e.rank, make([]byte, len(data))
			if e.rank == 0 {
				recvs[0] = wire.Recv{Peer: other, Into: buf}
			} else {
				sends[0] = wire.Send{Peer: other, Data: buf}
			}
			return e.Exchange(t.Context(), sends, recvs)
		}
		if e.rank == 0 {
			return e.Exchange(t.Context(), sends, nil)
		}
		return e.Exchange(t.Context(), nil, recvs)
	})
	if err := errors.Join(errs...); err != nil || !bytes.Equal(into, data) {
		t.Errorf("%d bytes do not arrive: %v", len(data), err)
	}
	return all[1].links[0].in.next - before
}

// TestWhatIsPeeked: long messages in huge pages, once the receiver has found out that it can read them, and no others.
func TestWhatIsPeeked(t *testing.T) {
	const n = 4 << 20
	ordinary, pages := make([]byte, n), hugePages(t, n)
	all := group(t, 2)
	defer closeGroup(all)
	all[0].peeking.from, all[0].peeking.oneWay = peekFrom, false // however many processors there are
	receiver := &all[1].links[0]
	receiver.probed = true // it believes that it cannot
	if got := segmentsOf(t, all, pages, true); got != n/maxSlot {
		t.Errorf("before the receiver knows: %d segments", got)
	}
	all[1].probe(receiver)
	want := uint32(1)
	if !all[0].peeking.pages.inHugePages(pages) {
		t.Log("the system has no huge pages for this test, or does not say so")
		want = n / maxSlot
	}
	if got := segmentsOf(t, all, pages, true); got != want {
		t.Errorf("in huge pages: %d segments, want %d", got, want)
	}
	if got := segmentsOf(t, all, pages, false); got != n/maxSlot {
		t.Errorf("one way: %d segments", got)
	}
	if got := segmentsOf(t, all, pages[:peekFrom-1], true); got != (peekFrom-1+maxSlot-1)/maxSlot {
		t.Errorf("a message that is too short: %d segments", got)
	}
	if got := segmentsOf(t, all, ordinary[1:], true); all[0].peeking.pages.inHugePages(ordinary[1:]) != (got == 1) {
		t.Errorf("in other pages: %d segments", got)
	}
	all[0].peeking.oneWay = true
	if got := segmentsOf(t, all, pages, false); got != want {
		t.Errorf("one way, where ranks share processors: %d segments, want %d", got, want)
	}
	all[0].peeking.always = true
	if got := segmentsOf(t, all, ordinary, false); got != 1 {
		t.Errorf("in any pages: %d segments", got)
	}
}

// TestScanForgets: what is known of memory is asked for again after a while, and memory that is not the same at once.
func TestScanForgets(t *testing.T) {
	var s hugePageCache
	data := make([]byte, 1<<20)
	s.inHugePages(data)
	k := &s.known[0]
	k.huge = !k.huge // a lie, to tell what is known from what is so
	for range cachedUses {
		if s.inHugePages(data) != k.huge {
			t.Fatal("what is known is asked for again")
		}
	}
	if lie := k.huge; s.inHugePages(data) == lie || s.inHugePages(data[1:]) == lie {
		t.Error("what was known long ago, or of other memory, is believed")
	}
}

// TestOneDescriptor: endpoints ask about huge pages through one descriptor of their process, however many they are.
func TestOneDescriptor(t *testing.T) {
	pages, files := hugePages(t, peekFrom), 0
	for i := range 3 {
		all := group(t, 2)
		defer closeGroup(all)
		for _, e := range all {
			e.peeking.from, e.peeking.oneWay = peekFrom, false // however many processors there are
			e.probe(&e.links[1-e.rank])
		}
		segmentsOf(t, all, pages, true)
		for _, e := range all {
			if e.peeking.pages.known[0].uses == 0 {
				t.Fatal("it was not asked")
			}
		}
		if n := openFilesOf(t); i == 0 {
			files = n
		} else if n != files {
			t.Errorf("%d open files with %d communicators, %d with the first", n, i+1, files)
		}
	}
}

// hugePages returns n bytes in huge pages, if the system has some.
func hugePages(t *testing.T, n int) []byte {
	b, err := unix.Mmap(-1, 0, n+2*huge, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(b) })
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	for i := range b {
		b[i] = 1
	}
	return b[-int(address(b))&(huge-1):][:n]
}

// TestWhoIsNotRead: where reading is refused, or the process is another one, slots serve as before. So it is where one
// of the two is secluded.
func TestWhoIsNotRead(t *testing.T) {
	for name, spoil := range map[string]func(sender, receiver *Endpoint){
		"another process":    func(s, _ *Endpoint) { s.own.card.pid.Store(int64(os.Getppid())) },
		"no process":         func(s, _ *Endpoint) { s.own.card.pid.Store(1 << 40) },
		"another address":    func(s, _ *Endpoint) { s.own.card.at += 8 },
		"no address":         func(s, _ *Endpoint) { s.own.card.at = 0 },
		"another cookie":     func(s, _ *Endpoint) { s.own.card.cookie++ },
		"not there yet":      func(s, _ *Endpoint) { s.own.card.pid.Store(0) },
		"sender secluded":    func(s, _ *Endpoint) { s.Seclude() },
		"receiver secluded":  func(_, r *Endpoint) { r.Seclude() },
		"a lie about itself": func(s, r *Endpoint) { r.own.card.pid.Store(-1); s.own.card.pid.Store(-1) },
	} {
		all := group(t, 2)
		spoil(all[0], all[1])
		for _, e := range all {
			e.peeking.always = true
			e.probe(&e.links[1-e.rank])
		}
		if got := segmentsOf(t, all, make([]byte, 2*peekFrom), false); got != 2*peekFrom/maxSlot {
			t.Errorf("%s: %d segments", name, got)
		}
		closeGroup(all)
	}
}

// TestProbedInTime: ranks find out by themselves, while they exchange.
func TestProbedInTime(t *testing.T) {
	all := group(t, 2)
	defer closeGroup(all)
	all[0].peeking.always = true
	segmentsOf(t, all, make([]byte, peekFrom), true)
	if got := segmentsOf(t, all, make([]byte, peekFrom), true); got != 1 {
		t.Errorf("the second message takes %d segments", got)
	}
}

// TestUnreadable: a sender that lies about what is in its process, or dies, or has another in its place.
func TestUnreadable(t *testing.T) {
	const n = piece + 1
	for name, x := range map[string]struct {
		where string // "process" or "" for a receiver that has not found out
		at    uint64
		spoil func(l *link) // after the sender has said truly where the message is
		want  string
	}{
		"nothing there":      {"process", 8, nil, "cannot be read"},
		"the end of memory":  {"process", 1<<64 - n, nil, "cannot be read"},
		"the system's":       {"process", 1<<63 + 8, nil, "cannot be read"},
		"at no address":      {"process", 0, nil, "corrupt"},
		"unasked":            {"", 8, nil, "corrupt"},
		"ended":              {"process", 0, func(l *link) { l.process = 1 << 30 }, "cannot be read"},
		"another in a place": {"process", 0, func(l *link) { l.cookie++ }, "is another one"},
	} {
		all := openGroup(t, 2)
		l := &all[1].links[0]
		l.readable = x.where != ""
		data := make([]byte, n)
		if x.spoil != nil {
			x.at = uint64(address(data))
			x.spoil(l)
		}
		all[1].Begin(wire.NewMark(&wire.Call{Seq: 1}))
		next := &l.in.head.lines[0]
		next.left, next.fingerprint, next.where = n, all[1].current.Fingerprint, inProcess
		*next.place() = place{at: x.at, length: n}
		next.seq.Store(1)
		err := all[1].Exchange(t.Context(), nil, []wire.Recv{{Peer: 0, Into: make([]byte, n)}})
		var peer *wire.PeerError
		if !errors.As(err, &peer) || peer.Rank != 0 || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v", name, err)
		}
		closeGroup(all)
	}
}
