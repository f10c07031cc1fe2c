//go:build linux && cgo && !netgo

package device_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/rdma/device"
	"github.com/collgen/collgen/fast/internal/rdma/vm"
	"github.com/collgen/collgen/fast/internal/verbs"
	"github.com/collgen/collgen/fast/internal/wire"
)

// long is longer than anything takes here.
const long = 30 * time.Second

func (m *member) send(to int, data []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	return m.Exchange(ctx, []wire.Send{{Peer: to, Data: data}}, nil)
}

func (m *member) receive(from int, into []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	return m.Exchange(ctx, nil, []wire.Recv{{Peer: from, Into: into}})
}

// pass has n bytes go from rank 0 to rank 1, which checks them.
func pass(t *testing.T, all []*member, n int, known bool) {
	t.Helper()
	data, into := make([]byte, n), make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(data)
	if known {
		all[0].Know(data)
		all[1].Know(into)
	}
	done := make(chan error)
	go func() { done <- all[0].send(1, data) }()
	if err := all[1].receive(0, into); err != nil {
		t.Fatalf("%d bytes: %v", n, err)
	}
	if err := <-done; err != nil {
		t.Fatalf("%d bytes: %v", n, err)
	}
	if !bytes.Equal(data, into) {
		t.Errorf("%d bytes: they are others", n)
	}
}

// TestLong sends more than a message of the device can have, through slots, and out of registered memory into
// registered memory. The rxe of Linux 6.1 carries longer ones than it says, so what it says is compared.
func TestLong(t *testing.T) {
	for _, known := range []bool{false, true} {
		all := members(t, 2)
		if got := all[0].domain.MaxMessage(); got != 8<<20 {
			t.Errorf("messages may have %d bytes, want 8 MiB", got)
		}
		pass(t, all, 20<<20+1, known)
	}
}

func TestMTU(t *testing.T) {
	vm.Need(t)
	for _, bytes := range []int{1024, 4096} {
		vm.MTU(t, bytes)
		pass(t, members(t, 2), 1<<20, false)
	}
}

func TestFaults(t *testing.T) {
	vm.Need(t)
	for _, faults := range []string{"loss 1%", "delay 2ms reorder 2%", "duplicate 2%"} { // of more, rxe can give up
		t.Run(faults, func(t *testing.T) {
			vm.Netem(t, strings.Fields(faults)...)
			for _, known := range []bool{false, true} {
				pass(t, members(t, 2), 300_001, known)
			}
		})
	}
}

// waits are what a rank does that waits for rank 0.
var waits = map[string]func(m *member) error{
	"receives": func(m *member) error { return m.receive(0, make([]byte, 1)) },
	"sends":    func(m *member) error { return m.send(0, make([]byte, 4<<20)) },
}

// TestLinkDown: both ends of a wire that is cut say that their port is down.
func TestLinkDown(t *testing.T) {
	vm.Need(t)
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			all := members(t, 2)
			pass(t, all, 1, false)
			ended := make(chan error)
			go func() { ended <- wait(all[1]) }()
			// as a rule it waits by now: rxe can lock a processor up whose link goes down under traffic
			time.Sleep(300 * time.Millisecond)
			vm.NICs[0].Down(t)
			start := time.Now()
			if err := <-ended; err == nil || !strings.Contains(err.Error(), "rxe1, port 1: the port is down") {
				t.Errorf("got %v", err)
			}
			t.Logf("after %v", time.Since(start))
		})
	}
}

// TestGone: the memory and queue pairs of rank 0 go, as with its process.
func TestGone(t *testing.T) { gone(t, 1) }

// gone has what rank 0 has on the first of its rails go. Rank 1 learns that from its own device, whatever it waits for.
func gone(t *testing.T, rails int) {
	vm.Need(t)
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			all := railed(t, 2, rails)
			pass(t, all, 1, false)
			if err := all[0].domain.Close(); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			err := wait(all[1])
			var peer *wire.PeerError
			if !errors.As(err, &peer) || peer.Rank != 0 || !errors.Is(err, wire.ErrDied) || !strings.Contains(err.Error(),
				"rxe1: the peer does not answer") {
				t.Errorf("got %v", err)
			}
			t.Logf("after %v: %v", time.Since(start), err)
		})
	}
}

// TestMemlock has less memory than a link needs.
func TestMemlock(t *testing.T) {
	vm.Memlock(t, 300, func(t *testing.T) {
		_, refused, err := device.Find(t.Context(), device.Options{})
		if !errors.Is(err, syscall.ENOMEM) || !strings.Contains(err.Error(),
			"a process may lock 300 KiB, its RLIMIT_MEMLOCK") || len(refused) != 2 {
			t.Errorf("before it is used: got %v", err)
		}
		all := members(t, 2)
		done := make(chan error)
		go func() { done <- all[0].send(1, []byte{1}) }()
		err = errors.Join(all[1].receive(0, make([]byte, 1)), <-done)
		if err == nil || !strings.Contains(err.Error(), "RLIMIT_MEMLOCK") {
			t.Errorf("got %v", err)
		}
	})
}

func TestRefused(t *testing.T) {
	vm.Need(t)
	for words, o := range map[string]device.Options{
		"none is none":        {Device: "none"},
		"ask for its port":    {Device: "rxe0", Port: 2},
		"no GID has the type": {GIDType: "RoCE v3"},
		"no packet of RDMA":   {MTU: 1000},
	} {
		usable, _, err := device.Find(t.Context(), o)
		if !errors.Is(err, verbs.ErrUnavailable) || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: got %v, %v", o, err, usable)
		}
	}
	d, err := device.Open(t.Context(), device.Options{Device: "rxe0", Port: 1, Completions: 1 << 30})
	if err == nil || !strings.Contains(err.Error(), "one of its completion queues holds") {
		t.Errorf("too many completions: got %v, %v", err, d)
	}
}

// TestPeerIsChecked connects with what no peer has.
func TestPeerIsChecked(t *testing.T) {
	vm.Need(t)
	d, err := device.Open(t.Context(), device.Options{Device: "rxe0", Port: 1, Completions: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	p, err := d.Pair(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []rdma.Address{{MTU: 1000}, {MTU: 8192}, {MTU: 1024, QP: 1 << 31}} {
		if err := p.Connect(a); err == nil {
			t.Errorf("connected with %+v", a)
		}
	}
}
