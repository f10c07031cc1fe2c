package machine

import (
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// Pin keeps this process on one of the cores that it may use, until undo is called. Processes that it starts meanwhile
// inherit that. Like in a process that is bound from its start, Go then runs one goroutine at a time, unless the
// environment has GOMAXPROCS.
func Pin(index int) (undo func() error, err error) {
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
		runtime.GOMAXPROCS(before) // Go itself would keep the value for one core
		return setAffinity(&all)
	}, setAffinity(&one)
}

// setAffinity keeps all threads of this process on some cores. Threads that they start inherit them.
func setAffinity(on *unix.CPUSet) error {
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

// eachThread calls f for all threads of this process.
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

// OnCore keeps this goroutine on one thread, and that thread on a core, until it is released. If the system refuses the
// core, the thread may run on any.
func OnCore(index int) (release func()) {
	runtime.LockOSThread()
	var all, one unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil {
		return runtime.UnlockOSThread
	}
	one.Set(coreOf(&all, index%all.Count()))
	_ = unix.SchedSetaffinity(0, &one)
	return func() {
		_ = unix.SchedSetaffinity(0, &all)
		runtime.UnlockOSThread()
	}
}
