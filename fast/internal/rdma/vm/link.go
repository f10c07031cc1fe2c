package vm

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Down takes the link of n down, until Up or the end of the test.
func (n NIC) Down(t testing.TB) {
	t.Helper()
	run(t, "ip", "link", "set", n.Interface, "down")
	t.Cleanup(func() { n.Up(t) })
}

// Up brings the link of n up, and restores what it lost when it went down.
func (n NIC) Up(t testing.TB) {
	t.Helper()
	run(t, "nics", "restore")
}

// MTU makes RDMA packets carry that many bytes, 256 to 4096, until the end of the test. Ethernet's packets are longer
// by the headers.
func MTU(t testing.TB, bytes int) {
	t.Helper()
	set := func(bytes int) {
		for _, n := range NICs {
			run(t, "ip", "link", "set", n.Interface, "mtu", strconv.Itoa(bytes+104))
		}
	}
	set(bytes)
	t.Cleanup(func() { set(4096) })
}

// Netem makes the wire treat packets, both ways, as arguments of tc's netem say, such as "loss", "2%", until the end of
// the test. Packets from a device to itself do not go over the wire. The rxe of Linux 6.1 can stall without an error
// when many packets of a long message overtake each other, as with "delay 1ms 1ms" or "reorder 25%".
func Netem(t testing.TB, args ...string) {
	t.Helper()
	for _, n := range NICs {
		run(t, "tc", append([]string{"qdisc", "replace", "dev", n.Interface, "root", "netem"}, args...)...)
		t.Cleanup(func() { run(t, "tc", "qdisc", "del", "dev", n.Interface, "root") })
	}
}

// Lost returns how many packets the wire has lost since Netem, both ways.
func Lost(t testing.TB) (lost int) {
	t.Helper()
	for _, n := range NICs {
		text := run(t, "tc", "-s", "qdisc", "show", "dev", n.Interface, "root")
		_, after, _ := strings.Cut(text, "(dropped ")
		var one int
		if _, err := fmt.Sscan(after, &one); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		lost += one
	}
	return lost
}

// Sent returns how many bytes n's interface has sent.
func (n NIC) Sent(t testing.TB) int {
	t.Helper()
	Need(t)
	text, err := os.ReadFile("/sys/class/net/" + n.Interface + "/statistics/tx_bytes")
	if err != nil {
		t.Fatal(err)
	}
	sent, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return sent
}
