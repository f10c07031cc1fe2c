package jobtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// costs is what one more communicator costs a rank that makes short calls on it.
type costs struct {
	shared     int // bytes of memory that is shared, as far as this rank has touched it
	heap       int // bytes
	files      int // descriptors
	goroutines int
}

// TestCostOfCommunicators has ranks make hundreds of communicators, call on each, and count what they have then.
func TestCostOfCommunicators(t *testing.T) {
	for _, c := range []struct {
		transport   string
		ranks, many int
		want        costs // at most
	}{
		{"shm", 2, 300, costs{shared: 52 << 10, heap: 24 << 10}},
		{"shm", 4, 300, costs{shared: 248 << 10, heap: 32 << 10}},
		{"tcp", 2, 100, costs{heap: 100 << 10, files: 2}},
		{"tcp", 4, 100, costs{heap: 250 << 10, files: 4}},
	} {
		j := fasttest.NewJob(t, c.ranks, fmt.Sprint("many ", c.many))
		j.With = []string{"COLL_TRANSPORT=" + c.transport}
		for _, p := range j.Start(0, c.ranks) {
			var got costs
			if _, err := fmt.Sscan(p.Line(t), &got.shared, &got.heap, &got.files, &got.goroutines); err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, %d ranks: %+v", c.transport, c.ranks, got)
			if got.shared > c.want.shared || got.heap > c.want.heap || got.files > c.want.files ||
				got.goroutines > c.want.goroutines {
				t.Errorf("%s, rank %d of %d: %+v for each of %d communicators, want at most %+v", c.transport, p.Rank, c.ranks, got,
					c.many, c.want)
			}
		}
		j.WantNothingLeft()
	}
}

func init() { fasttest.Roles["many"] = inMany }

// inMany runs a rank that makes many communicators, and prints what each of them costs.
func inMany(ctx context.Context, args []string) error {
	many, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	defer c.Close()
	all := []*fast.Comm{c}
	before, err := spent(ctx, all)
	for range many {
		var d *fast.Comm
		if err == nil {
			d, err = c.Dup(ctx)
		}
		if err != nil {
			return err
		}
		defer d.Close()
		all = append(all, d)
	}
	after, err := spent(ctx, all)
	fmt.Println((after.shared-before.shared)/many, (after.heap-before.heap)/many, (after.files-before.files)/many,
		(after.goroutines-before.goroutines)/many)
	return errors.Join(err, fast.Barrier(ctx, c)) // others still count
}

// spent returns what this process has after a call on each of all communicators.
func spent(ctx context.Context, all []*fast.Comm) (now costs, err error) {
	for i, c := range all {
		if err := keepAddingShortly(ctx, c, i); err != nil {
			return now, err
		}
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, err := os.ReadDir("/proc/self/fd")
	shared, errShared := resident("memfd:collgen (")
	return costs{shared, int(m.HeapAlloc), len(files), runtime.NumGoroutine()}, errors.Join(err, errShared)
}

// resident returns how many bytes this process has touched of the files of that name.
func resident(name string) (bytes int, err error) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	of := false
	for s := bufio.NewScanner(f); s.Scan(); {
		switch fields := strings.Fields(s.Text()); {
		case strings.Contains(fields[0], "-"):
			of = strings.Contains(s.Text(), name)
		case of && fields[0] == "Rss:":
			kib, err := strconv.Atoi(fields[1])
			if err != nil {
				return 0, err
			}
			bytes += kib << 10
		}
	}
	return bytes, nil
}

// keepAddingShortly makes a few calls of the lengths that are lines of their own, and right.
func keepAddingShortly(ctx context.Context, c *fast.Comm, which int) error {
	for _, n := range []int{1, 13, 128} {
		buf := make([]int64, n)
		for i := range buf {
			buf[i] = int64(which + i)
		}
		if err := fast.AllReduce(ctx, c, buf, fast.Sum); err != nil {
			return err
		}
		if want := int64(c.Size() * (which + n - 1)); buf[n-1] != want {
			return fmt.Errorf("communicator %d: %d, want %d", which, buf[n-1], want)
		}
	}
	return nil
}

// TestSeveralCommunicators uses several communicators at once, each in a goroutine of its own on every rank, among
// ranks of one process and among processes.
func TestSeveralCommunicators(t *testing.T) {
	t.Run("goroutines", func(t *testing.T) {
		errs := make([]error, several)
		var jobs sync.WaitGroup
		for i := range errs {
			jobs.Go(func() {
				errs[i] = fast.Run(t.Context(), 3, func(ctx context.Context, c *fast.Comm) error { return keepAdding(ctx, c, i) })
			})
		}
		jobs.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
	})
	t.Run("processes", func(t *testing.T) {
		j := fasttest.NewJob(t, 3, "several")
		for _, p := range j.Start(0, 3) {
			if l := p.Line(t); l != "right" {
				t.Errorf("rank %d: %s", p.Rank, l)
			}
		}
		j.WantNothingLeft()
	})
}

const several = 4

func init() { fasttest.Roles["several"] = inSeveral }

// inSeveral runs a rank of several communicators.
func inSeveral(ctx context.Context, _ []string) error {
	errs := make([]error, several)
	var jobs sync.WaitGroup
	for i := range errs {
		c, err := fast.Init(ctx, append(fast.FromEnv(), fast.WithJob(fmt.Sprint(os.Getenv("COLL_JOB"), i)))...)
		if err != nil {
			return err
		}
		defer c.Close()
		jobs.Go(func() { errs[i] = keepAdding(ctx, c, i) })
	}
	jobs.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	fmt.Println("right")
	return nil
}

// keepAdding makes many calls with results that tell communicators, calls and ranks apart.
func keepAdding(ctx context.Context, c *fast.Comm, which int) error {
	for call := range 200 {
		buf := make([]int64, 1+call*which*7)
		for i := range buf {
			buf[i] = int64(which*1_000_000 + call*1000 + c.Rank())
		}
		want := slices.Repeat([]int64{int64(c.Size()*(which*1_000_000+call*1000) + c.Size()*(c.Size()-1)/2)}, len(buf))
		if err := fast.AllReduce(ctx, c, buf, fast.Sum); err != nil {
			return err
		}
		if !slices.Equal(buf, want) {
			return fmt.Errorf("communicator %d, call %d: %d, want %d", which, call, buf[0], want[0])
		}
	}
	return nil
}

func init() { fasttest.Roles["linkless"] = linkWithoutFiles }

// linkWithoutFiles makes a broadcast between hosts, for which a rank may open no socket.
func linkWithoutFiles(ctx context.Context, args []string) error {
	if err := os.Setenv("COLL_HOST", "host of rank "+os.Getenv("RANK")); err != nil {
		return err
	}
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	if args[1] == "polling" { // two links, so that there is what a rank waits with for more
		if err := fast.SendRecv(ctx, c, make([]int, 1), c.Rank()^1, make([]int, 1), c.Rank()^1); err != nil {
			return err
		}
	}
	if fmt.Sprint(c.Rank()) == args[0] {
		if err := leaveFiles(int(args[2][0] - '0')); err != nil {
			return err
		}
	}
	if _, err := c.Agree(ctx, 0); err != nil { // over the control plane
		return err
	}
	for err = nil; err == nil; { // a rank that has what it needs may hear of it later
		err = fast.Broadcast(ctx, c, make([]int, 10), 0)
	}
	if !errors.Is(err, fast.ErrExhausted) || errors.Is(err, fast.ErrDied) {
		return fmt.Errorf("not exhausted: %w", errors.Join(err, c.Close()))
	}
	blamed := fast.Culprits(err)
	if len(blamed) == 0 {
		blamed = []int{c.Rank()}
	}
	if err := c.Close(); err != nil {
		return err
	}
	return fmt.Errorf("exhausted: %v", blamed)
}

// TestNoSockets: a rank that can open no socket for a link, or take none, is no dead one, and all that wait know which
// it is.
func TestNoSockets(t *testing.T) {
	for _, with := range []string{"polling 0", "polling 1", "new 0", "new 1"} {
		for _, crowded := range []int{0, 2} {
			j := fasttest.NewJob(t, 4, fmt.Sprint("linkless ", crowded, " ", with))
			for _, p := range j.Start(0, 4) {
				if _, text := p.Failure(t); text != fmt.Sprintf("exhausted: [%d]", crowded) {
					t.Errorf("%s, rank %d crowded, rank %d: %s", with, crowded, p.Rank, text)
				}
			}
			j.WantNothingLeft()
		}
	}
}
