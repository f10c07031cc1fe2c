//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup has a command and all that it starts end together.
func ownGroup(cmd *exec.Cmd) (*syscall.SysProcAttr, func() error) {
	return &syscall.SysProcAttr{Setpgid: true}, func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
