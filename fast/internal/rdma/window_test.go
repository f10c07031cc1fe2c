package rdma

import (
	"testing"

	"pgregory.net/rapid"
)

// TestNumbers sends and takes at random, with numbers that wrap around, of 30 bits in immediates and of 32 at both
// ends: no slot is written to before it was taken, all are used, and what cannot be is refused.
func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := uint32(1) << rapid.IntRange(2, 6).Draw(t, "slots")
		start := rapid.OneOf(rapid.Uint32Range(1<<32-70, 1<<32-1), rapid.Uint32Range(1<<30-70, 1<<30), rapid.Uint32()).Draw(t,
			"start")
		w := credits{slots: slots, sent: start, freed: start}
		b := ring{slots: slots, next: start, arrived: start, reported: start}
		var flying, back []uint32
		held := map[uint32]bool{}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				if w.room() > 0 {
					if held[w.sent%slots] {
						t.Fatalf("slot %d is written again", w.sent%slots)
					}
					held[w.sent%slots] = true
					flying = append(flying, immediate(immSegment, w.sent))
					w.sent++
				}
			case 1:
				if len(flying) > 0 {
					if !b.arrive(flying[0]) || b.arrive(flying[0]) {
						t.Fatalf("immediate %#x of %+v", flying[0], b)
					}
					flying = flying[1:]
				}
			case 2:
				if b.next != b.arrived {
					held[b.next%slots] = false
					b.next++
				}
				if b.owesCredits() {
					back = append(back, immediate(immFreed, b.next))
					b.reported = b.next
				}
			case 3:
				if len(back) > 0 {
					if w.free(back[0] + slots) {
						t.Fatalf("%+v is told of more slots than there are", w)
					}
					if !w.free(back[0]) {
						t.Fatalf("%#x is refused by %+v", back[0], w)
					}
					back = back[1:]
				}
			}
			if len(back) > 4 || len(flying) > int(slots) || w.room() < 0 || w.room() > int(slots) {
				t.Fatalf("%d and %d immediates on their way, %+v", len(back), len(flying), w)
			}
		}
		for ; b.next != b.arrived; b.next++ { // when all was taken, the sender can go on
		}
		if len(flying) == 0 && len(back) == 0 && !b.owesCredits() && w.room() == 0 {
			t.Fatal("the sender waits for ever")
		}
	})
}

// TestSegments: what is composed can be parsed, and what was written with another length cannot.
func TestSegments(t *testing.T) {
	l := looseLink()
	mark := ordinaryMark()
	for _, known := range []bool{false, true} {
		for _, n := range []int{0, 1, 63, 64, 119, 120, 121, leastBytes - payloadAt} {
			if l.lastCall = 0; known {
				l.lastCall = mark.Fingerprint
			}
			from := l.compose(&mark, uint64(n), make([]byte, n))
			written := payloadAt + n - from
			for off := -written; off < 300; off++ {
				s, err := parse(l.main.sendSlot(), uint32(written+off))
				alike := max(off, -off) == headerAt-callAt // with or without a call before it
				if off == 0 && err != nil || off != 0 && err == nil && !alike {
					t.Fatalf("%d bytes, known %v, %d bytes more: %+v, %v", n, known, off, s, err)
				}
				if off == 0 && (s.bytes != n || s.Left != uint64(n) || (s.call == nil) != known) {
					t.Fatalf("%d bytes, known %v: %+v", n, known, s)
				}
			}
		}
	}
}

// FuzzSegment: whatever stands in a slot, its parse stays within it.
func FuzzSegment(f *testing.F) {
	l := looseLink()
	mark := ordinaryMark()
	l.compose(&mark, 7, make([]byte, 7))
	f.Add(l.main.sendSlot()[:payloadAt+7], uint32(payloadAt+7-callAt))
	f.Fuzz(func(t *testing.T, b []byte, written uint32) {
		slot := make([]byte, leastBytes)
		copy(slot, b)
		s, err := parse(slot, min(written, leastBytes))
		if err == nil && (s.bytes < 0 || s.bytes > leastBytes-payloadAt || uint64(s.bytes) > s.Left) {
			t.Fatalf("%+v", s)
		}
	})
}

// idle is a domain that nothing is done on.
type idle struct{ Domain }

func (idle) MaxMessage() int { return 1 << 20 }

// FuzzAside: whatever another rank says, it is heard or refused.
func FuzzAside(f *testing.F) {
	f.Add(remoteBuffer{n: 3, granted: true, at: 1 << 40, keys: [MostRails]uint32{9, 8}}.append(nil))
	f.Add([]byte{6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		e := NewEndpoint(0, 2, []Domain{idle{}}, nil, DefaultSlots, DefaultBytes)
		_ = e.handleControl(&e.links[1], b)
	})
}

// TestPlaces: what is written can be read.
func TestPlaces(t *testing.T) {
	for _, p := range []remoteBuffer{{}, {n: 1 << 63, granted: true, at: 1<<64 - 1, keys: [MostRails]uint32{1<<32 - 1,
		MostRails - 1: 7}}} {
		if got, err := parseRemoteBuffer(p.append(nil)); err != nil || got != p {
			t.Errorf("%+v is read as %+v: %v", p, got, err)
		}
	}
	bad := remoteBuffer{granted: true}.append(nil)
	bad[1] = 2
	if _, err := parseRemoteBuffer(bad); err == nil {
		t.Error("a place of another kind is accepted")
	}
}

// TestMemory is what the package says of the memory of a link.
func TestMemory(t *testing.T) {
	if n := linkBytes(defaultSlots, defaultBytes); n != 528<<10 {
		t.Errorf("%d bytes", n)
	}
	if payloadAt%64 != 0 || callAt < 0 || (defaultBytes-payloadAt)%64 != 0 || (leastBytes-payloadAt)%64 != 0 {
		t.Error("segments are not cut where elements end")
	}
}
