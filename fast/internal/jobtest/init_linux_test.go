package jobtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/setup"
	"github.com/collgen/collgen/fast/internal/wire"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { fasttest.Main(m) }

func init() {
	fasttest.Roles["sums"] = sums
	fasttest.Roles["forever"] = reduceForever
	fasttest.Roles["apart"] = computeApart
	fasttest.Roles["mismatch"] = differ
	fasttest.Roles["limited"] = initWithoutMemory
}

// sums makes some collectives with known results.
func sums(ctx context.Context, _ []string) error {
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	n, rank := c.Size(), c.Rank()
	for _, count := range []int{0, 1, 7, 1000, 300_000} {
		buf := make([]int64, count)
		for i := range buf {
			buf[i] = int64(i + rank)
		}
		if err := fast.AllReduce(ctx, c, buf, fast.Sum); err != nil {
			return err
		}
		for i, x := range buf {
			if want := int64(n*i + n*(n-1)/2); x != want {
				return fmt.Errorf("%d elements: [%d] is %d, want %d", count, i, x, want)
			}
		}
	}
	all := make([]float32, n)
	all[rank] = float32(rank)
	if err := fast.AllGather(ctx, c, all); err != nil {
		return err
	}
	if err := fast.Barrier(ctx, c); err != nil {
		return err
	}
	if err := c.Close(); err != nil {
		return err
	}
	fmt.Println(c, all)
	return nil
}

// TestInit is processes that talk, and leave nothing.
func TestInit(t *testing.T) {
	for size := 1; size <= 5; size++ {
		j := fasttest.NewJob(t, size, "sums")
		all := j.Start(0, size)
		if size == 3 { // in another order
			slices.Reverse(all)
		}
		gathered := []float32{0, 1, 2, 3, 4}[:size]
		for _, p := range all {
			if got, want := p.Line(t), fmt.Sprintf("world, rank %d of %d %v", p.Rank, size, gathered); got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if err := p.Wait(); err != nil {
				t.Errorf("rank %d of %d: %v", p.Rank, size, err)
			}
		}
		j.WantNothingLeft()
	}
}

// reduceForever is collectives without a pause, on so many elements.
func reduceForever(ctx context.Context, args []string) error {
	var count int
	if _, err := fmt.Sscan(args[0], &count); err != nil {
		return err
	}
	fmt.Println("up: started")
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	buf := make([]float32, count)
	for i := 0; ; i++ {
		if err := fast.AllReduce(context.Background(), c, buf, fast.Sum); err != nil {
			return err
		}
		if i == 2 {
			fmt.Println("up: running")
		}
	}
}

// computeApart runs a rank that does something else after a first call, and then calls again.
func computeApart(ctx context.Context, args []string) error {
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	if err := fast.Barrier(ctx, c); err != nil {
		return err
	}
	fmt.Println("up: apart")
	time.Sleep(200 * time.Millisecond)
	fmt.Println("up: again", fasttest.Clock())
	return fast.Barrier(ctx, c)
}

func kill(t *testing.T, p *fasttest.Process) (at int64) {
	t.Helper()
	at = fasttest.Clock()
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	return at
}

// TestKillRunning kills each rank in the middle of small and large collectives.
func TestKillRunning(t *testing.T) {
	late := fasttest.Delays{Limit: fasttest.Promise}
	for _, role := range []string{"forever 1", "forever 3000", "forever 1000000"} {
		for size := 2; size <= 4; size++ {
			chosen := rand.IntN(size)
			for victim := range size {
				if !fasttest.Soaking() && victim != chosen {
					continue
				}
				j := fasttest.NewJob(t, size, role)
				all := j.Start(0, size)
				for _, p := range all {
					for p.Line(t) != "up: running" {
					}
				}
				time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
				start := kill(t, all[victim])
				for rank, p := range all {
					if rank == victim {
						continue
					}
					at, text := p.Failure(t)
					if want := fmt.Sprintf("rank %d: %v", victim, fast.ErrDied); !strings.Contains(text, want) {
						t.Errorf("%s, rank %d of %d: %q, want %q", role, rank, size, text, want)
					}
					late.Add(time.Duration(at - start))
				}
				j.WantNothingLeft()
			}
		}
	}
	late.Check(t, "until the last rank knew of a death")
}

// TestKillApart kills a rank while nobody is in a call: the next call says so.
func TestKillApart(t *testing.T) {
	j := fasttest.NewJob(t, 3, "apart")
	all := j.Start(0, 3)
	for _, p := range all {
		p.Line(t)
	}
	kill(t, all[1])
	late := fasttest.Delays{Limit: fasttest.Promise}
	for _, rank := range []int{0, 2} {
		var again int64
		if _, err := fmt.Sscanf(all[rank].Line(t), "up: again %d", &again); err != nil {
			t.Fatal(err)
		}
		at, text := all[rank].Failure(t)
		if want := fmt.Sprint("rank 1: ", fast.ErrDied); !strings.Contains(text, want) {
			t.Errorf("after %v: %q, want %q", time.Duration(at-again), text, want)
		}
		late.Add(time.Duration(at - again))
	}
	late.Check(t, "until a call said so")
}

// TestKillMeeting kills each of three ranks while all wait for a fourth one. Those that have met the victim know; rank
// 0 gives the fourth some time to come and hear of it.
func TestKillMeeting(t *testing.T) {
	late := fasttest.Delays{Limit: fasttest.Promise + time.Second}
	for victim := range 3 {
		j := fasttest.NewJob(t, 4, "forever 1")
		j.Logs, j.With = true, []string{"COLL_SLOW_CALL=50ms"}
		all := j.Start(0, 3)
		for _, p := range all { // until all have met
			for !strings.Contains(p.Line(t), "waiting=[3]") {
			}
		}
		start := kill(t, all[victim])
		last := j.Start(3, 4)[0]
		for _, p := range append(all, last) {
			if p.Rank == victim || (victim == 0 && p == last) {
				continue
			}
			at, text := p.Failure(t)
			if want := fmt.Sprintf("rank %d: %v", victim, fast.ErrDied); !strings.Contains(text, want) {
				t.Errorf("rank %d: %q, want %q", p.Rank, text, want)
			}
			if p != last {
				late.Add(time.Duration(at - start))
			}
		}
		if victim == 0 {
			_ = last.Process.Kill() // it would wait for rank 0
		}
		j.WantNothingLeft()
	}
	late.Check(t, "until the last rank knew")
}

// TestKillAnyTime kills a rank some time after its start. The others end, with an error that speaks of it.
func TestKillAnyTime(t *testing.T) {
	rounds := 5
	if testing.Short() {
		rounds = 3
	}
	for range rounds {
		j := fasttest.NewJob(t, 3, "forever 100")
		all := j.Start(0, 3)
		victim := rand.IntN(3)
		time.Sleep(time.Duration(rand.IntN(15000)) * time.Microsecond)
		kill(t, all[victim])
		for _, p := range all {
			if p.Rank == victim {
				continue
			}
			_, text := p.Failure(t)
			if !strings.Contains(text, fmt.Sprintf("rank %d", victim)) && !strings.Contains(text, fmt.Sprintf("[%d]", victim)) {
				t.Errorf("rank %d dies, and rank %d says %q", victim, p.Rank, text)
			}
		}
		j.WantNothingLeft()
	}
}

// differ makes a call that does not match those of the others.
func differ(ctx context.Context, _ []string) error {
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	return fast.AllReduce(ctx, c, make([]int32, 10+c.Rank()), fast.Sum)
}

// TestMismatchOfProcesses is an error on both ranks, with the details.
func TestMismatchOfProcesses(t *testing.T) {
	all := fasttest.NewJob(t, 2, "mismatch").Start(0, 2)
	for rank, p := range all {
		want := fmt.Sprintf("does not match rank %d's: count is %d here and %d there", 1-rank, 10+rank, 11-rank)
		if _, text := p.Failure(t); !strings.Contains(text, want) {
			t.Errorf("rank %d: %q, want %q", rank, text, want)
		}
	}
}

// initWithoutMemory is Init where rank 0 may make only short files.
func initWithoutMemory(ctx context.Context, _ []string) error {
	limit := unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	_, err := fast.Init(ctx, fast.FromEnv()...)
	return err
}

// TestNoMemory: what rank 0 cannot allocate is an error on all ranks.
func TestNoMemory(t *testing.T) {
	j := fasttest.NewJob(t, 3, "limited")
	for _, p := range j.Start(0, 3) {
		if _, text := p.Failure(t); !strings.Contains(text, "KiB of shared memory for 3 ranks: file too large") {
			t.Errorf("rank %d: %q", p.Rank, text)
		}
	}
	j.WantNothingLeft()
}

// TestInitMissing names the rank that does not come.
func TestInitMissing(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := fast.Init(ctx, fast.WithRank(0, 2), fast.WithJob(fmt.Sprint("missing ", os.Getpid())))
	var timeout *fast.TimeoutError
	if !errors.As(err, &timeout) || !slices.Equal(timeout.Waiting, []int{1}) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestTransportsDiffer: a rank that is told to use TCP, and one that is not, refuse each other, on both.
func TestTransportsDiffer(t *testing.T) {
	for _, transport := range []string{"shm", ""} {
		meeting, errs := fast.NewMemoryStore(), make(chan error)
		for rank, transport := range []string{transport, "tcp"} {
			go func() {
				c, err := fast.Init(t.Context(), fast.WithRank(rank, 2), fast.WithStore(meeting), fast.WithTransport(transport))
				_ = c.Close()
				errs <- err
			}()
		}
		for range 2 {
			if err := <-errs; err == nil || !strings.Contains(err.Error(),
				"ranks [1] are to use TCP alone, and the others are not") {
				t.Errorf("%q and tcp: %v", transport, err)
			}
		}
	}
}

func init() { fasttest.Roles["crowded"] = groupWithoutFiles }

// groupWithoutFiles is Group where a rank may open hardly any more files. Rank 0 opens that of the memory, and no
// copies of it; another one cannot take its own.
func groupWithoutFiles(ctx context.Context, args []string) error {
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	left := 0
	if c.Rank() == 0 {
		left = 1
	}
	if fmt.Sprint(c.Rank()) == args[0] {
		if err := leaveFiles(left); err != nil {
			return err
		}
	}
	// A rank takes files as they come, not when it asks for them: rank 0 is to send none before the other has no room.
	if err := fast.Barrier(ctx, c); err != nil {
		return err
	}
	_, err = c.Group(ctx, []int{0, 1, 2})
	return errors.Join(err, c.Close()) // the others are to hear of it
}

// leaveFiles opens files until this process may open only so many more, one or none.
func leaveFiles(left int) error {
	limit := unix.Rlimit{Cur: 128, Max: 128}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	last, err := unix.Dup(0)
	for fd := last; err == nil; fd, err = unix.Dup(0) {
		last = fd
	}
	if left == 0 {
		return nil
	}
	return unix.Close(last)
}

// TestMemoryOf: what comes without the file that it is to bring says whose fault that is.
func TestMemoryOf(t *testing.T) {
	file, err := unix.Dup(0)
	if err != nil {
		t.Fatal(err)
	}
	for want, m := range map[string]wire.Note{
		"this process has too many files open":                         {From: 3, Lost: true},
		"process 3 gives no shared memory: it has too many files open": {From: 3},
		"process 3 gives no shared memory: no memory":                  {From: 3, Body: []byte("no memory")},
		"process 5 gives no shared memory":                             {From: 5, Files: []int{file}},
	} {
		if got, err := setup.MemoryOf(m, []int{3, 4}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v is file %d, %v", m, got, err)
		}
	}
	if unix.Close(file) == nil {
		t.Error("a file that nobody wants stays open")
	}
	if got, err := setup.MemoryOf(wire.Note{From: 4, Files: []int{7}}, []int{3, 4}); got != 7 || err != nil {
		t.Error(got, err)
	}
}

// TestNoFiles: what rank 0 cannot hand out, or another rank cannot take, is an error on all ranks that says whose fault
// it is, and nobody is taken for dead.
func TestNoFiles(t *testing.T) {
	for crowded, want := range []string{
		"process 0 gives no shared memory: it has too many files open",
		"the shared memory of process 0 cannot be taken: this process has too many files open",
	} {
		j := fasttest.NewJob(t, 3, fmt.Sprint("crowded ", crowded))
		for _, p := range j.Start(0, 3) {
			_, text := p.Failure(t)
			if !strings.Contains(text, want) || crowded > 0 && p.Rank != crowded &&
				!strings.Contains(text, fmt.Sprintf("rank %d: ", crowded)) {
				t.Errorf("with rank %d crowded, rank %d: %q", crowded, p.Rank, text)
			}
		}
		j.WantNothingLeft()
	}
}
