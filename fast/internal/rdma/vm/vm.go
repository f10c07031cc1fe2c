// Package vm is for tests that need RDMA devices. They run in a virtual machine that the script boot starts: it has two
// network interfaces joined by a wire, and a soft-RoCE device on each. This package has what tests can do to that
// machine. The scripts beside it make the machine, and `make test-rdma` runs the tests in it. Elsewhere these tests are
// skipped.
package vm

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// NIC is a network interface with an RDMA device, whose only port is 1.
type NIC struct {
	Device    string
	Interface string
	Address   string // in IPv4
}

// NICs are the machine's interfaces. What one sends to the other goes over the wire.
var NICs = [2]NIC{{"rxe0", "veth0", "10.9.0.1"}, {"rxe1", "veth1", "10.9.0.2"}}

// Patience is how long a device waits here before it repeats a packet. A machine that shares its host stands still for
// longer than the default at times, and soft-RoCE does not survive many repeats: that of Linux 6.1 refuses requests
// as invalid, or delivers immediates with another number of bytes.
const Patience = 500 * time.Millisecond

// Inside reports whether this process runs in the machine.
func Inside() bool { return os.Getenv("COLLGEN_VM") != "" }

// Need skips the test outside the machine.
func Need(t testing.TB) {
	t.Helper()
	if !Inside() {
		t.Skip("it needs a machine with RDMA devices: make test-rdma")
	}
}

// run runs a command in the machine, and returns its output.
func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	Need(t) // never change another machine
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}
