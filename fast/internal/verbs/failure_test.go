//go:build linux && cgo && !netgo

package verbs

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/rdma/vm"
)

// TestPeerGone writes to a queue pair that is closed meanwhile; what was posted behind is flushed.
func TestPeerGone(t *testing.T) {
	ways(t, func(t *testing.T, from, to vm.NIC) {
		a, b := newPair(t, from, to, 100, quick)
		if err := b.qp.Close(); err != nil {
			t.Fatal(err)
		}
		send := Send{ID: 1, Opcode: WriteWithImm, MR: a.mr, Length: 100, Remote: b.mr.Address(), RKey: b.mr.RKey}
		a.post(t, send, send)
		err := (&CompletionError{}).from(a.next(t))
		if err.Status != RetriesExceeded || !strings.Contains(err.Error(), "rank 7: the peer does not answer (status 12") {
			t.Errorf("got %v", err)
		}
		if c := a.next(t); c.Status != Flushed {
			t.Errorf("what came behind: %v", c.Status)
		}
	})
}

func (*CompletionError) from(c Completion) (e *CompletionError) {
	errors.As(c.Err("rxe0", "rank 7"), &e)
	return e
}

func TestStatuses(t *testing.T) {
	for _, c := range []struct {
		name     string
		want     []Status
		receives int
		change   func(s *Send, a, b *end)
	}{
		{"not ready", []Status{RNRRetries}, 0, func(s *Send, a, b *end) {}},
		{"wrong key", []Status{RemoteAccessError}, 1, func(s *Send, a, b *end) { s.RKey ^= 0xff }},
		{"behind the end", []Status{RemoteAccessError}, 1, func(s *Send, a, b *end) { s.Remote++ }},
		{"not registered", []Status{ProtectionError, LocalQPError}, 1,
			func(s *Send, a, b *end) { s.MR = &MR{Memory: make([]byte, 100)} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			vm.Need(t)
			a, b := newPair(t, vm.NICs[0], vm.NICs[1], 100, quick)
			b.receive(t, c.receives)
			s := Send{Opcode: WriteWithImm, MR: a.mr, Length: 100, Remote: b.mr.Address(), RKey: b.mr.RKey}
			c.change(&s, a, b)
			a.post(t, s)
			if got := a.next(t); !slices.Contains(c.want, got.Status) {
				t.Errorf("got %v, want %v", got.Status, c.want)
			}
		})
	}
}

func TestFlush(t *testing.T) {
	vm.Need(t)
	a, _ := newPair(t, vm.NICs[0], vm.NICs[1], 1, quick)
	a.receive(t, 3)
	if err := a.qp.ToError(); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if c := a.next(t); c.Status != Flushed || c.ID != uint64(i) {
			t.Errorf("got %+v", c)
		}
	}
}

// TestLinkDown has the device tell of it, and everything that is under way end.
func TestLinkDown(t *testing.T) {
	vm.Need(t)
	a, b := newPair(t, vm.NICs[0], vm.NICs[1], 100, quick)
	expect := func(e *end, want EventType, fatal bool) {
		t.Helper()
		for late := time.After(10 * time.Second); ; {
			select {
			case got := <-e.events:
				if t.Log(got); got.Type != want {
					continue
				}
				if got.Port != 1 || got.Fatal() != fatal {
					t.Errorf("got %+v", got)
				}
				return
			case <-late:
				t.Fatalf("nothing tells that %v", want)
			}
		}
	}
	vm.NICs[0].Down(t)
	expect(a, EventPortError, true)
	expect(b, EventPortError, true)
	if p, err := a.context.Port(1); err != nil || p.State == PortActive {
		t.Errorf("the port is %v: %v", p.State, err)
	}
	for _, e := range []*end{a, b} {
		e.post(t, Send{Opcode: WriteWithImm, Signaled: true})
		if c := e.next(t); c.Status == Success {
			t.Errorf("over a link that is down: %v", c.Status)
		} else {
			t.Log(c.Status)
		}
	}
	vm.NICs[0].Up(t)
	expect(a, EventPortActive, false)
	expect(b, EventPortActive, false)
	writeWhole(t, vm.NICs[0], vm.NICs[1], 10000)
}

func TestMemlock(t *testing.T) {
	vm.Memlock(t, 64, func(t *testing.T) {
		e := newEnd(t, vm.NICs[0], 4096)
		_, err := e.pd.Register(make([]byte, 1<<20), LocalWrite)
		if !errors.Is(err, syscall.ENOMEM) || !strings.Contains(err.Error(),
			"a process may lock 64 KiB, its RLIMIT_MEMLOCK") {
			t.Errorf("got %v", err)
		}
	})
}

func TestRetriesAreBounded(t *testing.T) {
	vm.Need(t)
	if err := newEnd(t, vm.NICs[0], 1).qp.ToSend(0, Retry{Count: 7}); err == nil {
		t.Error("7 retries, which some devices take for endless, are not refused")
	}
}

func TestDeadlines(t *testing.T) {
	vm.Need(t)
	e := newEnd(t, vm.NICs[0], 1)
	_ = e.channel.SetDeadline(time.Now())
	if err := e.channel.Wait(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("waiting for a completion: %v", err)
	}
}
