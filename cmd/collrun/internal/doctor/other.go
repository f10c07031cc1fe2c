//go:build unix && !aix && !solaris && !linux

package doctor

import "runtime"

// affinity returns nothing: processes are not bound to processors here.
func affinity() []Finding { return nil }

// sharedMemory returns that there is none: ranks of one host use TCP.
func sharedMemory() []Finding {
	return []Finding{{Name: "memfd", Value: false, Text: "not on " + runtime.GOOS + ": ranks of one host talk over TCP"}}
}

// othersMemory returns nothing: ranks do not read the memory of others here.
func othersMemory() []Finding { return nil }

// Probe is never started here.
func Probe() {}

// rdmaPorts returns nothing: RDMA needs Linux.
func rdmaPorts() []Finding { return nil }
