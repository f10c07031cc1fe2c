package fast

import (
	"encoding/binary"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
)

// FuzzPast: whatever another rank says that it has made is at most maxPast calls, or is refused.
func FuzzPast(f *testing.F) {
	one, err := binary.Append(nil, binary.LittleEndian, []wire.Call{{Seq: 1, Primitive: 2, Before: 3}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(one)
	f.Add(one[1:])
	f.Add(make([]byte, maxPast*len(one)))
	f.Add(make([]byte, (maxPast+1)*len(one)))
	f.Fuzz(func(t *testing.T, b []byte) {
		calls, ok := decodePast(b)
		if whole := len(b)%len(one) == 0 && len(b)/len(one) <= maxPast; ok != whole || ok && len(calls) != len(b)/len(one) {
			t.Fatalf("%d calls of %d bytes, %v", len(calls), len(b), ok)
		}
	})
}
