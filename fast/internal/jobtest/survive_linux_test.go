package jobtest

import (
	"context"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/operation"

	cryptorand "crypto/rand"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func init() { fasttest.Roles["survive"] = survive }

// survive repeats an all-reduce with a checked result. When it fails, it goes on among the survivors, and says who they
// are: "with 0 2 3", the numbers of their processes.
func survive(ctx context.Context, _ []string) error {
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	me := c.Rank()
	fmt.Println("up")
	for seed := 0; ; seed++ {
		if err = sumAll(ctx, c, me); err == nil {
			time.Sleep(time.Millisecond) // all ranks have to live on two processors
			continue
		}
		if strings.HasPrefix(err.Error(), "WRONG") {
			return err
		}
		fmt.Println("shrinking", err)
		next, err := c.Shrink(ctx)
		if err != nil {
			return err
		}
		_ = c.Close()
		c = next
		all := make([]int, c.Size())
		if err := fast.AllGatherInto(ctx, c, all, []int{me}); err != nil {
			continue // another failure
		}
		fmt.Println("with", strings.Trim(fmt.Sprint(all), "[]"))
	}
}

// sumAll adds the numbers of the processes.
func sumAll(ctx context.Context, c *fast.Comm, me int) error {
	all := make([]int, c.Size())
	if err := fast.AllGatherInto(ctx, c, all, []int{me}); err != nil {
		return err
	}
	want := 0
	for _, x := range all {
		want += x
	}
	sum := []int{me}
	if err := fast.AllReduce(ctx, c, sum, fast.Sum); err != nil {
		return err
	}
	if sum[0] != want {
		return fmt.Errorf("WRONG RESULT: %d of %v", sum[0], all)
	}
	return nil
}

// TestSurvive kills a rank, and in a third of the rounds a second one while the others shrink, until one is left: each
// time the survivors go on with the right results, and all agree on who they are.
func TestSurvive(t *testing.T) {
	rounds, want := 0, fasttest.Tries(t, 100, 1000)
	for rounds < want {
		rounds += surviveDownToOne(t, 3+rand.IntN(4), []string{"shm", "tcp"}[rounds%2])
		if t.Failed() {
			return
		}
	}
	t.Logf("%d rounds", rounds)
}

// surviveDownToOne runs one job of size ranks, until one is left. It tells how many rounds that took.
func surviveDownToOne(t *testing.T, size int, over string) (rounds int) {
	j := fasttest.NewJob(t, size, "survive")
	j.With = append(j.With, "COLL_TRANSPORT="+over)
	all := j.Start(0, size)
	for _, p := range all {
		p.Line(t)
	}
	living := all
	for ; len(living) > 1; rounds++ {
		second := rounds%3 == 2 && len(living) > 2
		time.Sleep(time.Duration(rand.IntN(5000)) * time.Microsecond)
		living = killOne(t, living)
		if second {
			for !strings.HasPrefix(living[0].Line(t), "shrinking") {
			}
			time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
			living = killOne(t, living)
		}
		wantSurvivors(t, living)
	}
	j.End(all)
	return rounds
}

// killOne kills one of living at random, and is the others.
func killOne(t *testing.T, living []*fasttest.Process) (others []*fasttest.Process) {
	t.Helper()
	victim := rand.IntN(len(living))
	if err := living[victim].Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	return append(append(others, living[:victim]...), living[victim+1:]...)
}

// wantSurvivors waits until all of living go on with each other.
func wantSurvivors(t *testing.T, living []*fasttest.Process) {
	t.Helper()
	want := "with"
	for _, p := range living {
		want += fmt.Sprint(" ", p.Rank)
	}
	for _, p := range living {
		for l := p.Line(t); l != want; l = p.Line(t) {
			if strings.Contains(l, "WRONG") {
				t.Fatalf("rank %d: %s", p.Rank, l)
			}
		}
	}
}

func init() {
	fasttest.Roles["grow"] = func(ctx context.Context, _ []string) error { return useGrown(ctx, growJob) }
	fasttest.Roles["guest"] = func(ctx context.Context, args []string) error {
		return useGrown(ctx, func(ctx context.Context) (*fast.Comm, error) {
			for _, name := range []string{"RANK", "WORLD_SIZE"} { // so that it has no launcher
				if err := os.Unsetenv(name); err != nil {
					return nil, err
				}
			}
			return fast.Join(ctx, args[0], fast.FromEnv()...)
		})
	}
}

// growJob returns a rank of a job that takes in one more, whose ticket rank 0 prints.
func growJob(ctx context.Context) (*fast.Comm, error) {
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if c.Rank() == 0 {
		ticket, err := c.Invite(ctx)
		if err != nil {
			return nil, err
		}
		fmt.Println("ticket", ticket)
	}
	return c.Grow(ctx)
}

// useGrown uses the communicator that begin makes.
func useGrown(ctx context.Context, begin func(context.Context) (*fast.Comm, error)) error {
	c, err := begin(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for seed, op := range operation.All {
		if err := op.Run(ctx, c, 1000, seed); err != nil {
			return err
		}
	}
	fmt.Println("done as", c.Rank(), "of", c.Size())
	return nil
}

// TestGrowProcesses: a process that was started later joins a job by a ticket, over every transport, and a second one
// with the same ticket does not.
func TestGrowProcesses(t *testing.T) {
	secret := make([]byte, 32)
	_, _ = cryptorand.Read(secret)
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, secret, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, over := range []string{"shm", "tcp"} {
		j := fasttest.NewJob(t, 3, "grow")
		j.With = []string{"COLL_TRANSPORT=" + over, "COLL_SECRET_FILE=" + file}
		ranks := j.Start(0, 3)
		ticket, found := strings.CutPrefix(ranks[0].Line(t), "ticket ")
		if !found {
			t.Fatal(ticket)
		}
		guests := *j
		guests.Role = "guest " + ticket
		guest := guests.Start(3, 4)
		for _, p := range append(ranks, guest...) {
			if got, want := p.Line(t), fmt.Sprint("done as ", p.Rank, " of 4"); got != want {
				t.Errorf("over %s: %q, want %q", over, got, want)
			}
		}
		late := guests.Start(4, 5)
		if _, text := late[0].Failure(t); text == "" {
			t.Errorf("over %s: the same ticket is good twice", over)
		}
		j.End(append(append(ranks, guest...), late...))
	}
}
