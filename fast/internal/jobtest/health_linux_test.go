package jobtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/health"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

func init() { fasttest.Roles["late"] = runLate }

// runLate is a rank of five. Rank 1 computes, rank 2 hangs in a call, rank 3 says its PID and waits to be stopped, and
// rank 4 waits in the barrier. Rank 0 says what it gets to know.
func runLate(ctx context.Context, args []string) error {
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := fast.Barrier(ctx, c, fast.WithLabel("begin")); err != nil {
		return err
	}
	fmt.Println("up", os.Getpid())
	switch c.Rank() {
	case 1, 3:
		select {}
	case 2:
		return fast.Recv(ctx, c, make([]int, 1), 1, fast.WithLabel("grads"))
	case 4:
		return fast.MonitoredBarrier(ctx, c)
	}
	for { // until ranks 2 and 4 are where they wait
		r, err := c.Health(ctx)
		if err != nil {
			return err
		}
		if waits := r.Ranks[2].Running; len(waits) > 0 && len(waits[0].Waiting) > 0 && len(r.Ranks[4].Running) > 0 {
			break
		}
	}
	fmt.Println("they wait")
	stdin, err := os.Open(args[0]) // until the test says that a rank is stopped
	if err != nil {
		return err
	}
	if _, err := bufio.NewReader(stdin).ReadString('\n'); err != nil {
		return err
	}
	short := func() context.Context { // enough for the others to answer on a machine that is starved
		soon, cancel := context.WithTimeout(ctx, 2*time.Second)
		context.AfterFunc(soon, cancel)
		return soon
	}
	r, err := c.Health(short())
	for err == nil && !isStopSeen(r) && c.State() == fast.Healthy { // the signal or an answer takes its time
		r, err = c.Health(short())
	}
	if err != nil {
		return err
	}
	fmt.Print(strings.ReplaceAll(r.String(), "\n", "|"), "\n")
	err = fast.MonitoredBarrier(short(), c)
	var late *health.LateError
	if !errors.As(err, &late) || c.State() != fast.Healthy {
		return fmt.Errorf("state %v: %w", c.State(), err)
	}
	fmt.Println(err)
	if r, err = c.Health(ctx); err != nil { // ends, because the rank that is stopped or dead goes down
		return err
	}
	fmt.Println(r.Ranks[3].Answered, r.Ranks[3].Process)
	return nil
}

// isStopSeen reports whether rank 3 does not answer and is seen to be stopped, and all others have answered.
func isStopSeen(r *health.Report) bool {
	for _, x := range r.Ranks {
		if x.Answered == (x.Rank == 3) {
			return false
		}
	}
	return strings.Contains(r.Ranks[3].Process, "stopped")
}

// TestLateProcesses: a rank learns of the others which one computes, which one hangs in a call, and which one is
// stopped, over each transport.
func TestLateProcesses(t *testing.T) {
	for _, over := range []string{"shm", "tcp"} {
		t.Run(over, func(t *testing.T) {
			t.Parallel() // it waits until a rank is given up
			fifo := t.TempDir() + "/go"
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			j := fasttest.NewJob(t, 5, "late "+fifo)
			j.With = []string{"COLL_TRANSPORT=" + over, "COLL_HEARTBEAT_TIMEOUT=15s"}
			all := j.Start(0, 5)
			for _, p := range all {
				if up := p.Line(t); up != fmt.Sprint("up ", p.Process.Pid) {
					t.Fatalf("rank %d: %q", p.Rank, up)
				}
			}
			if got := all[0].Line(t); got != "they wait" {
				t.Fatal(got)
			}
			if err := all[3].Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(fifo, []byte("go\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			table := all[0].Line(t)
			lines := strings.Split(table, "|")
			for rank, words := range [][]string{{"Healthy", "no call"},
				{"Healthy", "no call", `Barrier "begin", call 1 of world`},
				{"Healthy", `Recv "grads" with rank 1, call 1 of world`, "[1]"}, {"?", "does not answer", "stopped"},
				{"Healthy", "MonitoredBarrier, call 1 of world", "[0 1 2 3]"}} {
				for _, word := range words {
					if line := lines[2+rank]; !strings.Contains(line, word) {
						t.Errorf("the line of rank %d lacks %q: %s", rank, word, line)
					}
				}
			}
			text := all[0].Line(t)
			for _, words := range []string{"waiting for ranks [1 2 3]: context deadline exceeded",
				`; rank 1 is in no call; its last one, Barrier "begin", call 1 of world, began `,
				`; rank 2 is in Recv "grads" with rank 1, call 1 of world, for `,
				"; rank 3 does not answer; its process: stopped; "} {
				if !strings.Contains(text, words) {
					t.Errorf("the error lacks %q: %s", words, text)
				}
			}
			if end := all[0].Line(t); !strings.HasPrefix(end, "false ") || !strings.Contains(end, "rank does not answer") {
				t.Error(end)
			}
			j.End(all)
		})
	}
}

// TestHealthOfDead: a rank that was killed is in the report, with what became of its process.
func TestHealthOfDead(t *testing.T) {
	fifo := t.TempDir() + "/go"
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	j := fasttest.NewJob(t, 3, "dead "+fifo)
	all := j.Start(0, 3)
	for _, p := range all {
		p.Line(t)
	}
	if err := all[1].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fifo, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := all[0].Line(t); got != "true false true, rank 1: rank died" {
		t.Error(got)
	}
	j.End(all)
}

func init() { fasttest.Roles["dead"] = runDead }

// runDead is a rank of three. Rank 0 says what it gets to know when rank 1 is dead.
func runDead(ctx context.Context, args []string) error {
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Println("up")
	if c.Rank() > 0 {
		select {}
	}
	fifo, err := os.Open(args[0])
	if err != nil {
		return err
	}
	if _, err := bufio.NewReader(fifo).ReadString('\n'); err != nil {
		return err
	}
	barrier := fast.MonitoredBarrier(ctx, c)
	if !errors.Is(barrier, fast.ErrDied) || fmt.Sprint(fast.Culprits(barrier)) != "[1]" {
		return barrier
	}
	r, err := c.Health(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%v %v %v, rank 1: %s\n", r.Ranks[0].Answered, r.Ranks[1].Answered, r.Ranks[2].Answered, r.Ranks[1].Process)
	return nil
}
