//go:build cgo && linux && (amd64 || arm64)

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/collgen/collgen/internal/scratch"
)

// built is the library and the program in C that tests it.
type built struct {
	folder string
	err    error
	skip   string // why it cannot be built here
}

// plain is built once, and checked under AddressSanitizer.
var plain, checked = sync.OnceValue(func() *built { return build() }), sync.OnceValue(func() *built {
	return build("-fsanitize=address")
})

// removes remove the folders in the end.
var removes []func()

func TestMain(m *testing.M) {
	code := m.Run()
	for _, remove := range removes {
		remove()
	}
	os.Exit(code)
}

// build builds the library and the program, by a C compiler with these flags.
func build(flags ...string) *built {
	b := new(built)
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	if _, err := exec.LookPath(cc); err != nil {
		b.skip = err.Error()
		return b
	}
	var remove func()
	if b.folder, remove, b.err = scratch.Dir("capi"); b.err != nil {
		return b
	}
	removes = append(removes, remove)
	at := func(name string) string { return filepath.Join(b.folder, name) }
	if b.err = os.WriteFile(at("secret"), []byte(strings.Repeat("5ec7e4", 11)[:64]), 0o600); b.err != nil {
		return b
	}
	probe := append([]string{"-x", "c", "-", "-o", at("probe")}, flags...)
	if out, err := command("int main(void) { return 0; }", cc, probe...); err != nil {
		b.skip = fmt.Sprintf("%s %v: %v: %s", cc, flags, err, out)
		return b
	}
	library := []string{"build", "-buildmode=c-shared", "-o", at("libcollgen.so")}
	if len(flags) > 0 {
		library = append(library, "-asan", "-pgo=off") // what it finds does not depend on that
	}
	if out, err := command("", "go", append(library, ".")...); err != nil {
		b.err = fmt.Errorf("%w: %s", err, out)
		return b
	}
	sources, err := filepath.Glob("testdata/*.c")
	if err != nil {
		b.err = err
		return b
	}
	args := append([]string{"-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-I."}, flags...)
	args = append(append(args, sources...), "-o", at("program"), "-L"+b.folder, "-lcollgen", "-lpthread",
		"-Wl,-rpath,"+b.folder)
	if out, err := command("", cc, args...); err != nil {
		b.err = fmt.Errorf("%w: %s", err, out)
	}
	return b
}

// command runs a command with this input.
func command(input, name string, args ...string) (out []byte, err error) {
	c := exec.Command(name, args...)
	c.Stdin = strings.NewReader(input)
	return c.CombinedOutput()
}

// program returns what was built, or skips the test.
func (b *built) program(t *testing.T) *built {
	t.Helper()
	if b.skip != "" {
		t.Skip("the program in C cannot be built: ", b.skip)
	}
	if b.err != nil {
		t.Fatal(b.err)
	}
	return b
}

// start starts the program. What is left of it after two minutes is killed.
func (b *built) start(args, variables []string) (wait func() (out string, err error), kill func()) {
	c := exec.Command(filepath.Join(b.folder, "program"), args...)
	c.Env = append(append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0"), variables...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		return func() (string, error) { return "", err }, func() {}
	}
	late := time.AfterFunc(2*time.Minute, func() { _ = c.Process.Kill() })
	return func() (string, error) {
		defer late.Stop()
		err := c.Wait()
		return out.String(), err
	}, func() { _ = c.Process.Kill() }
}

// asThreads runs a part of the program on ranks that are threads of one process.
func (b *built) asThreads(part string, size int, variables ...string) (string, error) {
	wait, _ := b.start([]string{part, fmt.Sprint(size)}, variables)
	return wait()
}

var jobs int

// asProcesses runs a part of the program on ranks that are processes. The last one may be killed by itself.
func (b *built) asProcesses(part string, size int, variables ...string) error {
	jobs++
	waits := make([]func() (string, error), size)
	for rank := range waits {
		waits[rank], _ = b.start([]string{part}, append([]string{fmt.Sprintf("COLL_RANK=%d", rank),
			fmt.Sprintf("COLL_SIZE=%d", size), "COLL_STORE=local", "COLL_SECRET_FILE=" + filepath.Join(b.folder, "secret"),
			fmt.Sprintf("COLL_JOB=capi-%d-%d", os.Getpid(), jobs)}, variables...))
	}
	var errs []error
	for rank, wait := range waits {
		out, err := wait()
		if part == "killed" && rank == size-1 && killed(err) {
			continue
		}
		if err != nil || !strings.HasSuffix(out, "ok\n") {
			errs = append(errs, fmt.Errorf("rank %d: %v: %s", rank, err, out))
		}
	}
	return errors.Join(errs...)
}

// killed reports whether a process has ended by SIGKILL.
func killed(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signal() == syscall.SIGKILL
}

// TestThreads has all parts that ranks can make as threads of a process.
func TestThreads(t *testing.T) {
	b := plain().program(t)
	for _, part := range []string{"collectives", "started", "messages", "refused", "misuse", "groups"} {
		for size := 1; size <= 4; size++ {
			t.Run(fmt.Sprintf("%s/%d", part, size), func(t *testing.T) {
				if out, err := b.asThreads(part, size); err != nil || !strings.HasSuffix(out, "ok\n") {
					t.Errorf("%v: %s", err, out)
				}
			})
		}
	}
}

// TestProcesses has all parts, over shared memory and TCP.
func TestProcesses(t *testing.T) {
	b := plain().program(t)
	for _, part := range []string{"collectives", "started", "messages", "refused", "misuse", "groups", "mismatch",
		"timeout", "killed", "fork"} {
		for _, transport := range []string{"shm", "tcp"} {
			for size := 1; size <= 4; size++ {
				if size == 1 && (part == "mismatch" || part == "timeout" || part == "killed" || part == "fork") {
					continue // they need another rank
				}
				if transport == "tcp" && testing.Short() && size != 3 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%d", part, transport, size), func(t *testing.T) {
					if err := b.asProcesses(part, size, "COLL_TRANSPORT="+transport); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// TestPlanted: the program sees a single bit that is wrong.
func TestPlanted(t *testing.T) {
	b := plain().program(t)
	out, err := b.asThreads("collectives", 2, "PLANT=1")
	if err == nil || !strings.Contains(out, "allreduce, type 11, in place 0, count 1: code 0: wrong result") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestAddressSanitizer has the program and the library, its Go included, checked by AddressSanitizer.
func TestAddressSanitizer(t *testing.T) {
	if testing.Short() {
		t.Skip("with -short, the library is not built once more")
	}
	b := checked().program(t)
	for _, part := range []string{"collectives", "started", "messages", "refused", "misuse", "groups"} {
		t.Run(part, func(t *testing.T) {
			if out, err := b.asThreads(part, 3); err != nil || !strings.HasSuffix(out, "ok\n") {
				t.Errorf("threads: %v: %s", err, out)
			}
			if err := b.asProcesses(part, 2); err != nil {
				t.Error(err)
			}
		})
	}
}
