// Command digits trains a small network to read handwritten digits, on several ranks that share every batch.
//
//	collrun -n 4 digits
//
// All ranks start from the parameters of rank 0 (Broadcast), sum their gradients in every step, those of one layer
// while the ones before it are computed (Bucket), and count together how many digits the network reads right (Reduce).
// With -sharded, each rank keeps a part of the parameters between steps (AllGatherV, ReduceScatterV): shard.go.
// In the end they prove that all of them hold the very same parameters, bit for bit (AllGather of a hash). Without a
// launcher the ranks are goroutines.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/collgen/collgen/fast"
)

func main() {
	ranks := flag.Int("ranks", 1, "number of `ranks`, where no launcher says it")
	var how settings
	flag.IntVar(&how.epochs, "epochs", 30, "number of times that all images are gone through")
	flag.BoolVar(&how.sharded, "sharded", false, "each rank keeps a part of the parameters")
	flag.BoolVar(&how.reproducible, "reproducible", false, "exact sums, so that -sharded changes no bit of the result")
	flag.Parse()
	err := fast.Main(context.Background(), *ranks, func(ctx context.Context, c *fast.Comm) error {
		_, err := train(ctx, c, how, os.Stdout)
		return err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "digits:", err)
		os.Exit(1)
	}
}
