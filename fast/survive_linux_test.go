package fast

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"
)

func init() { roles["survive"] = survive }

// survive repeats an all-reduce with a checked result. When it fails, it goes on among the survivors, and says who they
// are: "with 0 2 3", the numbers of their processes.
func survive(ctx context.Context, _ []string) error {
	c, err := Init(ctx, FromEnv()...)
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
		if err := AllGatherInto(ctx, c, all, []int{me}); err != nil {
			continue // another failure
		}
		fmt.Println("with", strings.Trim(fmt.Sprint(all), "[]"))
	}
}

// sumAll adds the numbers of the processes.
func sumAll(ctx context.Context, c *Comm, me int) error {
	all := make([]int, c.Size())
	if err := AllGatherInto(ctx, c, all, []int{me}); err != nil {
		return err
	}
	want := 0
	for _, x := range all {
		want += x
	}
	sum := []int{me}
	if err := AllReduce(ctx, c, sum, Sum); err != nil {
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
	rounds, want := 0, tries(t, 100, 1000)
	for rounds < want {
		rounds += surviveDownToOne(t, 3+rand.IntN(4), []string{"shm", "tcp"}[rounds%2])
		if t.Failed() {
			return
		}
	}
	t.Logf("%d rounds", rounds)
}

// surviveDownToOne returns one job of size ranks, until one is left. It tells how many rounds that took.
func surviveDownToOne(t *testing.T, size int, over string) (rounds int) {
	j := newJob(t, size, "survive")
	j.with = append(j.with, "COLL_TRANSPORT="+over)
	all := j.start(0, size)
	for _, p := range all {
		p.line(t)
	}
	living := all
	for ; len(living) > 1; rounds++ {
		second := rounds%3 == 2 && len(living) > 2
		time.Sleep(time.Duration(rand.IntN(5000)) * time.Microsecond)
		living = killOne(t, living)
		if second {
			for !strings.HasPrefix(living[0].line(t), "shrinking") {
			}
			time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
			living = killOne(t, living)
		}
		wantSurvivors(t, living)
	}
	j.end(all)
	return rounds
}

// killOne kills one of living at random, and is the others.
func killOne(t *testing.T, living []*process) (others []*process) {
	t.Helper()
	victim := rand.IntN(len(living))
	if err := living[victim].Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	return append(append(others, living[:victim]...), living[victim+1:]...)
}

// wantSurvivors waits until all of living go on with each other.
func wantSurvivors(t *testing.T, living []*process) {
	t.Helper()
	want := "with"
	for _, p := range living {
		want += fmt.Sprint(" ", p.rank)
	}
	for _, p := range living {
		for l := p.line(t); l != want; l = p.line(t) {
			if strings.Contains(l, "WRONG") {
				t.Fatalf("rank %d: %s", p.rank, l)
			}
		}
	}
}
