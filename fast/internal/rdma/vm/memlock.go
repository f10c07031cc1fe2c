package vm

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
)

// Memlock runs f, the rest of the test, in another process that may lock that many KiB of memory. It does not run as
// root, which the kernel does not limit.
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
