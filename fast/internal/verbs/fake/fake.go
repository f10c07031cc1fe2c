//go:build linux

// Package fake is for tests of what uses RDMA devices on machines without them: a libibverbs whose devices are folders.
// A device has the files that the kernel has of one in /sys/class/infiniband, and others, by which it fails, hangs, or
// tells an event. A queue pair can be connected with those of its process, itself included, and then writes to their
// memory; unconnected, it completes as received what it sends.
package fake

import (
	_ "embed" // the library's source
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

//go:embed testdata/fake.c
var source []byte

// folder has the name of the folder of devices, for the library and for the process that uses it.
const folder = "COLLGEN_FAKE_VERBS"

// versions are the symbols of the library by their versions.
const versions = `IBVERBS_1.0 { global: ibv_create_comp_channel; ibv_destroy_comp_channel; };
IBVERBS_1.1 { global: ibv_*; local: *; } IBVERBS_1.0;
`

// Run runs the rest of the test, f, in a process that finds the library, and no device in its folder so far. The
// arguments are for the compiler. Without one the test is skipped.
func Run(t testing.TB, f func(devices string), args ...string) {
	t.Helper()
	if devices := os.Getenv(folder); devices != "" {
		f(devices)
		return
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "fake.c"), string(source))
	write(t, filepath.Join(dir, "versions"), versions)
	build := append(args, "-shared", "-fPIC", "-O2", "-o", filepath.Join(dir, "libibverbs.so.1"),
		"-Wl,--version-script="+filepath.Join(dir, "versions"), filepath.Join(dir, "fake.c"))
	if out, err := Compiler(t, build...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rest := exec.Command(os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$", "-test.bench=^"+t.Name()+"$", "-test.benchmem")
	rest.Env = append(os.Environ(), folder+"="+filepath.Join(dir, "devices"), "LD_LIBRARY_PATH="+dir)
	out, err := rest.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if _, is := t.(*testing.B); is {
		t.Logf("with a library that does nothing:\n%s", out)
	}
}

// Device is the folder of a device.
type Device struct {
	t   testing.TB
	dir string
}

// Add adds a device that works, with one port, to the folder of devices.
func Add(t testing.TB, devices, name string) Device {
	t.Helper()
	d := Device{t, filepath.Join(devices, name)}
	d.Set("node_type", "1: CA")
	d.Set("connected", "")
	d.Port(1, "4: ACTIVE")
	if err := syscall.Mkfifo(filepath.Join(d.dir, "events"), 0o600); err != nil {
		t.Fatal(err)
	}
	return d
}

// Port has the device have a port in a state, as "4: ACTIVE". It has to have those before it.
func (d Device) Port(number int, state string) {
	d.t.Helper()
	port := fmt.Sprintf("ports/%d/", number)
	d.Set(port+"state", state)
	d.Set(port+"gids/0", fmt.Sprintf("0000:0000:0000:0000:0000:ffff:0a09:%04x", number))
	d.Set(port+"gid_attrs/types/0", "RoCE v2")
	d.Set(port+"gid_attrs/ndevs/0", "eth0")
}

// Remove has the device be no more.
func (d Device) Remove() {
	d.t.Helper()
	if err := os.RemoveAll(d.dir); err != nil {
		d.t.Fatal(err)
	}
}

// Set writes a file of the device. One of these names has the function of the library fail with the error of this
// number, or hang while the file says "hang": open, query_port, create_cq, reg_mr, create_qp, modify_qp. The file
// status has writes complete with the status of this number, or never if it is "lost"; max_cqe says how many
// completions a queue can hold.
func (d Device) Set(name, text string) {
	d.t.Helper()
	file := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		d.t.Fatal(err)
	}
	write(d.t, file, text+"\n")
}

// Connected returns what the queue pair was given that was connected last.
func (d Device) Connected() string {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, "connected"))
	if err != nil {
		d.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// Hold has the next call of one of those functions, or of destroy_qp or dereg_mr, or "connect", the connecting one of
// modify_qp, not come back until goOn is called. Held waits until there is such a call.
func (d Device) Hold(name string) (held, goOn func()) {
	d.t.Helper()
	d.Set(name+".hold", "")
	file := filepath.Join(d.dir, name+".hold.held")
	held = func() {
		for {
			if _, err := os.Stat(file); err == nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}
	return held, func() {
		if err := os.Remove(file); err != nil {
			d.t.Error(err)
		}
	}
}

// Tell has the device tell of an event of this type, at a port, or of a completion queue by the order in which the
// process has made them, from 0 on.
func (d Device) Tell(event, number byte) {
	d.t.Helper()
	write(d.t, filepath.Join(d.dir, "events"), string([]byte{event, number}))
}

// Files returns how many files this process has open.
func Files(t testing.TB) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Header is that of libibverbs, by which the fake one is built.
const Header = "/usr/include/infiniband/verbs.h"

// Compiler returns the C compiler with these arguments; the test is skipped if it or the header is missing.
func Compiler(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	if _, err := os.Stat(Header); err != nil {
		t.Skipf("there is no header of libibverbs: %v", err)
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skipf("there is no C compiler: %v", err)
	}
	return exec.Command(cc, append([]string{"-std=gnu11"}, args...)...)
}
