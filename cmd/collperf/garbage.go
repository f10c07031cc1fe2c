package main

// litter makes garbage in a goroutine until stop is called, so that the collector is at work.
func litter() (stop func()) {
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for heap := make([][]byte, 1024); ; {
			for i := range heap {
				select {
				case <-quit:
					return
				default:
					heap[i] = make([]byte, 1<<10)
				}
			}
		}
	}()
	return func() { close(quit); <-gone }
}
