package mailbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/collgen/collgen/fast/internal/wire"
)

// atOnce calls handlers in the goroutine that puts the message.
func atOnce(f func()) { f() }

func note(from int, comm uint64, kind uint8, seq uint32, text string) wire.Note {
	return wire.Note{Topic: wire.Topic{Comm: comm, Kind: kind, Seq: seq}, From: from, Body: []byte(text)}
}

func (b *Inbox) put(t *testing.T, notes ...wire.Note) {
	for _, n := range notes {
		b.Put(n, func() { t.Errorf("too much: %v", n) })
	}
}

// TestReceive: messages are received by topic, in the order in which they came, before or after somebody asks.
func TestReceive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(atOnce)
		b.put(t, note(1, 1, 1, 1, "a"), note(1, 1, 1, 2, "b"), note(2, 1, 1, 1, "c"))
		receive := func(seq uint32) string {
			n, err := b.Receive(t.Context(), wire.Topic{Comm: 1, Kind: 1, Seq: seq})
			return fmt.Sprint(n.From, string(n.Body), err)
		}
		later := make(chan string)
		go func() { later <- receive(3) }()
		synctest.Wait()
		got := []string{receive(2), receive(1), receive(1)}
		b.put(t, note(4, 1, 2, 3, "other kind"), note(3, 1, 1, 3, "d"))
		if got = append(got, <-later); !slices.Equal(got, []string{"1b<nil>", "1a<nil>", "2c<nil>", "3d<nil>"}) {
			t.Error(got)
		}
	})
}

// TestReceiveEnds: with its context, when the communicator is forgotten, and when the inbox is closed.
func TestReceiveEnds(t *testing.T) {
	cause := errors.New("enough")
	for name, test := range map[string]struct {
		end  func(b *Inbox, cancel context.CancelCauseFunc)
		want error
	}{
		"context": {func(_ *Inbox, cancel context.CancelCauseFunc) { cancel(cause) }, cause},
		"forget":  {func(b *Inbox, _ context.CancelCauseFunc) { b.Forget(7) }, wire.ErrClosed},
		"close":   {func(b *Inbox, _ context.CancelCauseFunc) { b.Close() }, wire.ErrClosed},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := New(atOnce)
			ctx, cancel := context.WithCancelCause(t.Context())
			got := make(chan error)
			for range 2 {
				go func() {
					_, err := b.Receive(ctx, wire.Topic{Comm: 7, Kind: 1})
					got <- err
				}()
			}
			synctest.Wait()
			test.end(b, cancel)
			for range 2 {
				if err := <-got; err != test.want {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// TestClaim: nobody gets what is or was another one's.
func TestClaim(t *testing.T) {
	b := New(atOnce)
	for i, want := range []string{"", "in use", "used before"} {
		if err := b.Claim(7); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("try %d: %v", i, err)
		}
		if i == 1 {
			b.Forget(7)
		}
	}
	if err := b.Claim(8); err != nil {
		t.Error("another one:", err)
	}
	if b.Close(); b.Claim(9) != wire.ErrClosed {
		t.Error("it is closed, and can be claimed")
	}
}

// TestHandle: a handler gets what waits and what comes, in order, also what it causes itself.
func TestHandle(t *testing.T) {
	b := New(atOnce)
	var got string
	b.put(t, note(0, 1, 1, 9, "a"), note(0, 1, 2, 1, "not this kind"), note(0, 1, 1, 1, "b"))
	b.Handle(1, 1, func(n wire.Note) {
		if got += string(n.Body); len(got) == 2 {
			b.put(t, note(0, 1, 1, 1, "d"))
			got += "c"
		}
	})
	b.put(t, note(0, 1, 1, 1, "e"))
	b.Forget(1)
	b.put(t, note(0, 1, 1, 1, "late"))
	if got != "abcde" || !b.Forgotten(1) || b.Forgotten(2) {
		t.Error(got, b.Forgotten(1), b.Forgotten(2))
	}
}

// TestOneAtATime has several goroutines put messages, and others fall, while one goroutine at a time calls the handler
// and the watcher, neither of which has a lock.
func TestOneAtATime(t *testing.T) {
	var running sync.WaitGroup
	b := New(running.Go)
	last, fell := make([]int, 4), 0
	b.Handle(1, 1, func(n wire.Note) {
		if last[n.From]++; int(n.Topic.Seq) != last[n.From] {
			t.Errorf("message %d of %d comes as number %d", n.Topic.Seq, n.From, last[n.From])
		}
	})
	b.Watch(func(process int, err error) {
		if fell++; last[process] != 1000 || err != wire.ErrDied {
			t.Errorf("process %d fell after %d messages: %v", process, last[process], err)
		}
	})
	var senders sync.WaitGroup
	for from := range last {
		senders.Go(func() {
			for i := range uint32(1000) {
				b.put(t, note(from, 1, 1, i+1, ""))
			}
			b.Fall(from, wire.ErrDied)
		})
	}
	senders.Wait()
	running.Wait()
	if fell != len(last) {
		t.Errorf("%d of %d fell", fell, len(last))
	}
}

// TestWatch: a watcher hears of earlier falls too, of each once, until it stops; stopping in its own call included.
func TestWatch(t *testing.T) {
	b := New(atOnce)
	var all, first []int
	b.Fall(3, wire.ErrDied)
	stopAll := b.Watch(func(process int, _ error) { all = append(all, process) })
	var stop func()
	stop = b.Watch(func(process int, _ error) {
		if first = append(first, process); stop != nil {
			stop()
		}
	})
	b.Fall(1, wire.ErrFrozen)
	b.Fall(2, wire.ErrDied)
	stopAll()
	b.Fall(4, wire.ErrDied)
	if !slices.Equal(all, []int{3, 1, 2}) || !slices.Equal(first, []int{3, 1}) || len(b.watchers) != 0 {
		t.Error(all, first, len(b.watchers))
	}
}

// TestExcess: what nobody takes is bounded for each sender, and what is dropped has its files closed.
func TestExcess(t *testing.T) {
	b := New(atOnce)
	big := string(make([]byte, wire.MaxNote))
	kept := 0
	for full := false; !full && kept < 1000; kept++ {
		b.Put(note(0, 1, 1, 1, big), func() { full = true })
	}
	if want := maxLoad / (wire.MaxNote + 256); kept != want+1 {
		t.Errorf("%d messages were kept, want %d", kept-1, want)
	}
	b.put(t, note(1, 1, 1, 1, "of another process"))
	r, n := noteWithFile(t)
	b.put(t, n)
	if b.Close(); !isClosed(r) {
		t.Error("the file is open")
	}
	if _, err := b.Receive(t.Context(), wire.Topic{Comm: 1, Kind: 1, Seq: 1}); err != wire.ErrClosed {
		t.Error(err)
	}
}

// TestFiles: only who asks for files gets them; those of other messages are closed.
func TestFiles(t *testing.T) {
	topic := wire.Topic{Comm: 1, Kind: 1, Seq: 1}
	takes := map[string]func(*Inbox) wire.Note{
		"a handler": func(b *Inbox) (got wire.Note) {
			b.Handle(1, 1, func(n wire.Note) { got = n })
			return got
		},
		"receive": func(b *Inbox) wire.Note {
			n, _ := b.Receive(t.Context(), topic)
			return n
		},
		"receive files": func(b *Inbox) wire.Note {
			n, _ := b.ReceiveFiles(t.Context(), topic)
			return n
		},
	}
	for name, take := range takes {
		b := New(atOnce)
		r, n := noteWithFile(t)
		b.put(t, n)
		n = take(b)
		if wants := name == "receive files"; string(n.Body) != "with a file" || isClosed(r) == wants ||
			(len(n.Files) == 1) != wants {
			t.Errorf("%s: %v, the file is closed: %v", name, n, isClosed(r))
		}
		n.CloseFiles()
	}
	b := New(atOnce)
	b.Handle(1, 1, func(n wire.Note) {
		if len(n.Files) > 0 {
			t.Error("a handler gets a file")
		}
	})
	r, n := noteWithFile(t)
	if b.put(t, n); !isClosed(r) {
		t.Error("the file of a message for a handler is open")
	}
}

// noteWithFile returns a message with the end of a pipe, of which r is the other end.
func noteWithFile(t *testing.T) (r int, n wire.Note) {
	var p [2]int
	if err := syscall.Pipe(p[:]); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(p[0]) })
	n = note(1, 1, 1, 1, "with a file")
	n.Files = p[1:]
	return p[0], n
}

// isClosed reports whether the other end of the pipe that r reads from is closed.
func isClosed(r int) bool {
	_ = syscall.SetNonblock(r, true)
	n, err := syscall.Read(r, make([]byte, 1))
	return n == 0 && err == nil
}

// TestForgotten: the last ones are remembered.
func TestForgotten(t *testing.T) {
	var f forgotten
	for comm := range uint64(3 * maxForgotten) {
		f.add(comm)
		f.add(comm)
	}
	if len(f.set) != maxForgotten || f.has(2*maxForgotten-1) || !f.has(2*maxForgotten) || !f.has(3*maxForgotten-1) {
		t.Error(len(f.set))
	}
}

// TestTake: handlers are called before Take returns, in order, but only a few; another goroutine calls the rest.
func TestTake(t *testing.T) {
	var later []func()
	b := New(func(f func()) { later = append(later, f) })
	last := uint32(0)
	b.Handle(1, 1, func(n wire.Note) {
		if last++; n.Topic.Seq != last {
			t.Errorf("message %d is the %dth", n.Topic.Seq, last)
		}
		if last == 1 { // these come while the first is handled, so that the first one's Take has to go on
			for i := range uint32(few) {
				b.put(t, note(1, 1, 1, i+2, ""))
			}
		}
	})
	later[0]()
	b.Take(note(1, 1, 1, 1, ""), func() { t.Error("too much") })
	if last != few || len(later) != 2 {
		t.Fatalf("%d were handled, and %d goroutines started", last, len(later))
	}
	if later[1](); last != few+1 {
		t.Errorf("%d were handled", last)
	}
}

// TestTakeWaits: those who take messages wait while a handler is busy and many messages wait for it.
func TestTakeWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running sync.WaitGroup
		b := New(running.Go)
		busy, taken, handled := make(chan struct{}), 0, make([]uint32, 2)
		b.Handle(1, 1, func(n wire.Note) {
			<-busy
			if handled[n.From]++; n.Topic.Seq != handled[n.From] {
				t.Errorf("message %d of %d is the %dth", n.Topic.Seq, n.From, handled[n.From])
			}
		})
		b.Put(note(0, 1, 1, 1, ""), nil) // a goroutine is busy with it, and so with all that follow
		var readers sync.WaitGroup
		var mu sync.Mutex
		for from := range 2 {
			readers.Go(func() {
				for i := range uint32(10 * long) {
					b.Take(note(from, 1, 1, i+1+uint32(1-from), ""), func() { t.Error("too much") })
					mu.Lock()
					taken++
					mu.Unlock()
				}
			})
		}
		synctest.Wait()
		if taken >= 2*long {
			t.Errorf("%d were taken while none was handled", taken)
		}
		close(busy)
		readers.Wait()
		running.Wait()
		if handled[0] != 10*long+1 || handled[1] != 10*long {
			t.Errorf("%d were handled", handled)
		}
	})
}
