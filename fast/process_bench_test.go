//go:build linux

package fast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// copiedFrom is from how many bytes on copies are measured: fewer stay in a cache.
const copiedFrom = 16 << 20

func init() { fasttest.Roles["bench"] = benchPeer }

func BenchmarkAllReduceShm(b *testing.B) { benchAllReduce(b, "COLL_TRANSPORT=shm") }
func BenchmarkAllReduceTCP(b *testing.B) { benchAllReduce(b, "COLL_TRANSPORT=tcp") }
func BenchmarkAllReduceEncrypted(b *testing.B) {
	benchAllReduce(b, "COLL_TRANSPORT=tcp", "COLL_ENCRYPT=1")
}

// benchAllReduce is AllReduce of float32 sums in place among processes. Operands are rewritten by the sums. Beside it,
// in the same run, the machine's limit is measured: all ranks copy as many bytes at once. copy-ratio is that time over
// AllReduce's: every byte of an all-reduce has to be read and written at least once by each rank, as in a copy.
func benchAllReduce(b *testing.B, with ...string) {
	for _, size := range []int{2, 4} {
		for _, bytes := range []int{8, 1 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20} {
			b.Run(fmt.Sprintf("ranks=%d/bytes=%d", size, bytes), func(b *testing.B) {
				c := benchComm(b, size, bytes, with...)
				defer c.Close()
				l := &benchLoop{c: c, buf: make([]float32, bytes/4), copied: make([]float32, bytes/4)}
				if _, err := l.run(b.Context(), 4); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(bytes))
				b.ReportAllocs()
				b.ResetTimer()
				t, err := l.run(b.Context(), b.N)
				b.StopTimer()
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(t.reduce.Nanoseconds())/1000/float64(b.N), "µs/op")
				if bytes >= copiedFrom {
					b.ReportMetric(t.copy.Seconds()/t.reduce.Seconds(), "copy-ratio")
				}
			})
		}
	}
}

// benchComm returns the communicator of rank 0 of so many, of which the others run benchPeer.
func benchComm(b testing.TB, size, bytes int, with ...string) *Comm {
	b.Helper()
	j := fasttest.NewJob(b, size, fmt.Sprint("bench ", bytes))
	j.With = with
	j.Start(1, size)
	for _, variable := range j.Env(0) {
		name, value, _ := strings.Cut(variable, "=")
		b.Setenv(name, value)
	}
	c, err := Init(b.Context(), FromEnv()...)
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// benchPeer does what rank 0 does, until that has enough.
func benchPeer(ctx context.Context, args []string) error {
	var bytes int
	if _, err := fmt.Sscan(args[0], &bytes); err != nil {
		return err
	}
	c, err := Init(ctx, FromEnv()...)
	if err != nil {
		return err
	}
	l := &benchLoop{c: c, buf: make([]float32, bytes/4), copied: make([]float32, bytes/4)}
	for err == nil {
		_, err = l.run(ctx, 0)
	}
	return nil
}

// benchLoop is the same on all ranks, so many times as rank 0 says.
type benchLoop struct {
	c           *Comm
	buf, copied []float32
}

type benchTimes struct{ reduce, copy time.Duration }

// run takes the times of n reductions and of n copies, a few at a time so that both have the same conditions.
func (l *benchLoop) run(ctx context.Context, n int) (t benchTimes, err error) {
	times := []int64{int64(n)}
	if err := Broadcast(ctx, l.c, times, 0); err != nil {
		return t, err
	}
	for left := int(times[0]); left > 0; left -= 8 {
		now := min(left, 8)
		if len(l.buf)*4 < copiedFrom {
			now, left = left, 0
		}
		if err := l.reduce(ctx, now, &t.reduce); err != nil {
			return t, err
		}
		if err := l.copies(ctx, now, &t.copy); err != nil {
			return t, err
		}
	}
	return t, nil
}

func (l *benchLoop) reduce(ctx context.Context, n int, sum *time.Duration) error {
	if err := Barrier(ctx, l.c); err != nil {
		return err
	}
	start := time.Now()
	for range n {
		if err := AllReduce(ctx, l.c, l.buf, Sum); err != nil {
			return err
		}
	}
	*sum += time.Since(start)
	return nil
}

// copies ends when the slowest rank is done.
func (l *benchLoop) copies(ctx context.Context, n int, sum *time.Duration) error {
	if len(l.buf)*4 < copiedFrom {
		return nil
	}
	if err := Barrier(ctx, l.c); err != nil {
		return err
	}
	start := time.Now()
	for range n {
		for from := 0; from < len(l.buf); from += 32 << 10 { // 128 KiB: Go copies longer pieces more slowly
			copy(l.copied[from:min(from+32<<10, len(l.buf))], l.buf[from:])
		}
	}
	err := Barrier(ctx, l.c)
	*sum += time.Since(start)
	return err
}

// BenchmarkAgreement is what it costs a rank that the arguments of all ranks are compared, in an all-reduce of 4 KiB
// over shared memory: to describe the call, to hash it and to show it to the others, and to compare the hash of what
// comes from each peer. "%" is that time in percent of the whole call's, which is measured in the same run.
func BenchmarkAgreement(b *testing.B) {
	const bytes = 4 << 10
	for _, size := range []int{2, 4} {
		b.Run(fmt.Sprintf("ranks=%d/bytes=%d", size, bytes), func(b *testing.B) {
			c := benchComm(b, size, bytes, "COLL_TRANSPORT=shm")
			defer c.Close()
			l := &benchLoop{c: c, buf: make([]float32, bytes/4)}
			if _, err := l.run(b.Context(), 4); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			t, err := l.run(b.Context(), b.N)
			b.StopTimer()
			if err != nil {
				b.Fatal(err)
			}
			agreement := compare(b, c, size-1, b.N)
			b.ReportMetric(float64(agreement.Nanoseconds())/float64(b.N), "agreement-ns/op")
			b.ReportMetric(100*agreement.Seconds()/t.reduce.Seconds(), "%")
		})
	}
}

// TestAgreementCost is the time of bar 5: of an all-reduce of 4 KiB, the comparison takes less than 1 %.
func TestAgreementCost(t *testing.T) {
	const rounds, calls, bytes = 15, 20_000, 4 << 10
	if !fasttest.Soaking() {
		t.Skip("times count only under make soak, on a machine that does nothing else")
	}
	percent := make(map[int][]float64) // by the number of ranks
	for range rounds {
		for _, size := range []int{2, 4} {
			t.Run("", func(t *testing.T) {
				c := benchComm(t, size, bytes, "COLL_TRANSPORT=shm")
				defer c.Close()
				l := &benchLoop{c: c, buf: make([]float32, bytes/4)}
				_, cold := l.run(t.Context(), calls/10)
				whole, err := l.run(t.Context(), calls)
				if err := errors.Join(cold, err); err != nil {
					t.Fatal(err)
				}
				percent[size] = append(percent[size], 100*compare(t, c, size-1, calls).Seconds()/whole.reduce.Seconds())
			})
		}
	}
	for size, all := range percent {
		slices.Sort(all)
		cost := all[len(all)/2]
		t.Logf("%d ranks: the comparison is %.2f %% of a call of %d bytes, the median of %d rounds, %.2f to %.2f",
			size, cost, bytes, len(all), all[0], all[len(all)-1])
		if cost >= 1 {
			t.Errorf("%d ranks: the comparison is %.2f %% of a call, want less than 1", size, cost)
		}
	}
}

// compare takes the time of n comparisons with so many peers, without the messages: of calls that have none, less that
// of as many Exchanges that belong to no new call. The other ranks never make these calls: c is only good for Close.
func compare(b testing.TB, c *Comm, peers, n int) time.Duration {
	r := exec.NewRequest(&allReduce, spec.TypeOf[float32](), exec.Args{Count: 1024, Op: Sum}, nil, nil)
	if err := c.exec.Prepare(&r.Prepared, nil); err != nil {
		b.Fatal(err)
	}
	desc := r.Describe()
	form := desc.Form()
	theirs, ours := make([]uint64, peers), make([]uint64, peers) // what came from each, and goes to it
	seq, differ := c.exec.Calls, 0
	exchange := func() {
		if err := c.exec.Transport.Exchange(b.Context(), nil, nil); err != nil {
			b.Fatal(err)
		}
	}
	start := time.Now()
	for range n {
		seq++
		desc.Seq = seq
		mark := wire.MarkOf(&desc, form)
		c.exec.Transport.Begin(mark)
		exchange()
		for i := range theirs {
			mine := mark.Of(nil)
			ours[i] = mine.Fingerprint
			if theirs[i] != mine.Fingerprint {
				differ++
			}
		}
	}
	middle := time.Now()
	for range n {
		exchange()
	}
	end := time.Now()
	if differ != n*peers {
		b.Fatal("the comparison was not made")
	}
	return middle.Sub(start) - end.Sub(middle)
}

func TestMain(m *testing.M) { fasttest.Main(m) }
