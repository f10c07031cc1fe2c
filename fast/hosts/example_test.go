package hosts_test

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/hosts"
)

// Ranks sum up their gradients. The goroutines of fast.Run are on one host. Processes of several hosts, which fast.Init
// connects, call the same: then each host sends only sums.
func Example() {
	err := fast.Run(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		h, err := hosts.New(ctx, c)
		if err != nil {
			return err
		}
		defer h.Close()
		grad := []float32{1, float32(c.Rank())}
		err = hosts.AllReduce(ctx, h, grad, fast.Avg)
		if c.Rank() == 0 {
			fmt.Println(grad)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [1 1.5]
	// <nil>
}
