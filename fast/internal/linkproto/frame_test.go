package linkproto

import (
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
	"pgregory.net/rapid"
)

func drawCall(t *rapid.T) wire.Call {
	n, small, name := rapid.Uint64(), rapid.Uint32(), rapid.String()
	return wire.Call{
		Seq: n.Draw(t, "seq"), Primitive: n.Draw(t, "primitive"), Schedule: n.Draw(t, "schedule"), Count: n.Draw(t, "count"),
		Op: small.Draw(t, "op"), Type: small.Draw(t, "type"), Root: small.Draw(t, "root"), Depth: small.Draw(t, "depth"),
		Peer:          small.Draw(t, "peer"),
		PrimitiveName: wire.NewLabel(name.Draw(t, "name")), AlgorithmName: wire.NewLabel(name.Draw(t, "name")),
	}
}

// TestFrames: what is written can be read, and each frame is as long as its header says.
func TestFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, d := drawCall(t), drawCall(t)
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
