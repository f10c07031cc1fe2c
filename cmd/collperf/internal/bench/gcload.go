package bench

import "time"

// loadCollector allocates a gigabyte per second in a goroutine until stop is called. The garbage collector then runs
// hundreds of times a second. The goroutine pauses: a rank may have only one core, and a goroutine that never pauses
// would take half of it.
func loadCollector() (stop func()) {
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for heap := make([][]byte, 1024); ; {
			for i := range heap {
				heap[i] = make([]byte, 1<<10)
			}
			select {
			case <-quit:
				return
			case <-tick.C:
			}
		}
	}()
	return func() { close(quit); <-gone }
}
