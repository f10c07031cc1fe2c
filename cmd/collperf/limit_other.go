//go:build !linux

package main

import "runtime"

// systemProbes has nothing: those probes need Linux.
var systemProbes []probe

// onCore keeps this goroutine on one thread until it is released. This system has no way to choose the core.
func onCore(int) (release func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
