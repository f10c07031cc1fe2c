//go:build unix && !aix && !solaris && !linux

package main

import "syscall"

// dieWithParent has nothing to set where the kernel offers nothing: there the keeper does it alone.
func dieWithParent(*syscall.SysProcAttr) {}
