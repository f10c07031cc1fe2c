//go:build !linux

package main

import (
	"errors"
	"runtime"
)

// systemProbes are those of Linux alone.
var systemProbes []probe

// onCore keeps this goroutine on one thread, which is all that can be asked for here.
func onCore(int) (release func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// yieldCore lets other goroutines have this one's processor.
func yieldCore() { runtime.Gosched() }

// readMemory would have the system read the memory of another process.
func readMemory(_, _ []byte) error { return errors.ErrUnsupported }

// readsMemory reports whether the system does that.
func readsMemory() bool { return false }
