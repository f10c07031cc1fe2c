package agree

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"
)

func TestMessage(t *testing.T) {
	for _, size := range []int{1, 5, 64, 65, 1000} {
		m := Message{Kind: State, Round: size - 1, Adopted: size, Seq: 7, Settled: 6, Value: newValue(size)}
		m.Value.Flags, m.Value.First = 1<<63|5, [calls]uint32{1, 0, uint32(size)}
		m.Value.Gone.add(0)
		m.Value.Gone.add(size - 1)
		m.Value.Dead.add(size - 1)
		got, err := decode(m.encode(size), size)
		if err != nil || !got.Value.equal(m.Value) || got.Kind != m.Kind || got.Round != m.Round ||
			got.Adopted != m.Adopted ||
			got.Seq != m.Seq || got.Settled != m.Settled {
			t.Errorf("%d members: got %+v, want %+v: %v", size, got, m, err)
		}
	}
}

func TestBadMessages(t *testing.T) {
	m := Message{Kind: Decide, Value: newValue(3)}
	good := m.encode(3)
	change := func(at int, to byte) []byte {
		b := slices.Clone(good)
		b[at] = to
		return b
	}
	gone := len(good) - 16
	for name, b := range map[string][]byte{
		"empty": {}, "short": good[1:], "long": append(slices.Clone(good), 0), "no kind": change(0, 0),
		"unknown kind": change(0, byte(kinds)), "round": change(1, 3), "adopted": change(5, 4), "huge round": change(4, 0x80),
		"call of nobody": change(33, 4), "gone outside": change(gone, 8), "dead but not gone": change(gone+8, 1),
	} {
		if m, err := decode(b, 3); err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func FuzzDecode(f *testing.F) {
	m := Message{Kind: Propose, Round: 1, Seq: 3, Value: newValue(70)}
	f.Add(uint16(70), m.encode(70))
	m = Message{Kind: Left, Value: newValue(2)}
	f.Add(uint16(2), m.encode(2))
	f.Add(uint16(3), binary.LittleEndian.AppendUint64(nil, 9))
	f.Fuzz(func(t *testing.T, n uint16, b []byte) {
		size := int(n)%4096 + 1
		m, err := decode(b, size)
		if err != nil {
			return
		}
		if m.Round >= size || m.Adopted > size || !m.Value.Dead.within(m.Value.Gone) || m.Value.Gone.Len() > size ||
			!bytes.Equal(m.encode(size), b) {
			t.Errorf("%+v", m)
		}
	})
}
