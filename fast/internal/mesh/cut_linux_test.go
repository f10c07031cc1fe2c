package mesh

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// world is two network namespaces, which are two hosts with a link between them.
type world struct{ names, links, addresses, macs [2]string }

// newWorld makes them, where that is allowed.
func newWorld(t *testing.T) *world {
	var w world
	salt := strings.ToLower(rand.Text()[:8])
	for i := range 2 {
		w.names[i] = fmt.Sprintf("mesh-%s-%d", salt, i)
		w.links[i] = fmt.Sprintf("m%s-%d", salt, i)
		w.addresses[i] = fmt.Sprintf("192.0.2.%d", i+1)
		w.macs[i] = fmt.Sprintf("02:00:00:00:00:0%d", i+1)
		if out, err := exec.Command("ip", "netns", "add", w.names[i]).CombinedOutput(); err != nil {
			t.Skipf("network namespaces cannot be made: %v, %s", err, out)
		}
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", w.names[i]).Run() })
	}
	ip(t, "link add %s address %s netns %s type veth peer name %s address %s netns %s",
		w.links[0], w.macs[0], w.names[0], w.links[1], w.macs[1], w.names[1])
	for i := range 2 {
		ip(t, "-n %s address add %s/24 dev %s", w.names[i], w.addresses[i], w.links[i])
		ip(t, "-n %s link set %s up", w.names[i], w.links[i])
	}
	return &w
}

// ip runs the command of that name.
func ip(t *testing.T, format string, a ...any) {
	t.Helper()
	args := strings.Fields(fmt.Sprintf(format, a...))
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %v: %v, %s", args, err, out)
	}
}

// deafen has what one host sends not arrive at the other, by a wrong address of the hardware.
func (w *world) deafen(t *testing.T, from int) {
	ip(t, "-n %s neighbour replace %s lladdr 02:00:00:00:00:99 dev %s nud permanent",
		w.names[from], w.addresses[1-from], w.links[from])
}

// noise is how much more time the tests leave a busy machine. Under `make soak`, which has the machine to itself, what
// is promised is all there is.
var noise = func() time.Duration {
	if soaking() {
		return 0
	}
	return bound
}()

// soaking reports whether the tests that depend on chance or on time are run at length.
func soaking() bool { return os.Getenv("COLLGEN_SOAK") != "" }

// TestCutLink cuts the link between two hosts, in one direction or both: both sides know it in time.
func TestCutLink(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for name, cut := range map[string][]int{"one way": {0}, "the other way": {1}, "both ways": {0, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := newWorld(t), shelf(t.TempDir())
			var processes [2]other
			for i := range 2 {
				processes[i] = s.launch(t, i, w.addresses[i], "ip", "netns", "exec", w.names[i])
			}
			for i := range 2 {
				processes[i].joined(t)
			}
			time.Sleep(time.Second) // some heartbeats
			at := time.Now()
			for _, from := range cut {
				w.deafen(t, from)
			}
			together(2, func(i int) {
				line := processes[i].line(t)
				d := time.Since(at)
				t.Logf("process %d after %v: %s; the bound is %v", i, d, line, bound)
				if d > bound+noise {
					t.Errorf("process %d took %v, want at most %v", i, d, bound+noise)
				}
			})
		})
	}
}
