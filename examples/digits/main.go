// Command digits trains a small network to read handwritten digits, on several ranks that share every batch.
//
//	collrun -n 4 digits
//
// All ranks start from the parameters of rank 0 (Broadcast), sum their gradients in every step, those of one layer
// while the ones before it are computed (Bucket), and count together how many digits the network reads right (Reduce).
// In the end they prove that all of them hold the very same parameters, bit for bit (AllGather of a hash). Without a
// launcher the ranks are goroutines.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/collgen/collgen/fast"
)

func main() {
	ranks := flag.Int("ranks", 1, "number of `ranks`, where no launcher says it")
	epochs := flag.Int("epochs", 30, "number of times that all images are gone through")
	flag.Parse()
	err := start(context.Background(), *ranks, func(ctx context.Context, c *fast.Comm) error {
		_, err := train(ctx, c, *epochs, os.Stdout)
		return err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "digits:", err)
		os.Exit(1)
	}
}

// start calls f as the rank that a launcher made this process, or as each of n ranks.
func start(ctx context.Context, n int, f func(context.Context, *fast.Comm) error) error {
	if _, err := fast.Detect(); errors.Is(err, fast.ErrNoLauncher) {
		return fast.Run(ctx, n, f)
	}
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	return errors.Join(f(ctx, c), c.Close())
}
