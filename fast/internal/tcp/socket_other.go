//go:build !linux

package tcp

import (
	"runtime"

	"golang.org/x/sys/unix"
)

func readSocket(fd int, b []byte) (int, error) { return unix.Read(fd, b) }

func writeSocket(fd int, b []byte) (int, error) { return unix.Write(fd, b) }

func disablePacing(int) {}

// queued returns 0: how much has arrived at the other host is unknown.
func queued(int) int { return 0 }

// yieldThread lets another goroutine have the processor.
func yieldThread() { runtime.Gosched() }
