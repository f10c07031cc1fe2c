//go:build linux

package fast

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// copiedFrom is from how many bytes on copies are measured: fewer stay in a cache.
const copiedFrom = 16 << 20

func init() { roles["bench"] = benchPeer }

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
	j := newJob(b, size, fmt.Sprint("bench ", bytes))
	j.with = with
	j.start(1, size)
	for _, variable := range j.env(0) {
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
