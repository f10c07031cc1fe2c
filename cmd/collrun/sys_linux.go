package main

import "syscall"

// dieWithParent makes the kernel kill the process when the thread that started it ends. The keeper kills it as well;
// this also holds when both are killed at once.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
