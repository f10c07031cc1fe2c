package commtest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// compose is associative and not commutative: an element is the map x -> ax+b of numbers of 32 bits, with a in the
// upper half, and the map of lower ranks comes first.
func compose(dst, a, b []uint64) {
	for i := range dst {
		first, then := a[i], b[i]
		dst[i] = first>>32*(then>>32)<<32 | (then>>32*first+then)&math.MaxUint32
	}
}

// newOp returns an op that is declared once for all tests.
func newOp[T fast.Elem](name string, commutative bool, combine func(dst, a, b []T)) fast.Op {
	op, err := fast.NewOp(name, commutative, combine)
	if err != nil {
		panic(err)
	}
	return op
}

var (
	composeOp = newOp("compose", false, compose)
	absMaxOp  = newOp("absmax", true, func(dst, a, b []float32) {
		for i := range dst {
			dst[i] = max(float32(math.Abs(float64(a[i]))), float32(math.Abs(float64(b[i]))))
		}
	})
)

// maps returns the operand of a rank.
func maps(rank, n int) []uint64 {
	xs := make([]uint64, n)
	for i := range xs {
		xs[i] = uint64(2*(rank*31+i)+3)<<32 | uint64(rank*1009+i*7+1)
	}
	return xs
}

// composed returns the maps of ranks 0..ranks-1, one after the other.
func composed(ranks, n int) []uint64 {
	all := maps(0, n)
	for r := 1; r < ranks; r++ {
		compose(all, all, maps(r, n))
	}
	return all
}

// TestNewOp compares an op that is not commutative with one rank after the other, by every algorithm of every call that
// reduces. Those that need a commutative op are refused.
func TestNewOp(t *testing.T) {
	ran := map[string]int{}
	for _, w := range worlds {
		for _, size := range []int{1, 2, 3, 4, 5, 8} {
			t.Run(fmt.Sprintf("%s/%d", w.Name, size), func(t *testing.T) {
				all := w.Comms(t, size)
				defer fasttest.CloseAll(t, all)
				for _, count := range []int{1, 7, 5000} {
					for name, call := range composing(t, size, count) {
						primitive, _, _ := strings.Cut(name, " ")
						for _, algorithm := range append([]string{""}, fast.Algorithms(primitive)...) {
							var opts []fast.Option
							if algorithm != "" {
								opts = append(opts, fast.WithAlgorithm(algorithm))
							}
							refused := make([]bool, size)
							fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
								got, want, err := call(c, opts)
								if refused[c.Rank()] = algorithm != "" && errors.Is(err, fast.ErrInvalidArgument); err != nil {
									if refused[c.Rank()] {
										return nil
									}
									return err
								}
								if !slices.Equal(got, want) {
									return fmt.Errorf("%s by %q of %d elements is wrong", name, algorithm, count)
								}
								return nil
							}))
							if !refused[0] {
								ran[primitive]++
							}
						}
					}
				}
			})
		}
	}
	for _, primitive := range []string{"AllReduce", "Reduce", "ReduceScatter", "ReduceScatterV", "Scan", "Exscan"} {
		if ran[primitive] < 100 {
			t.Errorf("%s ran %d times", primitive, ran[primitive])
		}
	}
}

// composing returns calls that reduce count maps of each rank by compose, or of each block. They return what a rank has
// then, and what it should have.
func composing(t *testing.T, size, count int) map[string]func(c *fast.Comm, opts []fast.Option) (got, want []uint64,
	err error) {
	ctx := t.Context()
	counts := make([]int, size)
	for i := range counts {
		counts[i] = count + i%2
	}
	return map[string]func(c *fast.Comm, opts []fast.Option) ([]uint64, []uint64, error){
		"AllReduce": func(c *fast.Comm, opts []fast.Option) ([]uint64, []uint64, error) {
			x := maps(c.Rank(), count)
			return x, composed(size, count), fast.AllReduce(ctx, c, x, composeOp, opts...)
		},
		"AllReduce into": func(c *fast.Comm, opts []fast.Option) ([]uint64, []uint64, error) {
			x := make([]uint64, count)
			return x, composed(size, count), fast.AllReduceInto(ctx, c, x, maps(c.Rank(), count), composeOp, opts...)
		},
		"Reduce": func(c *fast.Comm, opts []fast.Option) ([]uint64, []uint64, error) {
			root, x := size/2, maps(c.Rank(), count)
			if err := fast.Reduce(ctx, c, x, composeOp, root, opts...); err != nil || c.Rank() != root {
				return nil, nil, err
			}
			return x, composed(size, count), nil
		},
		"ReduceScatter": func(c *fast.Comm, opts []fast.Option) ([]uint64, []uint64, error) {
			x := make([]uint64, count)
			return x, composed(size, size*count)[c.Rank()*count:][:count],
				fast.ReduceScatterInto(ctx, c, x, maps(c.Rank(), size*count), composeOp, opts...)
		},
		"ReduceScatterV": func(c *fast.Comm, opts []fast.Option) ([]uint64, []uint64, error) {
			n := sum(counts)
			x := make([]uint64, counts[c.Rank()])
			return x, composed(size, n)[sum(counts[:c.Rank()]):][:len(x)], fast.ReduceScatterVInto(ctx, c, x,
				maps(c.Rank(), n), fast.Blocks{Counts: counts}, composeOp, opts...)
		},
		"Scan": func(c *fast.Comm, opts []fast.Option) ([]uint64, []uint64, error) {
			x := maps(c.Rank(), count)
			return x, composed(c.Rank()+1, count), fast.Scan(ctx, c, x, composeOp, opts...)
		},
		"Exscan": func(c *fast.Comm, opts []fast.Option) ([]uint64, []uint64, error) {
			if c.Rank() == 0 {
				return nil, nil, fast.ExscanInto(ctx, c, nil, maps(0, count), composeOp, opts...)
			}
			x := make([]uint64, count)
			return x, composed(c.Rank(), count), fast.ExscanInto(ctx, c, x, maps(c.Rank(), count), composeOp, opts...)
		},
	}
}

// TestNewOpBucket: a bucket reduces by an op of one's own, which may take algorithms for commutative ones.
func TestNewOpBucket(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 3)
			defer fasttest.CloseAll(t, all)
			fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
				b, err := fast.NewBucket[float32](c, absMaxOp, 64)
				if err != nil {
					return err
				}
				for n := 1; n < 40; n++ {
					x := make([]float32, n)
					for i := range x {
						x[i] = float32((i+c.Rank())%3 - 3)
					}
					if err := b.Add(t.Context(), x); err != nil {
						return err
					}
					if err := b.Wait(t.Context()); err != nil {
						return err
					}
					if i := slices.IndexFunc(x, func(v float32) bool { return v != 3 }); i >= 0 {
						return fmt.Errorf("element %d of %d is %v", i, n, x[i])
					}
				}
				return fast.AllReduce(t.Context(), c, []float32{1}, absMaxOp, fast.WithAlgorithm("ring"))
			}))
		})
	}
}

// TestNewOpDisagreement: ranks compare the names of their ops, also with one that is specified, and whether they are
// commutative.
func TestNewOpDisagreement(t *testing.T) {
	inOrder := newOp("absmax3", false, func(dst, a, b []float32) { copy(dst, a) })
	other := newOp("absmax2", true, func(dst, a, b []float32) { copy(dst, a) })
	for _, w := range worlds {
		for _, theirs := range []fast.Op{other, fast.Max, inOrder} {
			t.Run(fmt.Sprintf("%s/%v", w.Name, theirs), func(t *testing.T) {
				for rank, err := range fasttest.OnAll(w.Comms(t, 2), func(c *fast.Comm) error {
					defer c.Close()
					op := []fast.Op{absMaxOp, theirs}[c.Rank()]
					return fast.AllReduce(t.Context(), c, []float32{1}, op, fast.WithAlgorithm("one-shot"))
				}) {
					var m *fast.MismatchError
					if !errors.As(err, &m) || m.Rank != 1-rank || !strings.Contains(err.Error(), `AllReduce absmax`) ||
						strings.Contains(err.Error(), "AllReduce absmax3 in order") != (theirs == inOrder) {
						t.Errorf("rank %d: %v", rank, err)
					}
				}
			})
		}
	}
}

// TestNewOpRefused: what is no op, and what an op does not take, is refused, and calls go on.
func TestNewOpRefused(t *testing.T) {
	nothing := func(dst, a, b []int8) {}
	for name, try := range map[string]func() (fast.Op, error){
		"no name":      func() (fast.Op, error) { return fast.NewOp("", true, nothing) },
		"a long name":  func() (fast.Op, error) { return fast.NewOp(strings.Repeat("x", 21), true, nothing) },
		"a line break": func() (fast.Op, error) { return fast.NewOp("a\nb", true, nothing) },
		"no function":  func() (fast.Op, error) { return fast.NewOp[int8]("nil", true, nil) },
		"the name sum": func() (fast.Op, error) { return fast.NewOp("sum", true, nothing) },
		"a name twice": func() (fast.Op, error) { return fast.NewOp("compose", false, compose) },
	} {
		if op, err := try(); op != 0 || !errors.Is(err, fast.ErrInvalidArgument) {
			t.Errorf("%s: %v, %v", name, op, err)
		}
	}
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 2)
			defer fasttest.CloseAll(t, all)
			fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
				x := []float32{float32(c.Rank() - 3)}
				for name, err := range map[string]error{
					"another type":    fast.AllReduce(t.Context(), c, []float64{1}, absMaxOp),
					"a number":        fast.AllReduce(t.Context(), c, x, fast.Op(200)),
					"not declared":    fast.AllReduce(t.Context(), c, x, fast.Op(127)),
					"reproducible":    fast.AllReduce(t.Context(), c, x, absMaxOp, fast.Reproducible()),
					"not commutative": fast.AllReduce(t.Context(), c, []uint64{1}, composeOp, fast.WithAlgorithm("ring")),
				} {
					if !errors.Is(err, fast.ErrInvalidArgument) {
						return fmt.Errorf("%s: %v", name, err)
					}
				}
				q := fast.Query{Collective: "AllReduce", Bytes: 8, Op: composeOp}
				if x, err := fast.Explain(c, q); err != nil || x.Op != "compose" {
					return fmt.Errorf("explained: %v: %w", x, err)
				}
				if err := fast.AllReduce(t.Context(), c, x, absMaxOp); err != nil || x[0] != 3 {
					return fmt.Errorf("the largest is %v: %w", x[0], err)
				}
				return nil
			}))
		})
	}
}
