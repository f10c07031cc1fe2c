package limits

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/collgen/collgen/cmd/collperf/internal/machine"
)

// lineLimits measures how long a cache line takes from one core to another, and two lines in opposite directions: the
// least that two ranks need to hear from each other.
func lineLimits(ctx context.Context) ([]Limit, error) {
	if runtime.NumCPU() < 2 {
		return nil, errors.New("there is one core")
	}
	var lines [2]struct {
		_     [64]byte
		round atomic.Int64
		_     [64]byte
	}
	turn := &lines[0].round // even: side 0's
	way, err := oneWay(ctx, [2]func(turn int) error{
		func(i int) error { return spin(turn, int64(2*i)) },
		func(i int) error { return spin(turn, int64(2*i+1)) },
	}, func() { turn.Store(0) }, func() {})
	if err != nil {
		return nil, err
	}
	exchange := func(own, other *atomic.Int64) func(int) error {
		return func(i int) error {
			own.Store(int64(i + 1))
			for other.Load() <= int64(i) {
			}
			return nil
		}
	}
	both, err := inStep(ctx, [2]func(int) error{
		exchange(&lines[0].round, &lines[1].round), exchange(&lines[1].round, &lines[0].round),
	}, func() { lines[0].round.Store(0); lines[1].round.Store(0) }, func() {})
	return []Limit{
		{Name: "cache line", Where: "between cores", Bytes: 8, Cores: 2, Value: way * 1e6, Unit: "us"},
		{Name: "cache line", Where: "both ways at once", Bytes: 8, Cores: 2, Value: both * 1e6, Unit: "us"},
	}, err
}

// spin waits for its turn and gives the next one to the other side.
func spin(turn *atomic.Int64, want int64) error {
	for turn.Load() != want {
	}
	turn.Store(want + 1)
	return nil
}

// oneWay returns how long one turn takes, in seconds, if two sides take turns on two cores.
func oneWay(ctx context.Context, sides [2]func(turn int) error, reset, cut func()) (float64, error) {
	seconds, err := inStep(ctx, sides, reset, cut)
	return seconds / 2, err
}

// inStep returns how long it takes, in seconds, until both sides have done their part once, on two cores. It calls
// reset before each measurement, and cut as bothSides does.
func inStep(ctx context.Context, sides [2]func(turn int) error, reset, cut func()) (float64, error) {
	return best(ctx, func(n int) error {
		reset()
		return bothSides(ctx, cut, func(i int) error {
			defer machine.OnCore(i)()
			for turn := range n {
				if err := sides[i](turn); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// bothSides runs sides 0 and 1 and returns the first error. When one side has failed, or ctx has ended, it calls cut,
// which must end the other side's waiting.
func bothSides(ctx context.Context, cut func(), side func(i int) error) error {
	defer context.AfterFunc(ctx, cut)()
	var both sync.WaitGroup
	var once sync.Once
	var first error
	for i := range 2 {
		both.Go(func() {
			if err := side(i); err != nil {
				once.Do(func() {
					first = err
					cut()
				})
			}
		})
	}
	both.Wait()
	return first
}
