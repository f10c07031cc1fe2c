package linkproto

import (
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
	"pgregory.net/rapid"
)

// TestFrames: what is written can be read, and each frame is as long as its header says.
func TestFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		calls := rapid.Make[wire.Call]()
		c, d := calls.Draw(t, "c"), calls.Draw(t, "d")
		w := waiting{rapid.Bool().Draw(t, "sends"), rapid.Uint64Range(0, 1<<63-1).Draw(t, "n"), c}
		r := refused{c, d, rapid.Uint64().Draw(t, "sent"), rapid.Uint64().Draw(t, "expected")}
		for kind, frame := range map[uint8][]byte{
			Call:    AppendCallFrame(nil, Call, &c, c.Fingerprint()),
			Past:    AppendCallFrame(nil, Past, &c, c.Fingerprint()),
			Waiting: w.append(nil, c.Fingerprint()),
			Refused: r.append(nil),
			Bye:     Header{Kind: Bye}.Append(nil),
		} {
			h, err := ParseHeader(frame)
			if err != nil || h.Kind != kind || HeaderBytes+int(h.Left) != len(frame) {
				t.Fatalf("%+v, %v of %d bytes", h, err, len(frame))
			}
			body := frame[HeaderBytes:]
			switch {
			case kind == Waiting && parseWaiting(body) != w, kind == Refused && parseRefused(body) != r,
				int(h.Left) == CallBytes && ParseCall(body) != c:
				t.Fatalf("a frame of kind %d has changed: %x", kind, frame)
			}
		}
	})
}

// TestBadHeaders are refused.
func TestBadHeaders(t *testing.T) {
	for _, h := range []Header{
		{}, {Kind: Bye + 1}, {Kind: 255}, {Message, 5, 0}, {Call, CallBytes, 0}, {Call, CallBytes + 1, 1},
		{Past, 0, 1}, {Waiting, CallBytes, 1}, {Refused, RefusedBytes, 1}, {Bye, 1, 0}, {Bye, 0, 1},
	} {
		if _, err := ParseHeader(h.Append(nil)); err == nil {
			t.Errorf("%+v is accepted", h)
		}
	}
}
