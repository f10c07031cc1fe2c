package fast

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// testWorld makes the ranks of communicators, all in this process, that talk in one way.
type testWorld struct {
	name  string
	comms func(t testing.TB, size int) []*Comm
}

// worlds are all ways in which ranks talk.
var worlds = []testWorld{
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
	return begin(t, size, func(rank int) (*Comm, error) {
		return Init(ctx, append([]InitOption{WithRank(rank, size), WithStore(meeting)}, opts...)...)
	})
}

// begin has all ranks come to a communicator at once.
func begin(t testing.TB, size int, f func(rank int) (*Comm, error)) []*Comm {
	t.Helper()
	all, errs := make([]*Comm, size), make([]error, size)
	var begins sync.WaitGroup
	for rank := range all {
		begins.Go(func() { all[rank], errs[rank] = f(rank) })
	}
	begins.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return all
}

// again returns a new communicator of the ranks of each of all, for a test that spoils it.
func again(t testing.TB, all []*Comm) []*Comm {
	t.Helper()
	more := make([]*Comm, len(all))
	if err := errors.Join(onAll(all, func(c *Comm) (err error) {
		more[c.Rank()], err = c.Dup(t.Context())
		return err
	})...); err != nil {
		t.Fatal(err)
	}
	return more
}
