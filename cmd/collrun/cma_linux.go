package main

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

// readable is what the two processes read in each other's memory. A variable of the package does not move.
var readable = [8]byte{'c', 'o', 'l', 'l', 'r', 'u', 'n', '!'}

func addressOfReadable() uintptr { return uintptr(unsafe.Pointer(&readable)) }

// othersMemory reports whether a rank may read another's memory directly (CMA, process_vm_readv). A rank is no ancestor
// of another, so it is the child that has to be allowed to read its parent's.
func othersMemory() []finding {
	f := finding{Name: "cma", Text: restrictions() + "; how ranks read long messages, unless COLL_NO_CMA is set"}
	ofChild, ofParent, err := tryProbe()
	switch {
	case err != nil:
		return []finding{unknown(f.Name, err)}
	case ofParent == 0:
		f.Value, f.Text = "allowed", "allowed: "+f.Text
	case ofChild == 0:
		f.Value, f.Text = "descendants", fmt.Sprintf("of descendants only, otherwise %v: %s", ofParent, f.Text)
	default:
		f.Value, f.Text = "refused", fmt.Sprintf("%v: %s", ofChild, f.Text)
	}
	return []finding{f}
}

// restrictions returns what may be in the way of reading another process's memory, in words.
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

// tryProbe has this process read a child's memory, and the child read this one's. The results are 0 for success.
func tryProbe() (ofChild, ofParent syscall.Errno, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, 0, err
	}
	c := &exec.Cmd{Path: self, Args: []string{probeName}, SysProcAttr: new(syscall.SysProcAttr)}
	dieWithParent(c.SysProcAttr)
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

// compare talks to the probe: each says where to read, and the probe says what that gave.
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

// probe is the probe's whole life.
func probe() {
	fmt.Println(addressOfReadable())
	var address uintptr
	if _, err := fmt.Fscanln(os.Stdin, &address); err != nil {
		os.Exit(statusFailed)
	}
	fmt.Println(uintptr(readMemory(os.Getppid(), address)))
	os.Exit(0)
}

// readMemory reads what is readable in another process. EIO stands for something else that was read.
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
