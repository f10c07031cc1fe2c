package tcp

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
			kindCall:    appendTold(nil, kindCall, &c, c.Fingerprint()),
			kindPast:    appendTold(nil, kindPast, &c, c.Fingerprint()),
			kindWaiting: w.append(nil, c.Fingerprint()),
			kindRefused: r.append(nil),
			kindBye:     header{kind: kindBye}.append(nil),
		} {
			h, err := parseHeader(frame)
			if err != nil || h.kind != kind || headerBytes+h.bytes() != len(frame) {
				t.Fatalf("%+v, %v of %d bytes", h, err, len(frame))
			}
			body := frame[headerBytes:]
			switch {
			case kind == kindWaiting && parseWaiting(body) != w, kind == kindRefused && parseRefused(body) != r,
				h.bytes() == callBytes && parseCall(body) != c:
				t.Fatalf("a frame of kind %d has changed: %x", kind, frame)
			}
		}
	})
}

// TestBadHeaders are refused.
func TestBadHeaders(t *testing.T) {
	for _, h := range []header{
		{}, {kind: kindBye + 1}, {kind: 255}, {kindMessage, 5, 0}, {kindCall, callBytes, 0}, {kindCall, callBytes + 1, 1},
		{kindPast, 0, 1}, {kindWaiting, callBytes, 1}, {kindRefused, refusedBytes, 1}, {kindBye, 1, 0}, {kindBye, 0, 1},
	} {
		if _, err := parseHeader(h.append(nil)); err == nil {
			t.Errorf("%+v is accepted", h)
		}
	}
}
