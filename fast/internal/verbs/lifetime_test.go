//go:build linux && cgo && !netgo

package verbs

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/rdma/vm"
)

// TestClose closes everything, beginning with each object, and again.
func TestClose(t *testing.T) {
	vm.Need(t)
	for first := range 6 {
		a, _ := newPair(t, vm.NICs[0], vm.NICs[1], 1, quick)
		a.receive(t, 3)
		objects := []interface{ Close() error }{a.context, a.channel, a.cq, a.pd, a.qp, a.mr}
		objects[0], objects[first] = objects[first], objects[0]
		for range 2 {
			for _, o := range objects {
				if err := o.Close(); err != nil {
					t.Errorf("beginning with %T, closing %T: %v", objects[0], o, err)
				}
			}
		}
	}
}

// TestClosed uses what is closed, by itself or with something that it needs.
func TestClosed(t *testing.T) {
	vm.Need(t)
	a, _ := newPair(t, vm.NICs[0], vm.NICs[1], 1, quick)
	if err := a.pd.Close(); err != nil {
		t.Fatal(err)
	}
	one := make([]Completion, 1)
	if _, err := a.cq.Poll(one); err != nil {
		t.Errorf("the completion queue does not need the domain: %v", err)
	}
	var errs []error
	tried := func(_ any, err error) { errs = append(errs, err) }
	tried(a.qp.Post([]Send{{}}))
	tried(a.qp.PostReceives([]Receive{{}}))
	tried(nil, a.qp.ToError())
	tried(a.pd.Register(make([]byte, 1), 0))
	tried(a.pd.CreateQP(a.cq, a.cq, Depths{Sends: 1, Receives: 1}))
	if err := a.context.Close(); err != nil {
		t.Fatal(err)
	}
	tried(a.cq.Poll(one))
	tried(nil, a.cq.Arm())
	tried(a.context.CreateCQ(1, nil))
	tried(a.context.Port(1))
	tried(a.context.AllocPD())
	for i, err := range errs {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("use %d: %v", i, err)
		}
	}
}

// TestCloseWakes closes a context whose channel a goroutine waits on.
func TestCloseWakes(t *testing.T) {
	vm.Need(t)
	e := newEnd(t, vm.NICs[0], 1)
	ended := make(chan error)
	go func() { ended <- e.channel.Wait() }()
	time.Sleep(10 * time.Millisecond) // as a rule it sleeps by now; the test holds if it does not
	if err := e.context.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, os.ErrClosed) {
		t.Errorf("waiting ended with %v", err)
	}
}

// TestRefused has objects not come into being: nothing is left of them.
func TestRefused(t *testing.T) {
	vm.Need(t)
	e := newEnd(t, vm.NICs[0], 1)
	if _, err := e.context.CreateCQ(1<<30, nil); err == nil {
		t.Error("a completion queue that no device has")
	}
	if _, err := e.pd.CreateQP(e.cq, e.cq, Depths{Sends: 1 << 30}); err == nil {
		t.Error("a queue pair that no device has")
	}
	if _, err := e.pd.Register(nil, 0); err == nil {
		t.Error("no memory was registered")
	}
	if q, err := e.pd.CreateQP(e.cq, e.cq, Depths{Sends: 1, Receives: 1, Inline: 1 << 20}); err != nil ||
		q.Depths.Inline >= 1<<20 {
		t.Errorf("more inline than there is: %v", err)
	}
	if _, err := e.context.Port(2); err == nil {
		t.Error("there is a second port")
	}
}
