//go:build linux && cgo && !netgo

package verbs

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/verbs/fake"
)

// TestShared has contexts of two devices come and go in any order: each device is open once while it has any, and then
// closed with all of its files.
func TestShared(t *testing.T) {
	withLibrary(t, func(folder string) {
		fake.Add(t, folder, "fake1")
		names := []string{"fake0", "fake1"}
		_ = openFake(t, "fake0", nil).Close() // the runtime's own files come with the first wait
		before := fake.Files(t)
		var open []*Context
		for step := range 400 {
			if len(open) == 0 || step < 300 && rand.IntN(2) == 0 {
				open = append(open, openFake(t, names[rand.IntN(2)], nil))
			} else {
				i := rand.IntN(len(open))
				if err := open[i].Close(); err != nil {
					t.Fatal(err)
				}
				open = append(open[:i], open[i+1:]...)
			}
			handles := map[string]bool{}
			for _, c := range open {
				handles[c.Device] = true
				if c.handle != named(c.Device).handle {
					t.Fatalf("a context of %s is not that of the others", c.Device)
				}
			}
			if got := fake.Files(t) - before; got != 3*len(handles) {
				t.Fatalf("step %d: %d contexts of %d devices have %d files", step, len(open), len(handles), got)
			}
		}
	})
}

// TestSharedAtOnce opens and closes in many goroutines.
func TestSharedAtOnce(t *testing.T) {
	withLibrary(t, func(string) {
		_ = openFake(t, "fake0", nil).Close()
		before := fake.Files(t)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 100 {
					c, err := Open("fake0", func(Event, error) {})
					if err == nil {
						_, err = c.AllocPD()
						err = errors.Join(err, c.Close())
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if got := fake.Files(t); got != before {
			t.Errorf("%d files are left", got-before)
		}
	})
}

// TestTold: what happens to a device all of its contexts are told, and none that is closed or of another device.
func TestTold(t *testing.T) {
	withLibrary(t, func(folder string) {
		device, other := fake.Add(t, folder, "fake1"), fake.Add(t, folder, "fake2")
		var told [4]chan Event
		var contexts [4]*Context
		for i, name := range []string{"fake1", "fake1", "fake1", "fake2"} {
			told[i] = make(chan Event, 10)
			contexts[i] = openFake(t, name, func(e Event, _ error) { told[i] <- e })
		}
		if err := contexts[0].Close(); err != nil {
			t.Fatal(err)
		}
		device.Tell(byte(EventPortError), 1)
		for _, i := range []int{1, 2} {
			if got, want := <-told[i], (Event{Device: "fake1", Type: EventPortError, Port: 1}); got != want {
				t.Errorf("context %d is told %v", i, got)
			}
		}
		other.Tell(byte(EventPortActive), 1)
		if got := <-told[3]; got.Device != "fake2" || got.Type != EventPortActive {
			t.Errorf("the other device: %v", got)
		}
		if n := len(told[0]) + len(told[1]) + len(told[2]); n != 0 {
			t.Errorf("%d of the contexts are told what does not concern them", n)
		}
	})
}

// TestLost: a device that has failed is opened anew by the next context, while others still have the old one.
func TestLost(t *testing.T) {
	withLibrary(t, func(folder string) {
		device := fake.Add(t, folder, "fake1")
		told := make(chan Event, 1)
		old := openFake(t, "fake1", func(e Event, _ error) { told <- e })
		device.Tell(byte(EventDeviceFatal), 0)
		if e := <-told; !e.Fatal() {
			t.Errorf("got %v", e)
		}
		for openFake(t, "fake1", nil).handle == old.handle { // it is told before it is forgotten
			time.Sleep(time.Millisecond)
		}
		if err := old.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestUnopened: a device that cannot be opened is tried again by the next context, and leaves nothing open.
func TestUnopened(t *testing.T) {
	withLibrary(t, func(folder string) {
		device := fake.Add(t, folder, "fake1")
		_ = openFake(t, "fake1", nil).Close()
		before := fake.Files(t)
		device.Set("open", "13")
		for range 2 {
			if _, err := Open("fake1", nil); !errors.Is(err, syscall.EACCES) || !strings.Contains(err.Error(),
				"fake1: open it") {
				t.Errorf("got %v", err)
			}
		}
		if got := fake.Files(t); got != before {
			t.Errorf("%d files are left", got-before)
		}
		device.Set("open", "0")
		openFake(t, "fake1", nil)
	})
}
