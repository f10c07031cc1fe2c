package limits

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/collgen/collgen/cmd/collperf/internal/machine"
	"golang.org/x/sys/unix"
)

// systemProbes are the probes that need Linux.
var systemProbes = []probe{{"switch", switchLimits}, {"futex", futexLimits}, {"tcp message", messageLimits},
	{"tcp exchange", exchangeLimits},
	{"process_vm_readv", otherMemoryLimits}}

const (
	futexWait = 0 | 128 // FUTEX_WAIT | FUTEX_PRIVATE_FLAG
	futexWake = 1 | 128
)

func futex(word *atomic.Uint32, operation, value uintptr) {
	// errors do not matter: the caller looks at the word again
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), operation, value, 0, 0, 0)
}

// futexLimits measures how long it takes to wake a thread that sleeps on another core.
func futexLimits(ctx context.Context) ([]Limit, error) {
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
	return []Limit{{Name: "futex", Where: "between cores", Bytes: 4, Cores: 2, Value: seconds * 1e6, Unit: "us"}}, err
}

// otherMemoryLimits measures process_vm_readv. It reads this process's own memory, for which the kernel does the same
// as for another process's.
func otherMemoryLimits(ctx context.Context) (all []Limit, err error) {
	m, err := machine.NewMemory(32 << 20)
	if err != nil {
		return nil, err
	}
	defer m.Free()
	fill(m.Data, 1)
	half := len(m.Data) / 2
	for _, bytes := range []int{8, 64 << 10, 1 << 20, half} {
		seconds, err := best(ctx, func(n int) error { return readOwn(m.Data[:bytes], m.Data[half:][:bytes], n) })
		if err != nil {
			return all, err
		}
		l := Limit{Name: "process_vm_readv", Where: "own memory", Bytes: bytes, Cores: 1,
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

// readMemory reads this process's memory by process_vm_readv.
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

// switchLimits measures how long a core takes to switch to another thread when the running one yields.
func switchLimits(ctx context.Context) ([]Limit, error) {
	seconds, err := best(ctx, func(n int) error {
		var all sync.WaitGroup
		var turn atomic.Int64
		var errs [2]error
		for i := range int64(2) {
			all.Go(func() {
				defer machine.OnCore(0)()
				errs[i] = takeTurns(&turn, i, int64(2*n))
			})
		}
		all.Wait()
		return errors.Join(errs[:]...)
	})
	return []Limit{{Name: "switch", Where: "on one core", Cores: 1, Value: seconds / 2 * 1e6, Unit: "us"}}, err
}

// takeTurns takes every second turn before the last one, and yields until each has come.
func takeTurns(turn *atomic.Int64, next, last int64) error {
	for ; next < last; next += 2 {
		for turn.Load() != next {
			if _, _, errno := unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0); errno != 0 {
				return errno
			}
		}
		turn.Store(next + 1)
	}
	return nil
}
