package fast

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

func init() {
	roles["busy"] = busy
	roles["hog"] = func(context.Context, []string) error {
		for i := 0; ; i++ { // until it is killed
			runtime.KeepAlive(i)
		}
	}
}

// busy repeats all operations for so many seconds.
func busy(ctx context.Context, args []string) error {
	var seconds int
	if _, err := fmt.Sscan(args[0], &seconds); err != nil {
		return err
	}
	c, err := Init(ctx, FromEnv()...)
	if err != nil {
		return err
	}
	defer c.Close()
	calls, end := 0, time.Now().Add(time.Duration(seconds)*time.Second)
	for going := true; going; {
		for _, op := range operations {
			if err := op.run(ctx, c, 1000, calls); err != nil {
				return fmt.Errorf("call %d, %s: %w", calls, op.name, err)
			}
			calls++
		}
		more := []int{0}
		if c.Rank() == 0 && time.Now().Before(end) {
			more[0] = 1
		}
		if err := Broadcast(ctx, c, more, 0); err != nil {
			return err
		}
		going = more[0] == 1
	}
	fmt.Println("done", calls)
	return nil
}
