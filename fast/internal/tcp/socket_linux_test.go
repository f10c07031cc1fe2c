package tcp

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestUnpaced: within a host no congestion control that pauses is used, whatever the system's choice.
func TestUnpaced(t *testing.T) {
	all := worlds["plain"].group(t, 2)
	go func() { _ = send(all[1], 0, []byte{1}) }()
	if err := receive(all[0], 1, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	name, err := unix.GetsockoptString(int(all[0].links[1].socket.(descriptor)), unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	if err != nil || name != "reno" {
		t.Errorf("congestion control is %q: %v", name, err)
	}
}
