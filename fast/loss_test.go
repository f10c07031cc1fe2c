package fast

import (
	"fmt"
	"testing"

	"github.com/collgen/collgen/fast/internal/rdma/vm"
)

// TestLoss has the wire between both devices lose packets, and be slow: operations leave what they leave otherwise,
// short or long, through slots, and between registered memory over one rail and both. There few are lost, because the
// rxe of Linux 6.1 gives up when it has to repeat more often than it is told to between two answers, which it asks for
// every 64 packets.
func TestLoss(t *testing.T) {
	vm.Need(t)
	all := rdmaWorld.comms(t, 4)
	defer closeAll(t, all)
	const long = 300 << 10 / 8
	losing(t, all, "2%", func(c *Comm) error {
		for _, op := range operations {
			for seed, count := range []int{1, 1000, long, 1, 1000, long} {
				if err := op.run(t.Context(), c, count, seed); err != nil {
					return fmt.Errorf("%s of %d elements: %w", op.name, count, err)
				}
			}
		}
		return nil
	})
	losing(t, all, "0.2%", func(c *Comm) error {
		b, err := newAllocated(t.Context(), c, long)
		if err == nil {
			err = b.operate(t.Context(), c, 1)
		}
		if err == nil {
			err = b.free(c)
		}
		return err
	})
}

// losing has all ranks call f while the wire loses so many of the packets, and looks whether it has.
func losing(t *testing.T, all []*Comm, packets string, f func(c *Comm) error) {
	t.Run(packets, func(t *testing.T) {
		vm.Netem(t, "loss", packets, "delay", "1ms")
		checkErrors(t, onAll(all, f))
		lost := vm.Lost(t)
		if lost == 0 {
			t.Error("the wire has lost nothing")
		}
		t.Logf("%d packets were lost", lost)
	})
}
