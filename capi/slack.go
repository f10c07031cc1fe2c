//go:build cgo && linux && (amd64 || arm64)

package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// The thread in which this runs starts threads that make calls.
func init() { punctual() }

// punctual has this thread sleep no longer than it has to, unlike the one that entry.c is about: while it sleeps for
// microseconds, as Go's scheduler does, a call may wait.
func punctual() { _, _, _ = syscall.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_TIMERSLACK, 1, 0) }
