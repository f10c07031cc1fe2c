package doctor

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// probeTime bounds the life of a probe.
const probeTime = 5 * time.Second

// readable is what the two processes read in each other's memory. Package variables do not move.
var readable = [8]byte{'c', 'o', 'l', 'l', 'r', 'u', 'n', '!'}

func addressOfReadable() uintptr { return uintptr(unsafe.Pointer(&readable)) }

// othersMemory returns whether a rank may read another one's memory directly (CMA, process_vm_readv). Ranks are not
// descendants of each other, so what matters is whether a child may read its parent's memory.
func othersMemory() []Finding {
	f := Finding{Name: "cma", Text: restrictions() + "; how ranks read long messages, unless COLL_NO_CMA is set"}
	ofChild, ofParent, err := tryProbe()
	switch {
	case err != nil:
		return []Finding{unknown(f.Name, err)}
	case ofParent == 0:
		f.Value, f.Text = "allowed", "allowed: "+f.Text
	case ofChild == 0:
		f.Value, f.Text = "descendants", fmt.Sprintf("of descendants only, otherwise %v: %s", ofParent, f.Text)
	default:
		f.Value, f.Text = "refused", fmt.Sprintf("%v: %s", ofChild, f.Text)
	}
	return []Finding{f}
}

// restrictions returns the settings that may forbid reading another process's memory.
func restrictions() string {
	scope := "no yama"
	if b, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); err == nil {
		scope = "yama ptrace_scope " + strings.TrimSpace(string(b))
	}
	mode, err := ownStatus("Seccomp")
	if err != nil {
		mode = "unknown"
	}
	return scope + ", seccomp mode " + mode
}

// tryProbe reads a child's memory, and has the child read this process's. The results are 0 for success.
func tryProbe() (ofChild, ofParent syscall.Errno, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, 0, err
	}
	c := &exec.Cmd{Path: self, Args: []string{ProbeName}, SysProcAttr: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}}
	in, err := c.StdinPipe()
	if err != nil {
		return 0, 0, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	if err := c.Start(); err != nil {
		return 0, 0, err
	}
	late := time.AfterFunc(probeTime, func() { _ = c.Process.Kill() })
	defer late.Stop()
	ofChild, ofParent, err = compare(c.Process.Pid, in, out)
	in.Close()
	return ofChild, ofParent, errors.Join(err, c.Wait())
}

// compare exchanges addresses with the probe, reads its memory, and receives the result of its reading.
func compare(pid int, in io.Writer, out io.Reader) (ofChild, ofParent syscall.Errno, err error) {
	var address uintptr
	lines := bufio.NewReader(out)
	if _, err := fmt.Fscanln(lines, &address); err != nil {
		return 0, 0, fmt.Errorf("the probe says nothing: %w", err)
	}
	ofChild = readMemory(pid, address)
	if _, err := fmt.Fprintln(in, addressOfReadable()); err != nil {
		return 0, 0, err
	}
	_, err = fmt.Fscanln(lines, &ofParent)
	return ofChild, ofParent, err
}

// Probe runs the process that othersMemory starts.
func Probe() {
	fmt.Println(addressOfReadable())
	var address uintptr
	if _, err := fmt.Fscanln(os.Stdin, &address); err != nil {
		os.Exit(1)
	}
	fmt.Println(uintptr(readMemory(os.Getppid(), address)))
	os.Exit(0)
}

// readMemory reads the variable readable of another process. It returns EIO if the text is wrong.
func readMemory(pid int, address uintptr) syscall.Errno {
	var got [len(readable)]byte
	local := unix.Iovec{Base: &got[0]}
	local.SetLen(len(got))
	n, err := unix.ProcessVMReadv(pid, []unix.Iovec{local}, []unix.RemoteIovec{{Base: address, Len: len(got)}}, 0)
	var failed syscall.Errno
	switch {
	case errors.As(err, &failed):
		return failed
	case n != len(got) || got != readable:
		return unix.EIO
	}
	return 0
}
