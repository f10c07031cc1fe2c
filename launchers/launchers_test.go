package launchers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// allowed, in the environment, has the tests run what needs root, or has to be installed: launchers and servers.
const allowed = "COLLGEN_LAUNCHERS"

// deadline bounds whatever a test waits for.
const deadline = 2 * time.Minute

// bin has collrun and rollcall.
var bin string

func TestMain(m *testing.M) {
	if runtime.GOOS != "linux" {
		println("left out: what ranks of one host share needs Linux")
		return
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	var err error
	if bin, err = os.MkdirTemp("", "launchers-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(bin)
	build := exec.Command("go", "build", "-o", bin, "./rollcall", "github.com/collgen/collgen/cmd/collrun")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s", out)
		return 1
	}
	return m.Run()
}

func program(name string) string { return filepath.Join(bin, name) }

// needs leaves the test out, and prints why, unless these programs are installed and this is make test-launchers.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	if os.Getenv(allowed) == "" {
		t.Skip("make test-launchers runs it")
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			leaveOut(t, "%v", err)
		}
	}
}

// needsRoot leaves the test out, and prints why, unless it may make namespaces.
func needsRoot(t *testing.T) {
	t.Helper()
	needs(t)
	if os.Geteuid() != 0 {
		leaveOut(t, "only root may make network namespaces here")
	}
}

// leaveOut ends a test that cannot run. It says so without -v too.
func leaveOut(t *testing.T, format string, args ...any) {
	t.Helper()
	reason := fmt.Sprintf(format, args...)
	fmt.Fprintf(os.Stderr, "%s is left out: %s\n", t.Name(), reason)
	t.Skip(reason)
}
