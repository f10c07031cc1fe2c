//go:build !linux

package tcp

import (
	"runtime"

	"golang.org/x/sys/unix"
)

func readSocket(fd int, b []byte) (int, error) { return unix.Read(fd, b) }

func writeSocket(fd int, b []byte) (int, error) { return unix.Write(fd, b) }

func unpace(int) {}

// Queued returns how many bytes of what was written to a socket have not arrived at the other host, where that is
// known.
func (descriptor) Queued() int { return 0 }

// yield lets another goroutine have the processor.
func yield() { runtime.Gosched() }
