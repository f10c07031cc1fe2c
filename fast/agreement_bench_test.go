//go:build linux

package fast

import (
	"fmt"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// BenchmarkAgreement is what it costs a rank that the arguments of all ranks are compared, in an all-reduce of 4 KiB over
// shared memory: to describe the call, to hash it and to show it to the others, and to compare the hash of what comes
// from each peer. "%" is that time in percent of the whole call's, which is measured in the same run.
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
			agreement := compare(b, c, size-1)
			b.ReportMetric(float64(agreement.Nanoseconds())/float64(b.N), "agreement-ns/op")
			b.ReportMetric(100*agreement.Seconds()/t.reduce.Seconds(), "%")
		})
	}
}

// compare takes the time of b.N comparisons with so many peers, without the messages. The calls that it shows to the
// others are never made: c is only good for Close.
func compare(b *testing.B, c *Comm, peers int) time.Duration {
	r := &request{form: form{k: &allReduce, t: spec.TypeOf[float32](), args: Args{Count: 1024, Op: Sum}}}
	if err := c.prepare(r, nil); err != nil {
		b.Fatal(err)
	}
	theirs := make([]uint64, peers) // what came from each
	seq, differ := c.calls, 0
	start := time.Now()
	for range b.N {
		seq++
		c.describe(r, seq)
		c.transport.Begin(&c.desc)
		mine := wire.Mark{Call: &c.desc, Fingerprint: seq}.Of(nil) // as for each message
		for _, fingerprint := range theirs {
			if fingerprint != mine.Fingerprint {
				differ++
			}
		}
	}
	took := time.Since(start)
	if differ != b.N*peers {
		b.Fatal("the comparison was not made")
	}
	return took
}
