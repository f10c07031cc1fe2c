package main

import "time"

// litter makes a gigabyte of garbage per second in a goroutine until stop is called, so that the collector is at work
// hundreds of times a second. It pauses, because a rank may have one core alone, of which a goroutine without a pause
// would take half.
func litter() (stop func()) {
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
