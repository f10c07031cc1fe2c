package jobtest

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/operation"
)

// These tests ask how a job fares where processors are short, and print tables. `make soak-load`, which has the machine
// to itself, has them try much; otherwise they try little.

func init() { fasttest.Roles["form"] = formJob }

// loading returns how many jobs of each kind `make soak-load` tries; 0: it does not run.
func loading() int {
	n, _ := strconv.Atoi(os.Getenv("COLLGEN_SOAK_LOAD"))
	return n
}

// formJob joins a job, says so, and makes so many all-reduces.
func formJob(ctx context.Context, args []string) error {
	calls, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Println("formed", fasttest.Clock())
	x := make([]int64, 1000)
	for range calls {
		for i := range x {
			x[i] = int64(c.Rank())
		}
		if err := fast.AllReduce(ctx, c, x, fast.Sum); err != nil {
			return err
		}
		if n := int64(c.Size()); slices.Min(x) != n*(n-1)/2 || slices.Max(x) != n*(n-1)/2 {
			return fmt.Errorf("the sum is %d to %d", slices.Min(x), slices.Max(x))
		}
	}
	fmt.Println("done", fasttest.Clock())
	return nil
}

// hogs are so many processes that only burn time, until stop.
func hogs(t *testing.T, n int) (stop func()) {
	j := fasttest.NewJob(t, n, "hog")
	all := j.Start(0, n)
	return func() { j.End(all) }
}

// medianAndWorst are cells of a table, in seconds.
func medianAndWorst(times []time.Duration) string {
	slices.Sort(times)
	short := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) }
	return short(times[len(times)/2]) + " | " + short(times[len(times)-1])
}

// TestForming has jobs of many sizes form on the processors that there are, and make 100 all-reduces.
func TestForming(t *testing.T) {
	sizes, tries := []int{2, 24}, 1
	if n := loading(); n > 0 {
		sizes, tries = []int{2, 4, 8, 16, 32, 64, 128, 256}, n
	}
	var table strings.Builder
	fmt.Fprintln(&table, "| ranks | transport | jobs | formed in s, median | worst | 100 all-reduces in s, median | "+
		"worst |\n|---|---|---|---|---|---|---|")
	for _, over := range []string{"shm", "tcp"} {
		for _, size := range sizes {
			var forming, calling []time.Duration
			for range tries {
				j := fasttest.NewJob(t, size, "form 100")
				j.With = append(j.With, "COLL_TRANSPORT="+over)
				start := fasttest.Clock()
				ranks := j.Start(0, size)
				var formed, done int64
				for _, p := range ranks {
					formed = max(formed, saidAt(t, p, "formed"))
				}
				for _, p := range ranks {
					done = max(done, saidAt(t, p, "done"))
				}
				for _, p := range ranks {
					if err := p.Wait(); err != nil {
						t.Errorf("%d ranks over %s: rank %d: %v", size, over, p.Rank, err)
					}
				}
				j.WantNothingLeft()
				forming, calling = append(forming, time.Duration(formed-start)), append(calling, time.Duration(done-formed))
			}
			fmt.Fprintf(&table, "| %d | %s | %d | %s | %s |\n", size, over, tries, medianAndWorst(forming),
				medianAndWorst(calling))
		}
	}
	t.Logf("\n%s", table.String())
}

// TestStopUnderLoad stops a rank beside processes that only burn time: the others find out, without load within 2.5 s.
func TestStopUnderLoad(t *testing.T) {
	loads := map[int]int{4: 2}
	if n := loading(); n > 0 {
		loads = map[int]int{0: 10 * n, 4: 2 * n, 16: 2 * n}
	}
	var table strings.Builder
	fmt.Fprintln(&table, "| busy processes | ranks stopped | found after s, median | worst |\n|---|---|---|---|")
	for _, load := range []int{0, 4, 16} {
		stop := hogs(t, load)
		var found []time.Duration
		idle := fasttest.Delays{Limit: 2500 * time.Millisecond}
		for i := range loads[load] {
			late, _ := freeze(t, 3, i)
			found = append(found, late)
			idle.Add(late)
		}
		stop()
		if load == 0 && len(found) > 0 {
			idle.Check(t, "until the last survivor knew")
		}
		if len(found) > 0 {
			fmt.Fprintf(&table, "| %d | %d | %s |\n", load, len(found), medianAndWorst(found))
		}
	}
	t.Logf("\n%s", table.String())
}

// TestHog has 8 ranks and processes that only burn time share the processors: nobody is taken for dead.
func TestHog(t *testing.T) {
	seconds, burning := fasttest.Tries(t, 16, 1800)/2, 2 // over each transport
	if n := loading(); n > 0 {
		seconds, burning = 30*n, 16
	}
	for _, over := range []string{"shm", "tcp"} {
		stop := hogs(t, burning)
		j := fasttest.NewJob(t, 8, fmt.Sprint("busy ", seconds))
		j.With = append(j.With, "COLL_TRANSPORT="+over)
		ranks := j.Start(0, 8)
		for _, p := range ranks {
			l, err := p.LineWithin(time.Duration(seconds)*time.Second + fasttest.Generous)
			if err != nil || !strings.HasPrefix(l, "done ") {
				t.Errorf("over %s, rank %d: %q %v", over, p.Rank, l, err)
			} else if p.Rank == 0 {
				t.Logf("over %s, beside %d busy processes: %s calls in %d s", over, burning, strings.TrimPrefix(l, "done "),
					seconds)
			}
		}
		j.End(ranks)
		stop()
	}
}

func init() {
	fasttest.Roles["busy"] = busy
	fasttest.Roles["hog"] = func(context.Context, []string) error {
		for i := 0; ; i++ { // until it is killed
			runtime.KeepAlive(i)
		}
	}
}

// busy repeats all operations for so many seconds.
func busy(ctx context.Context, args []string) error {
	var seconds int
	if _, err := fmt.Sscan(args[0], &seconds); err != nil {
		return err
	}
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	defer c.Close()
	calls, end := 0, time.Now().Add(time.Duration(seconds)*time.Second)
	for going := true; going; {
		for _, op := range operation.All {
			if err := op.Run(ctx, c, 1000, calls); err != nil {
				return fmt.Errorf("call %d, %s: %w", calls, op.Name, err)
			}
			calls++
		}
		more := []int{0}
		if c.Rank() == 0 && time.Now().Before(end) {
			more[0] = 1
		}
		if err := fast.Broadcast(ctx, c, more, 0); err != nil {
			return err
		}
		going = more[0] == 1
	}
	fmt.Println("done", calls)
	return nil
}

// saidAt returns when p says a word.
func saidAt(t testing.TB, p *fasttest.Process, word string) (at int64) {
	t.Helper()
	l := p.Line(t)
	if _, err := fmt.Sscanf(l, word+" %d", &at); err != nil {
		t.Fatalf("rank %d: %q, want %s", p.Rank, l, word)
	}
	return at
}
