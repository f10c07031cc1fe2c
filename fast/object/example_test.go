package object_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/object"
)

// result is what a rank has found.
type result struct {
	Rank  int
	Words map[string]int
}

// Every rank counts words in its lines, and rank 0 prints the counts of all.
func ExampleAllGather() {
	lines := []string{"to be or", "not to be", "that is"}
	err := fast.Run(context.Background(), len(lines), func(ctx context.Context, c *fast.Comm) error {
		mine := result{Rank: c.Rank(), Words: map[string]int{}}
		for _, w := range strings.Fields(lines[c.Rank()]) {
			mine.Words[w]++
		}
		all, err := object.AllGather(ctx, c, mine)
		if c.Rank() == 0 {
			for _, r := range all {
				fmt.Println(r.Rank, r.Words)
			}
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// 0 map[be:1 or:1 to:1]
	// 1 map[be:1 not:1 to:1]
	// 2 map[is:1 that:1]
	// <nil>
}

// Rank 0 reads a configuration, and all ranks have it then.
func ExampleBroadcast() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		var config struct {
			Rate   float64
			Layers []int
		}
		if c.Rank() == 0 {
			if err := json.Unmarshal([]byte(`{"Rate": 0.1, "Layers": [784, 32, 10]}`), &config); err != nil {
				return err
			}
		}
		err := object.Broadcast(ctx, c, &config, 0)
		if c.Rank() == 2 {
			fmt.Println(config)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// {0.1 [784 32 10]}
	// <nil>
}

// The ranks tell rank 0 what went wrong, in JSON.
func ExampleGather() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		var report []string
		if c.Rank() > 0 {
			report = append(report, fmt.Sprintf("rank %d is out of paper", c.Rank()))
		}
		all, err := object.Gather(ctx, c, report, 0, object.WithCodec(json.Marshal, json.Unmarshal))
		if c.Rank() == 0 {
			fmt.Println(len(all), all)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// 3 [[] [rank 1 is out of paper] [rank 2 is out of paper]]
	// <nil>
}

// Rank 0 hands out tasks, of which each rank does its own.
func ExampleScatter() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		var tasks []string
		if c.Rank() == 0 {
			tasks = []string{"read", "sort", "write"}
		}
		mine, err := object.Scatter(ctx, c, tasks, 0)
		if c.Rank() == 1 {
			fmt.Println(mine)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// sort
	// <nil>
}

// Ranks send each word to the rank that counts the words of its length.
func ExampleAllToAll() {
	lines := []string{"to be or", "not to be", "that is"}
	err := fast.Run(context.Background(), len(lines), func(ctx context.Context, c *fast.Comm) error {
		words := make([][]string, c.Size())
		for _, w := range strings.Fields(lines[c.Rank()]) {
			words[len(w)%c.Size()] = append(words[len(w)%c.Size()], w)
		}
		mine, err := object.AllToAll(ctx, c, words)
		if c.Rank() == 2 {
			fmt.Println(mine)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [[to be or] [to be] [is]]
	// <nil>
}
