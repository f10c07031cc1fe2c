package failure

import (
	"encoding/binary"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
)

// FuzzPast: whatever another rank says that it has made is at most MaxPast calls, or is refused.
func FuzzPast(f *testing.F) {
	one, err := binary.Append(nil, binary.LittleEndian, []wire.Call{{Seq: 1, Primitive: 2, Before: 3}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(one)
	f.Add(one[1:])
	f.Add(make([]byte, MaxPast*len(one)))
	f.Add(make([]byte, (MaxPast+1)*len(one)))
	f.Fuzz(func(t *testing.T, b []byte) {
		calls, ok := DecodeCalls(b)
		if whole := len(b)%len(one) == 0 && len(b)/len(one) <= MaxPast; ok != whole || ok && len(calls) != len(b)/len(one) {
			t.Fatalf("%d calls of %d bytes, %v", len(calls), len(b), ok)
		}
	})
}
