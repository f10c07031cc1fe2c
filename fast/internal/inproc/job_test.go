package inproc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

var hello = wire.Topic{Comm: 5, Kind: 2}

// TestPlane sends a message to another process and to oneself; the memory of what is sent stays the sender's.
func TestPlane(t *testing.T) {
	j := NewJob(2)
	defer j.Close()
	body := []byte("hi")
	j.Plane(0).Send(1, hello, body)
	j.Plane(1).Send(1, hello, body)
	j.Plane(0).Send(2, hello, body)
	body[0] = 'x'
	for from := range 2 {
		n, err := j.Plane(1).Receive(t.Context(), hello)
		if err != nil || n.From != from || string(n.Body) != "hi" || j.Plane(from).Self() != from {
			t.Error(n, err)
		}
	}
}

// TestHandlersMayLock has two processes answer each other under locks of their own, which they also hold while they
// send.
func TestHandlersMayLock(t *testing.T) {
	j := NewJob(2)
	defer j.Close()
	var locks [2]sync.Mutex
	done := make(chan bool)
	send := func(p *Plane, seq uint32) {
		locks[p.Self()].Lock()
		defer locks[p.Self()].Unlock()
		p.Send(1-p.Self(), wire.Topic{Comm: 5, Kind: 2, Seq: seq}, nil)
	}
	for i := range 2 {
		p := j.Plane(i)
		p.Handle(hello.Comm, hello.Kind, func(n wire.Note) {
			if n.Topic.Seq == 1000 {
				done <- true
				return
			}
			send(p, n.Topic.Seq+1)
		})
	}
	go send(j.Plane(0), 0)
	send(j.Plane(1), 0)
	<-done
	<-done
}

// downs returns what each process says of each, and has been told.
func downs(j *Job, told [][]error) string {
	said := ""
	for i, p := range j.planes {
		for process := range j.planes {
			if err := p.Down(process); err != told[i][process] {
				said += fmt.Sprintf("%d of %d says %v but was told %v; ", i, process, err, told[i][process])
			} else if err != nil {
				said += fmt.Sprintf("%d of %d: %v; ", i, process, err)
			}
		}
	}
	return said
}

func TestDown(t *testing.T) {
	cause := errors.New("its function returned")
	for name, test := range map[string]struct {
		act  func(j *Job)
		want string
	}{
		"nothing": {func(*Job) {}, ""},
		"end": {func(j *Job) { j.Plane(1).End(cause); j.Plane(1).End(wire.ErrDied); _ = j.Plane(1).Close() },
			"0 of 1: its function returned; 2 of 1: its function returned; "},
		"close": {func(j *Job) { _ = j.Plane(2).Close() },
			"0 of 2: communicator is closed; 1 of 2: communicator is closed; "},
		"fence": {func(j *Job) {
			j.Plane(0).Fence(2, wire.ErrFrozen)
			j.Plane(0).Fence(2, wire.ErrDied)
			j.Plane(0).Fence(0, wire.ErrDied)
			j.Plane(2).End(cause)
		}, "0 of 2: rank does not answer; 1 of 2: its function returned; " +
			"2 of 0: this rank was given up by the others; 2 of 2: this rank was given up by the others; "},
	} {
		synctest.Test(t, func(t *testing.T) {
			j := NewJob(3)
			told := make([][]error, 3)
			for i, p := range j.planes {
				told[i] = make([]error, 3)
				p.Watch(func(process int, err error) { told[i][process] = errors.Join(told[i][process], err) })
			}
			test.act(j)
			synctest.Wait()
			for i := range told {
				for process, err := range told[i] {
					if err != nil { // heard once
						told[i][process] = err.(interface{ Unwrap() []error }).Unwrap()[0]
					}
				}
			}
			if got := downs(j, told); got != test.want {
				t.Errorf("%s: %q, want %q", name, got, test.want)
			}
			j.Close()
		})
	}
}

// TestDownIsSilent: nothing comes from a process that is down, and nothing goes to it.
func TestDownIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := NewJob(3)
		defer j.Close()
		j.Plane(0).Fence(1, wire.ErrDied)
		j.Plane(0).Send(1, hello, nil)
		j.Plane(1).Send(0, hello, nil)
		j.Plane(2).End(wire.ErrClosed)
		j.Plane(2).Send(0, hello, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for i := range 2 {
			if n, err := j.Plane(i).Receive(ctx, hello); err != context.DeadlineExceeded {
				t.Error(n, err)
			}
		}
		if _, err := j.Plane(2).Receive(ctx, hello); err != wire.ErrClosed {
			t.Error(err)
		}
	})
}

// TestFound makes several networks at once, of some of the processes, in an order of ranks of their own.
func TestFound(t *testing.T) {
	j := NewJob(4)
	defer j.Close()
	members := []int{3, 0, 2}
	var all sync.WaitGroup
	for id := range uint64(20) {
		for rank, process := range members {
			all.Go(func() {
				e, err := j.Plane(process).Found(t.Context(), id, rank, members)
				if err == nil {
					err = e.Exchange(t.Context(), sendsTo([]int{(rank + 1) % 3}), recvsFrom([]int{(rank + 2) % 3}))
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	if len(j.foundings) > 0 {
		t.Errorf("%d networks are not forgotten", len(j.foundings))
	}
}

// TestFoundFails has one member do something else than come: the others fail, now or when they come later.
func TestFoundFails(t *testing.T) {
	members := []int{2, 0, 1}
	cause := errors.New("its function returned")
	for name, test := range map[string]struct {
		other func(p *Plane) error // of rank 2
		want  string
	}{
		"ends": {func(p *Plane) error { p.End(cause); return cause }, "rank 2: its function returned"},
		"other ones": {func(p *Plane) error { return found(p, time.Hour, 2, []int{0, 2, 1}) },
			"rank 2 of processes [0 2 1] comes to a network of processes [2 0 1]"},
		"impatient": {func(p *Plane) error { return found(p, time.Second, 2, members) },
			"rank 2: communicator was given up: waiting for ranks [1]: context deadline exceeded"},
	} {
		synctest.Test(t, func(t *testing.T) {
			j := NewJob(3)
			defer j.Close()
			errs := make([]error, 3)
			var all sync.WaitGroup
			for rank, process := range members {
				all.Go(func() {
					if p := j.Plane(process); rank == 2 {
						time.Sleep(time.Millisecond)
						errs[2] = test.other(p)
					} else { // rank 0 waits when it fails, and rank 1 comes when it has failed
						time.Sleep(time.Duration(rank) * 2 * time.Second)
						errs[rank] = found(p, time.Hour, rank, members)
					}
				})
			}
			all.Wait()
			for rank, err := range errs[:2] {
				if fmt.Sprint(err) != test.want {
					t.Errorf("%s: rank %d: %v", name, rank, err)
				}
			}
			if timeout := (*wire.TimeoutError)(nil); errors.As(errs[2], &timeout) != (name == "impatient") {
				t.Errorf("%s: %v", name, errs[2])
			} else if timeout != nil && fmt.Sprint(timeout.Waiting) != "[1]" {
				t.Error(timeout)
			}
		})
	}
}

func found(p *Plane, patience time.Duration, rank int, members []int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := p.Found(ctx, 1, rank, members)
	return err
}
