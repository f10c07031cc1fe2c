package mesh

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// TestOrder: messages from one process come in order, large and small ones, to a handler that is there from the
// beginning or not; and before the news that their sender is down.
func TestOrder(t *testing.T) {
	for name, way := range ways(t) {
		t.Run(name, func(t *testing.T) {
			job := newJob(t, 2, way)
			const count = 100
			got := make(chan string, count+1)
			hear := func(n wire.Note) { got <- fmt.Sprint(n.Topic.Seq, len(n.Body)) }
			send := func(from, to int) {
				for i := from; i < to; i++ {
					job[0].Send(1, topic(i), make([]byte, i*wire.MaxNote/count))
				}
			}
			job[1].Watch(func(process int, err error) { got <- fmt.Sprint(process, err) })
			send(0, count/2)
			job[1].Handle(7, 3, hear)
			send(count/2, count)
			job[0].Close()
			for i := range count {
				if x, want := <-got, fmt.Sprint(i, i*wire.MaxNote/count); x != want {
					t.Fatalf("%s instead of %s", x, want)
				}
			}
			if x, want := <-got, fmt.Sprint(0, wire.ErrClosed); x != want {
				t.Errorf("%s instead of %s", x, want)
			}
		})
	}
}

// TestBodies: messages arrive as they were sent, although their senders change the memory at once, and receivers give
// up the memory of some. Those that a receiver keeps stay as they are.
func TestBodies(t *testing.T) {
	for name, way := range ways(t) {
		t.Run(name, func(t *testing.T) {
			job := newJob(t, 2, way)
			const count = 200
			body := make([]byte, wire.MaxNote)
			fill := func(b []byte, i int) []byte {
				for j := range b {
					b[j] = byte(i + j/255)
				}
				return b
			}
			length := func(i int) int { return wire.MaxNote - i%3*wire.MaxNote/5 }
			var keeps []wire.Note
			all := make(chan struct{})
			job[1].Handle(7, 3, func(n wire.Note) {
				i := int(n.Topic.Seq)
				if !bytes.Equal(n.Body, fill(make([]byte, length(i)), i)) {
					t.Errorf("message %d is not what was sent", i)
				}
				if i%4 == 0 {
					keeps = append(keeps, n)
				} else {
					wire.Recycle(n.Body)
				}
				if i == count-1 {
					close(all)
				}
			})
			for i := range count {
				for job[0].peer(1).waiting() > maxQueued/2 {
					time.Sleep(10 * time.Microsecond)
				}
				job[0].Send(1, topic(i), fill(body[:length(i)], i))
			}
			<-all
			for _, n := range keeps {
				if i := int(n.Topic.Seq); !bytes.Equal(n.Body, fill(make([]byte, length(i)), i)) {
					t.Errorf("message %d has changed", i)
				}
			}
		})
	}
}

// TestFiles: files arrive with their messages, on one host; from another one come messages alone. The sender's stay
// open.
func TestFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files are passed on Linux alone")
	}
	for name, way := range ways(t) {
		t.Run(name, func(t *testing.T) {
			job := newJob(t, 2, way)
			const count = 50 // all of them may wait in the mailbox
			for i := range count {
				files := make([]int, i%9)
				for j := range files {
					r, w, err := os.Pipe()
					if err != nil {
						t.Fatal(err)
					}
					fmt.Fprint(w, i, j)
					w.Close()
					defer r.Close()
					files[j] = int(r.Fd())
				}
				job[0].Send(1, topic(i), bytes.Repeat([]byte{byte(i)}, i*1000), files...)
				job[0].Send(1, topic(i), nil)
			}
			for i := range count {
				n, err := job[1].ReceiveFiles(soon(t), topic(i))
				if want := i % 9; err != nil || len(n.Body) != i*1000 || (name == "local" && len(n.Files) != want) {
					t.Fatalf("message %d: %d bytes, %d files, %v", i, len(n.Body), len(n.Files), err)
				}
				for j, fd := range n.Files {
					f := os.NewFile(uintptr(fd), "")
					b := make([]byte, 100)
					k, _ := f.Read(b)
					if f.Close(); string(b[:k]) != fmt.Sprint(i, j) {
						t.Errorf("file %d of message %d: %q", j, i, b[:k])
					}
				}
				if n, err := job[1].Receive(soon(t), topic(i)); err != nil || len(n.Files)+len(n.Body) > 0 {
					t.Error(n, err)
				}
			}
			closeAll(job)
		})
	}
}

// TestFilesDropped: files of messages that nobody receives are closed with the mesh.
func TestFilesDropped(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files are passed on Linux alone")
	}
	before := openFiles(t)
	job := newJob(t, 2, nil)
	for i := range 100 {
		job[0].Send(1, topic(i), nil, 0, 1, 2)
	}
	job[1].Forget(7)
	job[0].Send(1, topic(0), nil, 0, 1, 2)
	closeAll(job)
	eventually(t, func() bool { return openFiles(t) <= before })
}

// openFiles returns how many files this process has open.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// TestTooLarge: what cannot be sent is not, and does no harm.
func TestTooLarge(t *testing.T) {
	job := newJob(t, 2, nil)
	job[0].Send(1, topic(0), make([]byte, wire.MaxNote+1))
	job[0].Send(1, topic(0), nil, make([]int, maxFiles+1)...)
	job[0].Send(5, topic(0), nil)
	job[0].Send(1, topic(0), []byte("without its file"), -1)
	if n, err := job[1].ReceiveFiles(soon(t), topic(0)); err != nil || string(n.Body) != "without its file" ||
		len(n.Files) > 0 {
		t.Error(n, err)
	}
}

// waiting returns how many bytes wait to be written.
func (p *peer) waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queued
}

// TestFlood: a process whose messages nobody takes is given up before it uses up all memory.
func TestFlood(t *testing.T) {
	job := newJob(t, 3, nil)
	heard := watch(job[1])
	for i := 0; job[0].Down(1) == nil && i < 10_000; i++ {
		job[0].Send(1, topic(0), make([]byte, wire.MaxNote))
		// or it is given up for reading slowly
		for p := job[0].peer(1); p != nil && p.waiting() > 0 && job[0].Down(1) == nil; {
			time.Sleep(10 * time.Microsecond)
		}
	}
	if x := heard.next(t); x != (fallen{0, wire.ErrDied}) {
		t.Error(x)
	}
	if err := job[2].Down(0); err != nil {
		t.Error(err)
	}
}
