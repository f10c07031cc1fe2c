package jobtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/operation"
)

func init() {
	fasttest.Roles["allocated"] = operateAllocated
	fasttest.Roles["alloc"] = allocForever
	fasttest.Roles["crowded-alloc"] = allocWithoutFiles
}

// operateAllocated has operations work on memory of Alloc, with checked results, until one fails.
func operateAllocated(ctx context.Context, _ []string) error {
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	x, err := operation.NewBuffers(ctx, c, 70_001)
	if err != nil {
		return err
	}
	fmt.Println("up")
	for seed := 0; ; seed++ {
		if err := x.Operate(ctx, c, seed); err != nil {
			return verdict(err)
		}
	}
}

// allocForever is Alloc and Free without a pause.
func allocForever(ctx context.Context, _ []string) error {
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	fmt.Println("up")
	for n := 0; ; n++ {
		b, err := fast.Alloc[byte](ctx, c, n*4099)
		if err == nil {
			err = fast.Free(c, b)
		}
		if err != nil {
			return verdict(err)
		}
	}
}

// allocWithoutFiles is Alloc where rank 0 may open one more file: that of its memory, and no copies of it.
func allocWithoutFiles(ctx context.Context, _ []string) error {
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	if c.Rank() == 0 {
		if err := leaveFiles(1); err != nil {
			return err
		}
	}
	_, err = fast.Alloc[int](ctx, c, 100)
	return errors.Join(err, c.Close())
}

// TestAllocKill ends a rank while it and the others read from each other's memory, or make it: the others learn of it,
// no result was wrong, and nothing is left.
func TestAllocKill(t *testing.T) {
	for i := range fasttest.Tries(t, 30, 1000) {
		end(t, []string{"allocated", "alloc"}[i%2], syscall.SIGKILL, "died")
	}
}

// TestAllocFreeze stops a rank instead. When it goes on, it finds out that it was given up, and has harmed nobody.
func TestAllocFreeze(t *testing.T) {
	for range fasttest.Tries(t, 3, 100) {
		end(t, "allocated", syscall.SIGSTOP, "frozen")
	}
}

// end sends a signal to one of three ranks, of which the others then say how they find it.
func end(t *testing.T, role string, signal syscall.Signal, how string) {
	t.Helper()
	victim, delay := rand.IntN(3), time.Duration(rand.IntN(20_000))*time.Microsecond
	j := fasttest.NewJob(t, 3, role)
	ranks := j.Start(0, 3)
	for _, p := range ranks {
		p.Line(t)
	}
	time.Sleep(delay)
	if err := ranks[victim].Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	for _, p := range ranks {
		if p.Rank == victim {
			continue
		}
		if _, text := p.Failure(t); !strings.HasPrefix(text, fmt.Sprintf("%s:%d ", how, victim)) &&
			!strings.HasPrefix(text, fmt.Sprintf("died:%d ", victim)) {
			t.Errorf("%s, %v for rank %d after %v: rank %d says %s", role, signal, victim, delay, p.Rank, text)
		}
	}
	if signal == syscall.SIGSTOP {
		_ = ranks[victim].Process.Signal(syscall.SIGCONT)
		if _, text := ranks[victim].Failure(t); !strings.HasPrefix(text, "fenced ") {
			t.Errorf("rank %d, stopped after %v, says when it goes on: %s", victim, delay, text)
		}
	}
	j.End(ranks)
}

// TestAllocWithoutFiles: memory that a rank cannot hand out is an error on all ranks.
func TestAllocWithoutFiles(t *testing.T) {
	j := fasttest.NewJob(t, 3, "crowded-alloc")
	for _, p := range j.Start(0, 3) {
		_, text := p.Failure(t)
		if !strings.HasPrefix(text, "Alloc: ") || strings.Contains(text, "rank 0: ") != (p.Rank != 0) ||
			!strings.Contains(text, "too many open files") {
			t.Errorf("rank %d: %q", p.Rank, text)
		}
	}
	j.WantNothingLeft()
}

// TestAllocLeavesNothing: mappings and files are gone after Free, after Close and after a failed Alloc.
func TestAllocLeavesNothing(t *testing.T) {
	for name, f := range map[string]func(c *fast.Comm) error{
		"free": func(c *fast.Comm) error {
			b, err := fast.Alloc[int](t.Context(), c, 10_000)
			return errors.Join(err, fast.Free(c, b), fast.Barrier(t.Context(), c))
		},
		"too much": func(c *fast.Comm) error {
			n := 100
			if c.Rank() == 0 {
				n = math.MaxInt >> 3
			}
			if _, err := fast.Alloc[byte](t.Context(), c, n); err == nil {
				return errors.New("there is memory for everything")
			}
			return nil
		},
		"close": func(c *fast.Comm) error {
			_, err := fast.Alloc[int](t.Context(), c, 10_000)
			return errors.Join(err, c.Close())
		},
	} {
		all := meet(t, 3, func(int) []fast.InitOption { return []fast.InitOption{fast.WithTransport("shm")} })
		files, mapped := openDescriptors(t), memoryMappings(t)
		for range 5 {
			more := fasttest.Again(t, all)
			if err := errors.Join(fasttest.OnAll(more, f)...); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			fasttest.CloseAll(t, more)
		}
		for deadline := time.Now().Add(fasttest.Generous); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			if openDescriptors(t) <= files && memoryMappings(t) <= mapped {
				break
			}
		}
		if f, m := openDescriptors(t), memoryMappings(t); f > files || m > mapped {
			t.Errorf("%s: %d files and %d mappings, before %d and %d", name, f, m, files, mapped)
		}
		fasttest.CloseAll(t, all)
	}
}

// openDescriptors returns how many files this process has open, and memoryMappings how often it has mapped shared
// memory.
func openDescriptors(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func memoryMappings(t *testing.T) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(maps), "memfd:collgen (")
}
