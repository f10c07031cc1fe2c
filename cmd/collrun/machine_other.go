//go:build unix && !aix && !solaris && !linux

package main

import "runtime"

// affinity has nothing to say where processes are not bound to processors.
func affinity() []finding { return nil }

// sharedMemory is not there for ranks: they use TCP on one host as well.
func sharedMemory() []finding {
	return []finding{{Name: "memfd", Value: false, Text: "not on " + runtime.GOOS + ": ranks of one host talk over TCP"}}
}

// othersMemory is not read.
func othersMemory() []finding { return nil }

// probe is never started here.
func probe() {}

// rdmaPorts are used on Linux alone.
func rdmaPorts() []finding { return nil }
