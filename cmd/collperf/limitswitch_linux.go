package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// switchLimits returns how long a core takes to go on with another thread, when the one that it runs gives way.
func switchLimits(ctx context.Context) ([]limit, error) {
	seconds, err := best(ctx, func(n int) error {
		var all sync.WaitGroup
		var turn atomic.Int64
		var errs [2]error
		for i := range int64(2) {
			all.Go(func() {
				defer onCore(0)()
				errs[i] = giveWay(&turn, i, int64(2*n))
			})
		}
		all.Wait()
		return errors.Join(errs[:]...)
	})
	return []limit{{Name: "switch", Where: "on one core", Cores: 1, Value: seconds / 2 * 1e6, Unit: "us"}}, err
}

// giveWay takes each other turn up to a last one, and gives way until it is there.
func giveWay(turn *atomic.Int64, next, last int64) error {
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
