package vm

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
)

// Memlock runs the rest of the test, f, in a process that may lock so many KiB of memory: another one, and not root's,
// whom the kernel does not limit.
func Memlock(t *testing.T, kib int, f func(*testing.T)) {
	Need(t)
	if os.Getenv("COLLGEN_VM_MEMLOCK") != "" {
		f(t)
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	limited := exec.Command("sh", "-c", `ulimit -l "$1" && shift && exec "$@"`, "sh",
		strconv.Itoa(kib), program, "-test.run", "^"+t.Name()+"$", "-test.v")
	limited.Env = append(os.Environ(), "COLLGEN_VM_MEMLOCK=1")
	const nobody = 65534
	limited.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := limited.CombinedOutput(); err != nil {
		t.Errorf("with %d KiB: %v\n%s", kib, err, out)
	}
}
