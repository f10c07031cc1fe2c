package mesh

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
)

// dormant reports whether p is dormant, and whether it has ever been started.
func dormant(p *peer) (asleep, started bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asleep, p.files.socket != nil
}

// TestDormant: a connection that another process has made is started by a message, on both sides, and not by a goodbye.
func TestDormant(t *testing.T) {
	job := newJob(t, 4, nil)
	one, two := job[1].peer(2), job[2].peer(1)
	leaves := job[1].peer(3)
	for _, p := range []*peer{one, two, leaves} {
		if asleep, _ := dormant(p); !asleep {
			t.Errorf("the connection to process %d is not dormant", p.process)
		}
	}
	job[1].Send(2, topic(1), []byte("hello"), 0)
	n, err := job[2].ReceiveFiles(soon(t), topic(1))
	if err != nil || n.From != 1 || string(n.Body) != "hello" || len(n.Files) != 1 {
		t.Errorf("%+v, %v", n, err)
	}
	n.CloseFiles()
	for _, p := range []*peer{one, two} {
		if asleep, started := dormant(p); asleep || !started {
			t.Errorf("a message is passed over the connection to process %d, and it is dormant: %v, %v", p.process, asleep,
				started)
		}
	}
	heard := watch(job[1])
	_ = job[3].Close()
	if x := heard.next(t); x.process != 3 || x.err != wire.ErrClosed {
		t.Errorf("%+v", x)
	}
	if asleep, started := dormant(leaves); asleep || started {
		t.Errorf("after a goodbye the connection is dormant: %v; it was started: %v", asleep, started)
	}
}

// TestUnread: what has arrived and was not handled counts as unread, until this process closes the mesh.
func TestUnread(t *testing.T) {
	job := newJob(t, 3, nil)
	if job[0].unread() {
		t.Error("something is unread, and nothing was sent")
	}
	job[0].peer(1).handling.Store(true)
	if !job[0].unread() {
		t.Error("what is being handled is not unread")
	}
	_ = job[0].Close()
	if job[0].unread() {
		t.Error("something is unread after Close, which nobody will read")
	}
}

// TestDormantFenced: a process learns over a dormant connection that it was given up.
func TestDormantFenced(t *testing.T) {
	job := newJob(t, 4, nil)
	heard := watch(job[1])
	job[2].Fence(1, wire.ErrFrozen)
	if x := heard.next(t); x.process != 1 || x.err != wire.ErrFenced {
		t.Errorf("%+v", x)
	}
}

// TestDormantFull: what the system does not take at once, of a connection that ends while it is dormant, is written
// later.
func TestDormantFull(t *testing.T) {
	j, card := next(t)
	ends, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	defer closeFiles(ends[1:])
	tally, err := newTally(5)
	if err != nil {
		t.Fatal(err)
	}
	defer tally.close()
	files, err := copyFiles([]int{tally.file})
	if err != nil {
		t.Fatal(err)
	}
	n := meeting(0, [][]byte{card(func(*Card) {})}, append(files, ends[0])...)
	n.Body[8] = 1 // the tally comes with it
	if err := j.acceptIntroductions(n); err != nil {
		t.Fatal(err)
	}
	p := j.peer(3)
	p.mu.Lock()
	filled := 0
	for err = nil; err == nil; filled++ {
		_, err = send(p.files.fd, nil, []byte{0})
	}
	p.mu.Unlock()
	if !errors.Is(err, unix.EAGAIN) {
		t.Fatal(err)
	}
	j.sayGoodbye(closeReason{})
	var got []byte
	b := make([]byte, 1<<16)
	for len(got) < filled-1+len(plainBye) {
		n, _, err := receive(ends[1], b)
		if err == unix.EAGAIN {
			continue
		}
		if err != nil {
			t.Fatalf("after %d bytes: %v", len(got), err)
		}
		got = append(got, b[:n]...)
	}
	if last := string(got[len(got)-len(plainBye):]); last != string(plainBye) {
		t.Errorf("the last bytes are %q", last)
	}
}
