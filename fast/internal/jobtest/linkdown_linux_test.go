package jobtest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/operation"
	"github.com/collgen/collgen/fast/internal/rdma/vm"
)

// TestLinkDown cuts the wire in every operation, in which all ranks but one wait: they have an error, and who has found
// it says of which device, and what; the one that comes later has it too. How soon, the emulated machine cannot say: it
// is shown. Where packets are on their way, the rxe of Linux 6.1 may lock up the whole machine.
func TestLinkDown(t *testing.T) {
	vm.Need(t)
	var last time.Duration
	for _, op := range operation.All {
		t.Run(op.Name, func(t *testing.T) {
			all := overDevices(t, 4)
			defer fasttest.CloseAll(t, all)
			down := make(chan struct{})
			repeat := func(calls int, late func(c *fast.Comm) bool) []error {
				return fasttest.OnAll(all, func(c *fast.Comm) (err error) {
					if late(c) {
						<-down
					}
					for seed := 0; seed < calls && err == nil; seed++ {
						err = op.Run(t.Context(), c, []int{1, 1000, 70_000}[seed%3], seed)
					}
					return err
				})
			}
			fasttest.CheckErrors(t, repeat(12, func(*fast.Comm) bool { return false })) // all have the links that they need
			ended := make(chan []error)
			go func() { ended <- repeat(1<<30, func(c *fast.Comm) bool { return c.Rank() == 3 }) }()
			time.Sleep(100 * time.Millisecond)
			start := time.Now()
			vm.NICs[0].Down(t)
			close(down)
			errs := <-ended
			last = max(last, time.Since(start))
			if text := errors.Join(errs...).Error(); !strings.Contains(text, "RDMA device rxe") {
				t.Errorf("nobody says what has happened to a device: %s", text)
			}
		})
	}
	t.Logf("until the last rank knew that its link is down: at most %v", last)
}

// TestLoss has the wire between both devices lose packets, and be slow: operations leave what they leave otherwise,
// short or long, through slots, and between registered memory over one rail and both. There few are lost, because the
// rxe of Linux 6.1 gives up when it has to repeat more often than it is told to between two answers, which it asks for
// every 64 packets.
func TestLoss(t *testing.T) {
	vm.Need(t)
	all := overDevices(t, 4)
	defer fasttest.CloseAll(t, all)
	const long = 300 << 10 / 8
	losing(t, all, "2%", func(c *fast.Comm) error {
		for _, op := range operation.All {
			for seed, count := range []int{1, 1000, long, 1, 1000, long} {
				if err := op.Run(t.Context(), c, count, seed); err != nil {
					return fmt.Errorf("%s of %d elements: %w", op.Name, count, err)
				}
			}
		}
		return nil
	})
	losing(t, all, "0.2%", func(c *fast.Comm) error {
		b, err := operation.NewBuffers(t.Context(), c, long)
		if err == nil {
			err = b.Operate(t.Context(), c, 1)
		}
		if err == nil {
			err = b.Free(c)
		}
		return err
	})
}

// losing has all ranks call f while the wire loses so many of the packets, and looks whether it has.
func losing(t *testing.T, all []*fast.Comm, packets string, f func(c *fast.Comm) error) {
	t.Run(packets, func(t *testing.T) {
		vm.Netem(t, "loss", packets, "delay", "1ms")
		fasttest.CheckErrors(t, fasttest.OnAll(all, f))
		lost := vm.Lost(t)
		if lost == 0 {
			t.Error("the wire has lost nothing")
		}
		t.Logf("%d packets were lost", lost)
	})
}

// overDevices returns ranks that talk over the devices for tests.
func overDevices(t testing.TB, size int) []*fast.Comm {
	return meet(t, size, func(rank int) []fast.InitOption {
		return []fast.InitOption{fast.WithTransport("rdma"), fast.WithRDMADevice(fasttest.DeviceOf(rank))}
	})
}
