//go:build linux

package shm

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// TestGuard: a rank acquires and releases the guard while another goroutine closes it. One of the two finds that nobody
// is inside any more, and nobody is.
func TestGuard(t *testing.T) {
	for _, marks := range []bool{hasMembarrier(), false} {
		t.Run(fmt.Sprint(marks), func(t *testing.T) {
			for range 2000 {
				var g refGuard
				g.marks = marks
				var inside, freed atomic.Int32
				free := func() {
					freed.Add(1)
					if n := inside.Load(); n != 0 {
						t.Errorf("%d are inside when it is freed", n)
					}
				}
				began, done := make(chan bool), make(chan bool)
				go func() {
					defer close(done)
					close(began)
					for in := true; in; {
						if in = g.acquireOwn(); in {
							inside.Add(1)
							inside.Add(-1)
						}
						if g.releaseOwn() {
							free()
						}
					}
				}()
				<-began
				if !g.acquire() || !g.close() || g.acquire() || g.close() {
					t.Fatal("the guard is closed once, and cannot be acquired then")
				}
				if g.release() {
					free()
				}
				<-done
				if n := freed.Load(); n != 1 {
					t.Fatalf("freed %d times", n)
				}
			}
		})
	}
}

// TestGuardOfOneGoroutine: whoever closes the guard while the rank holds it does not free what the rank uses.
func TestGuardOfOneGoroutine(t *testing.T) {
	g := refGuard{marks: hasMembarrier()}
	if !g.acquireOwn() || !g.acquire() || !g.close() || g.release() {
		t.Error("it is freed though the rank is inside")
	}
	if !g.releaseOwn() || g.acquireOwn() || g.releaseOwn() {
		t.Error("it is freed once, by the rank")
	}
}
