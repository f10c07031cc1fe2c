package commtest

import (
	"errors"
	"sync"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// BenchmarkPersistent is an all-reduce of 8 bytes between 2 ranks over shared memory, made by the function or
// persistent: one call again and again ("alike"), two of different lengths in turn, and one with a label.
func BenchmarkPersistent(b *testing.B) {
	for _, kind := range []string{"alike", "in turn", "labelled"} {
		for _, persistent := range []bool{false, true} {
			name := kind + "/ordinary"
			if persistent {
				name = kind + "/persistent"
			}
			b.Run(name, func(b *testing.B) { benchmarkPersistent(b, kind, persistent) })
		}
	}
}

func benchmarkPersistent(b *testing.B, kind string, persistent bool) {
	for _, w := range worlds {
		if w.Name != "shm" {
			continue
		}
		all := w.Comms(b, 2)
		defer fasttest.OnAll(all, func(c *fast.Comm) error { return c.Close() })
		b.ReportAllocs()
		b.ResetTimer()
		var ranks sync.WaitGroup
		for _, c := range all {
			ranks.Go(func() {
				ctx, a, z := b.Context(), []float32{1, 2}, []float64{1}
				opts := []fast.Option{{}, {}}
				if kind == "labelled" {
					opts[0] = fast.WithLabel("layers.3.weight")
				}
				calls := []func(opts []fast.Option) error{
					func(opts []fast.Option) error { return fast.AllReduce(ctx, c, a, fast.Min, opts...) },
					func(opts []fast.Option) error { return fast.AllReduce(ctx, c, z, fast.Min, opts...) },
				}
				n := 1
				if kind == "in turn" {
					n = 2
				}
				if kind != "labelled" {
					opts = opts[:0]
				}
				var made [2]*fast.Persistent
				var err error
				for i := range n {
					p, e := c.Prepare(func(opt fast.Option) error {
						return calls[i](append(opts[:len(opts):len(opts)], opt))
					})
					made[i], err = p, errors.Join(err, e)
				}
				for i := range b.N {
					if persistent {
						err = errors.Join(err, made[i%n].Do(ctx))
					} else {
						err = errors.Join(err, calls[i%n](opts))
					}
				}
				if err != nil {
					b.Error(err)
				}
			})
		}
		ranks.Wait()
	}
}
