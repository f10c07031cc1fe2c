package main

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
)

// lineLimits is how long a cache line takes from one core to another.
func lineLimits(ctx context.Context) ([]limit, error) {
	if runtime.NumCPU() < 2 {
		return nil, errors.New("there is one core")
	}
	var line struct {
		_    [64]byte
		turn atomic.Int64 // even: the first one's
		_    [64]byte
	}
	seconds, err := oneWay(ctx, [2]func(turn int) error{
		func(turn int) error { return spin(&line.turn, int64(2*turn)) },
		func(turn int) error { return spin(&line.turn, int64(2*turn+1)) },
	}, func() { line.turn.Store(0) })
	return []limit{{Name: "cache line", Where: "between cores", Bytes: 8, Cores: 2, Value: seconds * 1e6, Unit: "us"}}, err
}

// spin waits for a value, and gives the turn to the other one.
func spin(turn *atomic.Int64, want int64) error {
	for turn.Load() != want {
	}
	turn.Store(want + 1)
	return nil
}

// oneWay is how long a turn takes, in seconds, of two that take turns on two cores. Before each measurement reset is called.
func oneWay(ctx context.Context, sides [2]func(turn int) error, reset func()) (float64, error) {
	seconds, err := best(ctx, func(n int) error {
		reset()
		var both sync.WaitGroup
		var errs [2]error
		for i, side := range sides {
			both.Go(func() {
				defer onCore(i)()
				for turn := 0; turn < n && errs[i] == nil; turn++ {
					errs[i] = side(turn)
				}
			})
		}
		both.Wait()
		return errors.Join(errs[:]...)
	})
	return seconds / 2, err
}
