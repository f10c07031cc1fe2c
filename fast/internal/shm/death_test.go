//go:build linux

package shm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/exchangetest"
	"github.com/collgen/collgen/fast/internal/wire"
)

// A rank that is told of a death knows of it at once. The tests leave a busy machine some time.
const noise = 400 * time.Millisecond

func init() {
	scenarios["plan"] = runPlan
	scenarios["forever"] = reduceForever
	scenarios["idle"] = reduceOnceAndWait
	scenarios["stopped"] = reduceUntil
}

// clock returns a time that all processes of the machine agree on.
func clock() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return time.Duration(t.Nano())
}

// swap exchanges n bytes with all other ranks.
func swap(ctx context.Context, e *Endpoint, buf []byte) error {
	var sends []wire.Send
	var recvs []wire.Recv
	for peer := range e.mem.size {
		if peer != e.rank {
			sends = append(sends, wire.Send{Peer: peer, Data: buf})
			recvs = append(recvs, wire.Recv{Peer: peer, Into: make([]byte, len(buf))})
		}
	}
	return e.Exchange(ctx, sends, recvs)
}

// report prints the time and the error.
func report(err error) error {
	fmt.Printf("%d %v\n", clock(), err)
	return err
}

// reduceForever is collectives without a pause.
func reduceForever(ctx context.Context, e *Endpoint, args []string) error {
	var bytes int
	if _, err := fmt.Sscan(args[0], &bytes); err != nil {
		return err
	}
	buf := make([]byte, bytes)
	e.peeking.always = len(args) > 1
	for seq := uint64(1); ; seq++ {
		e.Begin(wire.NewMark(&wire.Call{Seq: seq}))
		if err := swap(ctx, e, buf); err != nil {
			return report(err)
		}
		if seq == 40 {
			fmt.Println("up")
		}
	}
}

// reduceOnceAndWait runs a rank that computes while another dies: half of the ranks wait for a message already.
func reduceOnceAndWait(ctx context.Context, e *Endpoint, _ []string) error {
	if err := swap(ctx, e, make([]byte, 8)); err != nil {
		return report(err)
	}
	fmt.Println("up")
	for e.rank%2 == 1 && e.reason() == nil {
		time.Sleep(time.Millisecond)
	}
	return report(recv(e, (e.rank+1)%e.mem.size))
}

// reduceUntil is collectives with a deadline.
func reduceUntil(ctx context.Context, e *Endpoint, _ []string) error {
	for seq := uint64(1); ; seq++ {
		ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		defer cancel()
		e.Begin(wire.NewMark(&wire.Call{Seq: seq}))
		if err := swap(ctx, e, make([]byte, 100)); err != nil {
			return report(err)
		}
		if seq == 3 {
			fmt.Println("up")
		}
		time.Sleep(time.Millisecond)
	}
}

// TestKill kills ranks of several sizes, in the middle of messages of several lengths and between them, and tells the
// others.
func TestKill(t *testing.T) {
	var worst time.Duration
	for _, scenario := range []string{"forever 8", "forever 1000", "forever 3000000", "forever 3000000 peeking", "idle"} {
		for size := 2; size <= 4; size++ {
			for victim := range size {
				if (testing.Short() || size != 3) && victim != size/2 {
					continue
				}
				worst = max(worst, kill(t, scenario, size, victim))
			}
		}
	}
	t.Logf("the slowest rank failed %v after it was told", worst)
	if worst > noise {
		t.Errorf("that is more than %v", noise)
	}
}

// kill kills victim and gives the time until the last of the others knew.
func kill(t *testing.T, scenario string, size, victim int) (latest time.Duration) {
	t.Helper()
	memory, ranks := startRanks(t, scenario, 0, size)
	_ = unix.Close(memory)
	for _, p := range ranks {
		if l := p.line(t); l != "up" {
			t.Fatal(l)
		}
	}
	time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
	if err := ranks[victim].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = ranks[victim].Wait()
	at := clock()
	for rank, p := range ranks {
		if rank != victim {
			fmt.Fprintln(p.input, victim)
		}
	}
	for rank, p := range ranks {
		if rank == victim {
			continue
		}
		at2, text, _ := strings.Cut(p.line(t), " ")
		// Who reads in the process of the dead rank sees its death before it is told, and gives up itself.
		passedOn := strings.HasSuffix(scenario, "peeking") && strings.HasSuffix(text, wire.ErrAborted.Error())
		if want := fmt.Sprintf("rank %d: %v", victim, wire.ErrDied); !strings.HasPrefix(text, want) && !passedOn {
			t.Errorf("%s, %d ranks, rank %d: %q, want %q", scenario, size, rank, text, want)
		}
		known, err := time.ParseDuration(at2 + "ns")
		if err != nil {
			t.Fatal(err)
		}
		latest = max(latest, known-at)
	}
	return latest
}

// TestStop stops a rank: the others' contexts end.
func TestStop(t *testing.T) {
	memory, ranks := startRanks(t, "stopped", 0, 3)
	_ = unix.Close(memory)
	for _, p := range ranks {
		if l := p.line(t); l != "up" {
			t.Fatal(l)
		}
	}
	if err := ranks[2].Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, p := range ranks[:2] {
		_, text, _ := strings.Cut(p.line(t), " ")
		said = append(said, text)
	}
	for rank, text := range said { // one of them may be a step further than the other
		late, further := "waiting for ranks [2]: ", fmt.Sprintf("waiting for ranks [%d 2]: ", 1-rank)
		if cause := context.DeadlineExceeded.Error(); text != late+cause && text != further+cause {
			t.Errorf("rank %d: %s", rank, text)
		}
	}
}

// TestProcesses is messages of all lengths in both directions among real processes.
func TestProcesses(t *testing.T) {
	for size := 2; size <= 5; size++ {
		memory, ranks := startRanks(t, "plan", 0, size)
		_ = unix.Close(memory)
		for rank, p := range ranks {
			if l := p.line(t); l != "done" {
				t.Errorf("rank %d of %d: %s", rank, size, l)
			}
			if err := p.Wait(); err != nil {
				t.Errorf("rank %d of %d: %v", rank, size, err)
			}
		}
	}
}

func runPlan(ctx context.Context, e *Endpoint, _ []string) error {
	var p exchangetest.Plan
	size := e.mem.size
	_, _, slot := fullSlots(size)
	for _, l := range lengths(size) {
		if l > 4*slot && size > 2 { // enough is enough
			continue
		}
		var step []exchangetest.Message
		for from := range size {
			for to := range size {
				m := exchangetest.Message{From: from, To: to, Length: l, Kernel: (from+to)%2 == 0}
				if !m.Kernel {
					m.Shift = from
				}
				if from != to {
					step = append(step, m)
				}
			}
		}
		p = append(p, step)
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if err := p.CarryOut(ctx, e, e.rank); err != nil {
		return err
	}
	fmt.Println("done")
	return e.Close()
}

// TestMain's processes leave no file behind, so neither does a killed one: their memory has no name.
func TestMemoryHasNoName(t *testing.T) {
	before, err := os.ReadDir("/dev/shm")
	if err != nil {
		t.Fatal(err)
	}
	all := group(t, 2)
	defer closeGroup(all)
	after, err := os.ReadDir("/dev/shm")
	if err != nil || len(after) != len(before) {
		t.Error(errors.New("there is a file in /dev/shm"), err)
	}
}
