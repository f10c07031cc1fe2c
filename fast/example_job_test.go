package fast_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"sync"

	"github.com/collgen/collgen/fast"
)

// A program that runs under any launcher, and with four goroutines where there is none.
func ExampleMain() {
	err := fast.Main(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		n := []int{1}
		if err := fast.AllReduce(ctx, c, n, fast.Sum); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(n[0], "ranks")
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// 4 ranks
	// <nil>
}

// Two ranks find each other through a store, and connect. They are in one process here, and would else be in two.
func ExampleInit() {
	store := fast.NewMemoryStore()
	var ranks sync.WaitGroup
	for rank := range 2 {
		ranks.Go(func() {
			ctx := context.Background()
			c, err := fast.Init(ctx, fast.WithRank(rank, 2), fast.WithStore(store))
			if err != nil {
				log.Fatal(err)
			}
			defer c.Close()
			x := []int{rank + 1}
			if err := fast.AllReduce(ctx, c, x, fast.Sum); err != nil {
				log.Fatal(err)
			}
			if rank == 0 {
				fmt.Println(x)
			}
		})
	}
	ranks.Wait()
	// Output: [3]
}

// A new process joins a job of two ranks, by a ticket from one of them.
func ExampleJoin() {
	ctx, store := context.Background(), fast.NewMemoryStore()
	secret := fast.WithSecret(bytes.Repeat([]byte{42}, 32)) // which real ones get from a source of random bytes
	work := func(c *fast.Comm, err error) {
		if err != nil {
			log.Fatal(err)
		}
		defer c.Close()
		x := []int{1}
		if err := fast.AllReduce(ctx, c, x, fast.Sum); err != nil {
			log.Fatal(err)
		}
		if c.Rank() == 2 {
			fmt.Println(c.Size(), x)
		}
	}
	tickets := make(chan string, 1)
	var ranks sync.WaitGroup
	for rank := range 2 {
		ranks.Go(func() {
			c, err := fast.Init(ctx, fast.WithRank(rank, 2), fast.WithStore(store), secret)
			if err != nil {
				log.Fatal(err)
			}
			defer c.Close()
			if rank == 0 {
				ticket, err := c.Invite(ctx)
				if err != nil {
					log.Fatal(err)
				}
				tickets <- ticket
			}
			work(c.Grow(ctx))
		})
	}
	ranks.Go(func() { work(fast.Join(ctx, <-tickets, secret)) })
	ranks.Wait()
	// Output: 3 [3]
}
