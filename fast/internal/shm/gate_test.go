//go:build linux

package shm

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// TestGate: a rank steps in and out while another goroutine shuts the gate. One of the two finds that nobody is inside
// any more, and nobody is.
func TestGate(t *testing.T) {
	for _, marks := range []bool{marksCount(), false} {
		t.Run(fmt.Sprint(marks), func(t *testing.T) {
			for range 2000 {
				var g gate
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
						if in = g.stepIn(); in {
							inside.Add(1)
							inside.Add(-1)
						}
						if g.stepOut() {
							free()
						}
					}
				}()
				<-began
				if !g.enter() || !g.shut() || g.enter() || g.shut() {
					t.Fatal("the gate is shut once, and then nobody enters")
				}
				if g.leave() {
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

// TestGateOfOneGoroutine: who shuts the gate while the rank is inside does not free what it uses.
func TestGateOfOneGoroutine(t *testing.T) {
	g := gate{marks: marksCount()}
	if !g.stepIn() || !g.enter() || !g.shut() || g.leave() {
		t.Error("it is freed though the rank is inside")
	}
	if !g.stepOut() || g.stepIn() || g.stepOut() {
		t.Error("it is freed once, by the rank")
	}
}
