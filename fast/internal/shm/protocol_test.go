//go:build linux

package shm

import (
	"strings"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
)

// TestProtocol: what Protocol says of a length is what its first segment does.
func TestProtocol(t *testing.T) {
	all := group(t, 3)
	defer closeGroup(all)
	pages := hugePages(t, peekFrom)
	if !all[0].peeking.pages.inHugePages(pages) {
		t.Log("the system has no huge pages for this test, or does not say so")
		all[0].peeking.always = true
	}
	for _, e := range all[:2] {
		e.peeking.from, e.peeking.oneWay = peekFrom, false // however many processors there are
		e.probe(&e.links[1-e.rank])
	}
	for _, test := range []struct {
		bytes, last int // the last rank that it is sent to
		where       uint32
		words       string
	}{
		{inline, 1, inSmall, "from a line"},
		{inline + 1, 1, inSmall, "from a slot"},
		{small, 2, inMulticast, "shared by the ranks"},
		{small + 1, 1, inFull, "from slots of up to 128 KiB"},
		{peekFrom - 1, 2, inFullMulticast, "shared by the ranks"},
		{peekFrom, 1, inProcess, "CMA"},
	} {
		words := all[0].Protocol(test.bytes, false)
		if where := whereFirst(t, all, pages[:test.bytes], test.last); where != test.where ||
			!strings.Contains(words, test.words) {
			t.Errorf("%d bytes to ranks up to %d go to %#x, want %#x; Protocol says %q", test.bytes, test.last, where,
				test.where, words)
		}
	}
	for bytes, absent := range map[int]string{inline: "slot", small: "KiB", directFrom - 1: "Alloc", peekFrom - 1: "CMA"} {
		if words := all[0].Protocol(bytes, false); strings.Contains(words, absent) {
			t.Errorf("%d bytes: %q", bytes, words)
		}
	}
	if words := all[0].Protocol(1<<30, true); strings.Contains(words, "CMA") || !strings.HasPrefix(words, "reduced") {
		t.Errorf("what is reduced: %q", words)
	}
	all[0].peeking.oneWay = true
	if words := all[0].Protocol(1<<30, true); !strings.HasSuffix(words, "by CMA from huge pages") {
		t.Errorf("where ranks share processors: %q", words)
	}
	all[1].Seclude()
	if words := all[1].Protocol(1<<30, false); strings.Contains(words, "CMA") {
		t.Errorf("secluded: %q", words)
	}
	defer func(known func() int) { pagemap = known }(pagemap)
	pagemap = func() int { return -1 }
	all[0].peeking.always = false
	if words := all[0].Protocol(1<<30, true); strings.Contains(words, "CMA") {
		t.Errorf("where the system does not tell about pages: %q", words)
	}
}

// whereFirst returns where the first segment lies of what rank 0 sends to the ranks up to last, each of which sends as
// much back.
func whereFirst(t *testing.T, all []*Endpoint, data []byte, last int) uint32 {
	t.Helper()
	line := &all[1].links[0].in.head.lines[all[1].links[0].in.next%depth]
	for _, err := range together(all, func(e *Endpoint) error {
		var sends []wire.Send
		var recvs []wire.Recv
		for peer := range all {
			if peer != e.rank && (e.rank == 0 && peer <= last || peer == 0 && e.rank <= last) {
				back := data
				if e.rank > 0 {
					back = make([]byte, len(data))
				}
				sends = append(sends, wire.Send{Peer: peer, Data: back})
				recvs = append(recvs, wire.Recv{Peer: peer, Into: make([]byte, len(data))})
			}
		}
		if len(sends) == 0 {
			return nil
		}
		return e.Exchange(t.Context(), sends, recvs)
	}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	switch where := line.where; {
	case where >= inMulticast && where < inFullMulticast:
		return inMulticast
	case where >= inFullMulticast && where < nowhere:
		return inFullMulticast
	default:
		return where
	}
}
