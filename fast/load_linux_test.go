package fast

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
)

// These tests ask how a job fares where processors are short, and print tables. `make soak-load`, which has the machine
// to itself, has them try much; otherwise they try little.

func init() { roles["form"] = formJob }

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
	c, err := Init(ctx, FromEnv()...)
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Println("formed", clock())
	x := make([]int64, 1000)
	for range calls {
		for i := range x {
			x[i] = int64(c.Rank())
		}
		if err := AllReduce(ctx, c, x, Sum); err != nil {
			return err
		}
		if n := int64(c.Size()); slices.Min(x) != n*(n-1)/2 || slices.Max(x) != n*(n-1)/2 {
			return fmt.Errorf("the sum is %d to %d", slices.Min(x), slices.Max(x))
		}
	}
	fmt.Println("done", clock())
	return nil
}

// saidAt returns when p says a word.
func (p *process) saidAt(t testing.TB, word string) (at int64) {
	t.Helper()
	l := p.line(t)
	if _, err := fmt.Sscanf(l, word+" %d", &at); err != nil {
		t.Fatalf("rank %d: %q, want %s", p.rank, l, word)
	}
	return at
}

// hogs are so many processes that only burn time, until stop.
func hogs(t *testing.T, n int) (stop func()) {
	j := newJob(t, n, "hog")
	all := j.start(0, n)
	return func() { j.end(all) }
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
	fmt.Fprintln(&table, "| ranks | transport | jobs | formed in s, median | worst | 100 all-reduces in s, median | worst |\n|---|---|---|---|---|---|---|")
	for _, over := range []string{"shm", "tcp"} {
		for _, size := range sizes {
			var forming, calling []time.Duration
			for range tries {
				j := newJob(t, size, "form 100")
				j.with = append(j.with, "COLL_TRANSPORT="+over)
				start := clock()
				ranks := j.start(0, size)
				var formed, done int64
				for _, p := range ranks {
					formed = max(formed, p.saidAt(t, "formed"))
				}
				for _, p := range ranks {
					done = max(done, p.saidAt(t, "done"))
				}
				for _, p := range ranks {
					if err := p.Wait(); err != nil {
						t.Errorf("%d ranks over %s: rank %d: %v", size, over, p.rank, err)
					}
				}
				j.wantNothingLeft()
				forming, calling = append(forming, time.Duration(formed-start)), append(calling, time.Duration(done-formed))
			}
			fmt.Fprintf(&table, "| %d | %s | %d | %s | %s |\n", size, over, tries, medianAndWorst(forming), medianAndWorst(calling))
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
		idle := delays{limit: 2500 * time.Millisecond}
		for i := range loads[load] {
			late, _ := freeze(t, 3, i)
			found = append(found, late)
			idle.add(late)
		}
		stop()
		if load == 0 && len(found) > 0 {
			idle.check(t, "until the last survivor knew")
		}
		if len(found) > 0 {
			fmt.Fprintf(&table, "| %d | %d | %s |\n", load, len(found), medianAndWorst(found))
		}
	}
	t.Logf("\n%s", table.String())
}

// TestHog has 8 ranks and processes that only burn time share the processors: nobody is taken for dead.
func TestHog(t *testing.T) {
	seconds, burning := tries(t, 16, 1800)/2, 2 // over each transport
	if n := loading(); n > 0 {
		seconds, burning = 30*n, 16
	}
	for _, over := range []string{"shm", "tcp"} {
		stop := hogs(t, burning)
		j := newJob(t, 8, fmt.Sprint("busy ", seconds))
		j.with = append(j.with, "COLL_TRANSPORT="+over)
		ranks := j.start(0, 8)
		for _, p := range ranks {
			l, err := p.lineWithin(time.Duration(seconds)*time.Second + generous)
			if err != nil || !strings.HasPrefix(l, "done ") {
				t.Errorf("over %s, rank %d: %q %v", over, p.rank, l, err)
			} else if p.rank == 0 {
				t.Logf("over %s, beside %d busy processes: %s calls in %d s", over, burning, strings.TrimPrefix(l, "done "), seconds)
			}
		}
		j.end(ranks)
		stop()
	}
}

func init() {
	roles["busy"] = busy
	roles["hog"] = func(context.Context, []string) error {
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
	c, err := Init(ctx, FromEnv()...)
	if err != nil {
		return err
	}
	defer c.Close()
	calls, end := 0, time.Now().Add(time.Duration(seconds)*time.Second)
	for going := true; going; {
		for _, op := range operations {
			if err := op.run(ctx, c, 1000, calls); err != nil {
				return fmt.Errorf("call %d, %s: %w", calls, op.name, err)
			}
			calls++
		}
		more := []int{0}
		if c.Rank() == 0 && time.Now().Before(end) {
			more[0] = 1
		}
		if err := Broadcast(ctx, c, more, 0); err != nil {
			return err
		}
		going = more[0] == 1
	}
	fmt.Println("done", calls)
	return nil
}
