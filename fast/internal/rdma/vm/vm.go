// Package vm is for tests that need RDMA devices: what they can do to the machine that the script boot runs them in, a
// virtual one with two network interfaces joined by a wire and a soft-RoCE device on each. The scripts beside it make
// that machine; `make test-rdma` runs the tests that are for it. Elsewhere these tests are skipped.
package vm

import (
	"os"
	"os/exec"
	"testing"
)

// NIC is a network interface with an RDMA device, whose only port is 1.
type NIC struct {
	Device    string
	Interface string
	Address   string // in IPv4
}

// NICs are those of the machine. What one sends to the other goes over the wire.
var NICs = [2]NIC{{"rxe0", "veth0", "10.9.0.1"}, {"rxe1", "veth1", "10.9.0.2"}}

// Patient are settings of a device with which it waits for longer until it repeats something: beside others, the
// machine stands still for so long, and soft-RoCE does not survive many repeats.
const Patient = ",timeout=500ms"

// Inside reports whether this process runs in the machine.
func Inside() bool { return os.Getenv("COLLGEN_VM") != "" }

// Need skips the test elsewhere.
func Need(t testing.TB) {
	t.Helper()
	if !Inside() {
		t.Skip("it needs a machine with RDMA devices: make test-rdma")
	}
}

// run carries out a command of the machine, and gives what it prints.
func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	Need(t) // and never change another machine
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}
