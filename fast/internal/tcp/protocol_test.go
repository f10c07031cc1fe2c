package tcp

import "testing"

func TestProtocol(t *testing.T) {
	for _, test := range []struct {
		encrypted bool
		bytes     int
		reduces   bool
		want      string
	}{
		{false, 0, false, "sent in one piece with its header, copied out of the receive buffer"},
		{false, copyBytes, true, "sent in one piece with its header, reduced out of the receive buffer"},
		{false, copyBytes + 1, false, "sent from where it lies, copied out of the receive buffer"},
		{false, directBytes, false, "sent from where it lies, received where it belongs"},
		{false, maxSegment, true, "sent from where it lies, reduced out of the receive buffer"},
		{false, maxSegment + 1, false, "sent from where it lies, 1 MiB at a time, received where it belongs"},
		{true, maxSegment + 1, false, "sealed in records of 32 KiB, copied out of the receive buffer"},
		{true, 8, true, "sealed in records of 32 KiB, reduced out of the receive buffer"},
	} {
		e := New(0, 2, 2, test.encrypted, nil)
		if got := e.Protocol(test.bytes, test.reduces); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
		_ = e.Close()
	}
}
