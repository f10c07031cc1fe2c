package fast_test

import (
	"context"
	"fmt"
	"log"

	"github.com/collgen/collgen/fast"
)

// Four ranks, in one process, add what each of them has.
func ExampleAllReduce() {
	err := fast.Run(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		x := []float32{1, float32(c.Rank())}
		if err := fast.AllReduce(ctx, c, x, fast.Sum); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(x)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [4 6]
}
