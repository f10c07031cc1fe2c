// Command rollcall is a program for the tests of launchers: one rank of a job that learns everything from its
// environment. Each rank exchanges messages with the others, checks what it gets, and prints one line that says who it
// is and who shares its host:
//
//	rank 1 of 4: 2 hosts: [0 1] [2 3]; shm to [0]; tcp to [2 3]
//
// With -forever it goes on until a call fails, and then says when that was and why. With -odd one rank goes astray
// first. With -leave a rank makes one broadcast, closes its communicator, and exits; with -after the ranks that receive
// first do something else.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/collgen/collgen/fast"
)

// settings are the command line.
type settings struct {
	store   string
	forever int
	leave   int
	after   time.Duration
	odd     int
	how     string
}

func main() {
	var s settings
	flag.StringVar(&s.store, "store", "", "find the others through this store, etcd://host:port or redis://host:port")
	flag.IntVar(&s.forever, "forever", 0, "go on with all-reduces of so many `elements` until one fails")
	flag.IntVar(&s.leave, "leave", 0, "only broadcast so many `elements`, and leave at once")
	flag.DurationVar(&s.after, "after", 0, "before it leaves, have each rank but 0 do something else for so `long`")
	flag.IntVar(&s.odd, "odd", -1, "have this `rank` go astray then")
	flag.StringVar(&s.how, "how", "", "the `way` that it goes: killed, late (longer than the others wait), or count")
	flag.Parse()
	if err := s.run(); err != nil {
		fmt.Fprintln(os.Stderr, "rollcall:", err)
		os.Exit(1)
	}
}

// run does all that a rank does.
func (s *settings) run() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	opts, done, err := options(ctx, s.store)
	if err != nil {
		return err
	}
	c, err := fast.Init(ctx, opts...)
	if err := errors.Join(err, done()); err != nil {
		return err
	}
	if s.leave > 0 {
		if c.Rank() > 0 {
			time.Sleep(s.after)
		}
		err = broadcast(ctx, c, s.leave, 0)
	} else {
		err = s.answer(ctx, c)
	}
	return errors.Join(err, c.Close())
}

// answer does what a rank does with the others.
func (s *settings) answer(ctx context.Context, c *fast.Comm) error {
	for _, check := range []func(context.Context, *fast.Comm) error{sum, spread, pass} {
		if err := check(ctx, c); err != nil {
			return err
		}
	}
	fmt.Printf("rank %d of %d: %v\n", c.Rank(), c.Size(), c.Topology())
	if s.forever > 0 {
		return s.goOn(ctx, c)
	}
	return nil
}

// sum adds up small and large vectors.
func sum(ctx context.Context, c *fast.Comm) error {
	n := c.Size()
	for _, count := range []int{1, 1000, 300_000} {
		buf := make([]int64, count)
		for i := range buf {
			buf[i] = int64(i + c.Rank())
		}
		if err := fast.AllReduce(ctx, c, buf, fast.Sum); err != nil {
			return err
		}
		for i, got := range buf {
			if want := int64(n*i + n*(n-1)/2); got != want {
				return fmt.Errorf("sum of %d elements: [%d] is %d, want %d", count, i, got, want)
			}
		}
	}
	return nil
}

// spread has the last rank tell all others something.
func spread(ctx context.Context, c *fast.Comm) error {
	return broadcast(ctx, c, 1000, c.Size()-1)
}

// broadcast has root tell all others so many elements.
func broadcast(ctx context.Context, c *fast.Comm, count, root int) error {
	buf := make([]int32, count)
	if c.Rank() == root {
		fill(buf, root)
	}
	if err := fast.Broadcast(ctx, c, buf, root); err != nil {
		return err
	}
	return compare("broadcast", buf, root)
}

// pass passes a message from each rank to the next one, the first of all by rank 0.
func pass(ctx context.Context, c *fast.Comm) error {
	rank, n := c.Rank(), c.Size()
	if n == 1 {
		return nil
	}
	buf := make([]int32, 5000)
	send := func() error {
		fill(buf, rank)
		return fast.Send(ctx, c, buf, (rank+1)%n)
	}
	if rank == 0 {
		if err := send(); err != nil {
			return err
		}
	}
	from := (rank + n - 1) % n
	if err := fast.Recv(ctx, c, buf, from); err != nil {
		return err
	}
	if err := compare("message", buf, from); err != nil || rank == 0 {
		return err
	}
	return send()
}

func fill(buf []int32, from int) {
	for i := range buf {
		buf[i] = int32(from*1_000_000 + i)
	}
}

// compare wants what fill has made.
func compare(what string, got []int32, from int) error {
	want := make([]int32, len(got))
	fill(want, from)
	if !slices.Equal(got, want) {
		return fmt.Errorf("%s: got %d… from rank %d, want %d…", what, got[:3], from, want[:3])
	}
	return nil
}
