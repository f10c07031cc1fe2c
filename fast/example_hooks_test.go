package fast_test

import (
	"context"
	"fmt"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/hooks"
)

// Hooks add up how many bytes the calls of each primitive have moved, and see which fail.
func ExampleWithHooks() {
	bytes := map[string]int{}
	count := &hooks.Hooks{CallEnded: func(c hooks.Call, took time.Duration, err error) {
		if c.Comm.Rank > 0 { // the functions are those of all ranks of Run
			return
		}
		if err != nil {
			fmt.Println(c.Primitive, "failed after", took, err)
		}
		bytes[c.Primitive] += c.Bytes
	}}
	err := fast.Run(context.Background(), 2, func(ctx context.Context, c *fast.Comm) error {
		x := make([]float32, 1000)
		for range 3 {
			if err := fast.AllReduce(ctx, c, x, fast.Sum); err != nil {
				return err
			}
		}
		return fast.Broadcast(ctx, c, x[:10], 1)
	}, fast.WithHooks(count))
	fmt.Println(bytes, err)
	// Output: map[AllReduce:12000 Broadcast:40] <nil>
}
