package jobtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

func init() { fasttest.Roles["main"] = runMain }

// runMain calls Main as a program does. The rank that its argument names fails.
func runMain(ctx context.Context, args []string) error {
	return fast.Main(ctx, 7, func(ctx context.Context, c *fast.Comm) error {
		if fmt.Sprint(c.Rank()) == args[0] {
			return errors.New("boom")
		}
		n := []int{1}
		if err := fast.AllReduce(ctx, c, n, fast.Sum); err != nil {
			return err
		}
		fmt.Println(c, "counts", n)
		return nil
	})
}

// TestMainLaunches: processes that a launcher has started are the ranks, and leave nothing.
func TestMainLaunches(t *testing.T) {
	for _, size := range []int{1, 3} {
		j := fasttest.NewJob(t, size, "main none")
		for _, p := range j.Start(0, size) {
			if got, want := p.Line(t), fmt.Sprintf("world, rank %d of %d counts [%d]", p.Rank, size, size); got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if err := p.Wait(); err != nil {
				t.Errorf("rank %d: %v", p.Rank, err)
			}
		}
		j.WantNothingLeft()
	}
}

// TestMainFails: where the function of one rank fails, the others learn of it, and why.
func TestMainFails(t *testing.T) {
	const size = 3
	j := fasttest.NewJob(t, size, "main 1")
	for _, p := range j.Start(0, size) {
		_, text := p.Failure(t)
		if !strings.HasSuffix(text, "boom") || p.Rank != 1 && !strings.Contains(text, "rank 1: communicator was given up") {
			t.Errorf("rank %d: %s", p.Rank, text)
		}
		if err := p.Wait(); err == nil {
			t.Errorf("rank %d ends well", p.Rank)
		}
	}
	j.WantNothingLeft()
}
