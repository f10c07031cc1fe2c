package fast

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/rdma/vm"
)

// TestLinkDown cuts the wire in every operation, in which all ranks but one wait: they have an error, and who has found
// it says of which device, and what; the one that comes later has it too. How soon, the emulated machine cannot say: it
// is shown. Where packets are on their way, the rxe of Linux 6.1 may lock up the whole machine.
func TestLinkDown(t *testing.T) {
	vm.Need(t)
	var last time.Duration
	for _, op := range operations {
		t.Run(op.name, func(t *testing.T) {
			all := rdmaWorld.comms(t, 4)
			defer closeAll(t, all)
			down := make(chan struct{})
			repeat := func(calls int, late func(c *Comm) bool) []error {
				return onAll(all, func(c *Comm) (err error) {
					if late(c) {
						<-down
					}
					for seed := 0; seed < calls && err == nil; seed++ {
						err = op.run(t.Context(), c, []int{1, 1000, 70_000}[seed%3], seed)
					}
					return err
				})
			}
			checkErrors(t, repeat(12, func(*Comm) bool { return false })) // all have the links that they need
			ended := make(chan []error)
			go func() { ended <- repeat(1<<30, func(c *Comm) bool { return c.Rank() == 3 }) }()
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
