package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// pin keeps this process on one of the cores that it may use, until undo: a process that it starts would have no more.
// Go then runs one goroutine at a time, as it does by itself where a process is bound from its start, unless the
// environment says more.
func pin(index int) (undo func() error, err error) {
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return nil, fmt.Errorf("the cores of this process: %w", err)
	}
	one.Set(coreOf(&all, index%all.Count()))
	before := runtime.GOMAXPROCS(0)
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
	return func() error {
		runtime.GOMAXPROCS(before) // and not what the one core would have it be
		return keep(&all)
	}, keep(&one)
}

// keep keeps all threads of this process on some cores. One that a thread starts meanwhile inherits them.
func keep(on *unix.CPUSet) error {
	return eachThread(func(thread int) error { return unix.SchedSetaffinity(thread, on) })
}

// coreOf returns the number of the index-th core of a set.
func coreOf(s *unix.CPUSet, index int) int {
	for core := 0; ; core++ {
		if s.IsSet(core) {
			if index == 0 {
				return core
			}
			index--
		}
	}
}

// eachThread does f for all threads of this process.
func eachThread(f func(thread int) error) error {
	const tasks = "/proc/self/task"
	entries, err := os.ReadDir(tasks)
	if err != nil {
		return err
	}
	for _, e := range entries {
		thread, err := strconv.Atoi(e.Name())
		if err != nil {
			return fmt.Errorf("%s has %q", tasks, e.Name())
		}
		if err := f(thread); err != nil && err != unix.ESRCH { // it has ended
			return fmt.Errorf("keeping thread %d on some cores: %w", thread, err)
		}
	}
	return nil
}
