package fast

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/fasttest"
)

// testWorld makes the ranks of communicators, all in this process, that talk in one way.
type World struct {
	Name  string
	Comms func(t testing.TB, size int) []*Comm
}

// worlds are all ways in which ranks talk.
var Worlds = []World{
	{"goroutines", func(_ testing.TB, size int) []*Comm { return comms(size) }},
	{"shm", func(t testing.TB, size int) []*Comm { return initComms(t, size, WithTransport("shm")) }},
	{"tcp", func(t testing.TB, size int) []*Comm { return initComms(t, size, WithTransport("tcp")) }},
	{"tcp, encrypted", func(t testing.TB, size int) []*Comm {
		return initComms(t, size, WithTransport("tcp"), WithEncryption())
	}},
	{"mixed", func(t testing.TB, size int) []*Comm { return initComms(t, size, oddAndEven) }},
}

// oddAndEven has ranks believe that there are two hosts.
func oddAndEven(p *initConfig) { p.Host = fmt.Sprint("host ", p.Rank%2) }

// initComms returns ranks that Init connects.
func initComms(t testing.TB, size int, opts ...InitOption) []*Comm {
	meeting := NewMemoryStore()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return fasttest.Begin(t, size, func(rank int) (*Comm, error) {
		return Init(ctx, append([]InitOption{WithRank(rank, size), WithStore(meeting)}, opts...)...)
	})
}

// TestDisagreement has two ranks make calls between which no message tells of the difference: both learn of it without
// an end of their context, at the latest by their next call.
func TestDisagreement(t *testing.T) {
	for name, calls := range map[string][2]func(ctx context.Context, c *Comm) error{
		"both receive": {
			func(ctx context.Context, c *Comm) error { return Broadcast(ctx, c, make([]int32, 4), 1) },
			func(ctx context.Context, c *Comm) error { return Broadcast(ctx, c, make([]int32, 4), 0) }},
		"both send": {
			func(ctx context.Context, c *Comm) error { return Broadcast(ctx, c, make([]int32, 4), 0) },
			func(ctx context.Context, c *Comm) error { return Broadcast(ctx, c, make([]int32, 4), 1) }},
		"a receive against a collective": {
			func(ctx context.Context, c *Comm) error { return Recv(ctx, c, make([]int32, 4), 1) },
			func(ctx context.Context, c *Comm) error { return Broadcast(ctx, c, make([]int32, 4), 0) }},
		"nothing against something": {
			func(ctx context.Context, c *Comm) error { return AllReduce(ctx, c, []int32{}, Sum) },
			func(ctx context.Context, c *Comm) error { return AllReduce(ctx, c, make([]int32, 4), Sum) }},
	} {
		for _, w := range Worlds {
			t.Run(w.Name+"/"+name, func(t *testing.T) {
				all := w.Comms(t, 2)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
					defer c.Close()
					if err := calls[c.Rank()](ctx, c); err != nil {
						return err
					}
					return Barrier(ctx, c)
				}) {
					var m *MismatchError
					if !errors.As(err, &m) || m.Rank != 1-rank {
						t.Errorf("rank %d: %v", rank, err)
					}
				}
			})
		}
	}
}
