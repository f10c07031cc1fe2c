package main

import (
	"context"
	"io"
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// systemProbes are those that only Linux has.
var systemProbes = []probe{{"switch", switchLimits}, {"futex", futexLimits}, {"tcp message", messageLimits}, {"tcp exchange", crossingLimits},
	{"process_vm_readv", otherMemoryLimits}}

// onCore keeps this goroutine on a core until it is released. Where that is refused, it is on whatever core.
func onCore(index int) (release func()) {
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

const (
	futexWait = 0 | 128 // FUTEX_WAIT | FUTEX_PRIVATE_FLAG
	futexWake = 1 | 128
)

func futex(word *atomic.Uint32, operation, value uintptr) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), operation, value, 0, 0, 0) // the word says the rest
}

// futexLimits returns how long it takes to wake a thread that sleeps on another core.
func futexLimits(ctx context.Context) ([]limit, error) {
	var turn atomic.Uint32
	take := func(want uint32) error {
		for v := turn.Load(); v != want; v = turn.Load() {
			futex(&turn, futexWait, uintptr(v))
		}
		turn.Store(want + 1)
		futex(&turn, futexWake, 1)
		return nil
	}
	seconds, err := oneWay(ctx, [2]func(int) error{
		func(i int) error { return take(uint32(2 * i)) },
		func(i int) error { return take(uint32(2*i + 1)) },
	}, func() { turn.Store(0) }, func() {})
	return []limit{{Name: "futex", Where: "between cores", Bytes: 4, Cores: 2, Value: seconds * 1e6, Unit: "us"}}, err
}

// otherMemoryLimits is reading memory by process_vm_readv: this process's own, for which the kernel does the same as
// for that of another one.
func otherMemoryLimits(ctx context.Context) (all []limit, err error) {
	m, err := newMemory(32 << 20)
	if err != nil {
		return nil, err
	}
	defer m.free()
	fillWith(m.data, 1)
	half := len(m.data) / 2
	for _, bytes := range []int{8, 64 << 10, 1 << 20, half} {
		seconds, err := best(ctx, func(n int) error { return readOwn(m.data[:bytes], m.data[half:][:bytes], n) })
		if err != nil {
			return all, err
		}
		l := limit{Name: "process_vm_readv", Where: "own memory", Bytes: bytes, Cores: 1,
			Value: float64(bytes) / seconds / 1e9, Unit: "GB/s"}
		if bytes == 8 {
			l.Value, l.Unit = seconds*1e6, "us"
		}
		all = append(all, l)
	}
	return all, nil
}

func readOwn(into, from []byte, n int) error {
	for range n {
		if err := readMemory(into, from); err != nil {
			return err
		}
	}
	return nil
}

// readMemory has the system read this process's memory as that of another one, for which it does the same.
func readMemory(into, from []byte) error {
	local := []unix.Iovec{{Base: &into[0]}}
	local[0].SetLen(len(into))
	remote := []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&from[0])), Len: len(from)}}
	n, err := unix.ProcessVMReadv(os.Getpid(), local, remote, 0)
	if err == nil && n < len(from) {
		err = io.ErrShortWrite
	}
	return err
}
