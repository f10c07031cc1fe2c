package vm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakeQEMU stands for the emulator: it hangs as often as HANGS says, then it says on the third serial line what the
// machine does.
const fakeQEMU = `#!/bin/bash
for arg; do [[ $arg != file:*status ]] || status=${arg#file:}; done
echo boot >>"$BOOTS"
[ "$(wc -l <"$BOOTS")" -gt "$HANGS" ] || exec sleep 1000
printf 'started\n' >"$status"
echo the programs run
printf '%s\n' "$ENDED" >>"$status"
`

// TestBoot starts machines that hang before they run a program: boot takes another one, three in all.
func TestBoot(t *testing.T) {
	for _, name := range []string{"setpriv", "timeout", "cpio", "ldd"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("boot needs %s: %v", name, err)
		}
	}
	for _, tt := range []struct{ hangs, ended, want, boots, seconds int }{
		{hangs: 0, ended: 0, want: 0, boots: 1, seconds: 60},
		{hangs: 0, ended: 7, want: 7, boots: 1, seconds: 60},
		{hangs: 1, ended: 0, want: 0, boots: 2, seconds: 5},
		{hangs: 2, ended: 10, want: 10, boots: 3, seconds: 3},
		{hangs: 3, ended: 0, want: 1, boots: 3, seconds: 1},
	} {
		t.Run(fmt.Sprintf("%d hang, %d", tt.hangs, tt.ended), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(name, text string) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			boot, err := os.ReadFile("boot")
			if err != nil {
				t.Fatal(err)
			}
			write("boot", string(boot))
			write("image", "#!/bin/sh\necho "+dir+"/cache/image\n")
			if err := os.MkdirAll(filepath.Join(dir, "cache", "image"), 0o755); err != nil {
				t.Fatal(err)
			}
			write("cache/image/base.cpio", "")
			write("qemu-system-x86_64", fakeQEMU)
			cmd := exec.Command(filepath.Join(dir, "boot"), "/bin/true")
			cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "BOOTS="+filepath.Join(dir, "boots"),
				fmt.Sprint("HANGS=", tt.hangs), fmt.Sprint("ENDED=", tt.ended), fmt.Sprint("COLLGEN_VM_BOOT=", tt.seconds))
			out, _ := cmd.CombinedOutput()
			if got := cmd.ProcessState.ExitCode(); got != tt.want {
				t.Errorf("boot ended with %d instead of %d:\n%s", got, tt.want, out)
			}
			if ran := strings.Contains(string(out), "the programs run"); ran != (tt.hangs < 3) {
				t.Errorf("the programs ran: %v:\n%s", ran, out)
			}
			if n := strings.Count(string(out), "has not started"); n != tt.hangs {
				t.Errorf("%d machines that hang are reported instead of %d:\n%s", n, tt.hangs, out)
			}
			boots, _ := os.ReadFile(filepath.Join(dir, "boots"))
			if n := strings.Count(string(boots), "boot"); n != tt.boots {
				t.Errorf("%d machines were started instead of %d", n, tt.boots)
			}
		})
	}
}
