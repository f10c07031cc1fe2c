package fast

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/shm"
	"github.com/collgen/collgen/fast/internal/tcp"
	"github.com/collgen/collgen/fast/internal/transport"
)

// TestClosedIsLetGo: nothing of a process keeps a communicator that was closed, or its transport, although its
// operations are recorded.
func TestClosedIsLetGo(t *testing.T) {
	for _, w := range worlds[1:] { // the others have none that others are made of
		t.Run(w.name, func(t *testing.T) {
			all := w.comms(t, 3)
			defer closeAll(t, all)
			var made, collected atomic.Int64
			for range 10 {
				more := again(t, all)
				for rank, err := range onAll(more, func(c *Comm) error {
					made.Add(2)
					runtime.AddCleanup(c, func(n int64) { collected.Add(n) }, 1)
					switch e := c.exec.Transport.(type) {
					case *tcp.Endpoint:
						runtime.AddCleanup(e, func(n int64) { collected.Add(n) }, 1)
					case *shm.Endpoint:
						runtime.AddCleanup(e, func(n int64) { collected.Add(n) }, 1)
					case *transport.Composite:
						runtime.AddCleanup(e, func(n int64) { collected.Add(n) }, 1)
					}
					return errors.Join(AllReduce(t.Context(), c, make([]int64, 100_000), Sum), c.Close())
				}) {
					if err != nil {
						t.Errorf("rank %d: %v", rank, err)
					}
				}
			}
			for tries := 0; collected.Load() < made.Load(); tries++ { // cleanups run some time after the collector
				if runtime.GC(); tries == 1000 {
					t.Fatalf("%d of %d are let go", collected.Load(), made.Load())
				}
				time.Sleep(time.Millisecond)
			}
			if kept := len(written(t, all[0]).Entries); kept < int(made.Load())/6 {
				t.Errorf("%d operations are recorded of %d: this test shows nothing", kept, made.Load()/6)
			}
		})
	}
}
