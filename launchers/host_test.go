//go:build linux

package launchers

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// host is a host of its own as far as programs can see: with its own network, processes and mounts. All of it is gone
// as soon as the test's process is, or the test ends: its first process lives as long as somebody holds its standard
// input.
type host struct {
	t     *testing.T
	first *exec.Cmd
	hold  io.Closer
	name  string // of its link
}

// newHost returns a host that has no link yet. Its name is that of the link.
func newHost(t *testing.T, name string) *host {
	t.Helper()
	h := &host{t: t, name: name}
	h.first = exec.Command("sh", "-c", "mount --make-rprivate / && mount -t proc proc /proc && ip link set lo up "+
		"&& exec cat")
	h.first.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWPID |
		syscall.CLONE_NEWNS}
	var problem strings.Builder
	h.first.Stderr = &problem
	in, err := h.first.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := h.first.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.first.Start(); err != nil {
		leaveOut(t, "a network namespace: %v", err)
	}
	h.hold = in
	t.Cleanup(h.close)
	fmt.Fprintln(in, "ready") // comes back when all is set up
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		in.Close()
		_ = h.first.Wait()
		leaveOut(t, "setting up a network namespace: %s", problem.String())
	}
	return h
}

// close ends all processes there.
func (h *host) close() {
	h.hold.Close()
	_ = h.first.Wait()
}

// on returns a place like p, on h.
func (p *place) on(h *host) *place {
	there := *p
	there.enter = []string{"nsenter", "--target", strconv.Itoa(h.first.Process.Pid), "--net", "--pid", "--mount", "--"}
	return &there
}

// setUp runs a command that changes h's network, in the test's own view of processes and files.
func (h *host) setUp(ctx context.Context, command string) error {
	args := append([]string{"--net=" + h.network()}, strings.Fields(command)...)
	if out, err := exec.CommandContext(ctx, "nsenter", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", command, err, out)
	}
	return nil
}

func (h *host) mustSetUp(format string, args ...any) {
	h.t.Helper()
	if err := h.setUp(h.t.Context(), fmt.Sprintf(format, args...)); err != nil {
		h.t.Fatal(err)
	}
}

// network returns the file of its network namespace.
func (h *host) network() string { return fmt.Sprintf("/proc/%d/ns/net", h.first.Process.Pid) }
