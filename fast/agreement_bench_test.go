//go:build linux

package fast

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/exec"

	"github.com/collgen/collgen/spec"
)

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
	if !soaking() {
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
	r := &exec.Request{Form: exec.Form{Collective: &allReduce, Type: spec.TypeOf[float32](), Args: exec.Args{Count: 1024, Op: Sum}}}
	if err := c.exec.Prepare(r, nil); err != nil {
		b.Fatal(err)
	}
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
		c.exec.Describe(r, seq)
		c.exec.Transport.Begin(c.exec.Mark)
		exchange()
		for i := range theirs {
			mine := c.exec.Mark.Of(nil)
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
