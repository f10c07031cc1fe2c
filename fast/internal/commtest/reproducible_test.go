package commtest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/ref"
	"github.com/collgen/collgen/spec/spectest"
)

// TestReproducible compares the sums of 1 to 17 ranks with the exact ones: whatever the transport, the algorithm, the
// number of elements, and the ranks that have the operands. At least 10,000 sums are compared.
func TestReproducible(t *testing.T) {
	compared := 0
	for _, w := range worlds {
		sizes := []int{1, 2, 3, 5, 8, 17}
		if w.Name == "goroutines" {
			sizes = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}
		}
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s/%d", w.Name, size), func(t *testing.T) {
				all := w.Comms(t, size)
				defer fasttest.CloseAll(t, all)
				random := rand.New(rand.NewPCG(7, uint64(size)))
				compared += compareSums[float32](t, all, random, 33)
				compared += compareSums[float64](t, all, random, 33)
				compared += compareSums[fast.BFloat16](t, all, random, 2*size-1)
				compared += compareSums[fast.Float16](t, all, random, 1)
				compared += compareSums[fast.Float8E4M3](t, all, random, 3)
				compared += compareSums[fast.Float8E5M2](t, all, random, 3)
				compared += compareSums[complex64](t, all, random, 7)
			})
		}
	}
	if compared < 10_000 {
		t.Errorf("%d sums were compared", compared)
	}
}

// floats are the elements whose sums depend on an order.
type floats interface {
	fast.Float8E4M3 | fast.Float8E5M2 | fast.Float16 | fast.BFloat16 | float32 | float64 | complex64 | complex128
}

// compareSums makes every call that reduces, of so many elements for each rank, and returns how many sums it compared.
func compareSums[T floats](t *testing.T, all []*fast.Comm, random *rand.Rand, count int) (compared int) {
	t.Helper()
	ctx, size, n := t.Context(), len(all), count*len(all)
	operands, value := make([][]T, size), spectest.Values[T](random, spectest.Mixed)
	for i := range operands {
		operands[i] = make([]T, n)
		for j := range operands[i] {
			operands[i][j] = value()
		}
		if i%2 == 1 && random.IntN(2) == 0 { // what cancels
			for j := range operands[i] {
				operands[i][j] = ref.ExactSum(operands[i-1][j], operands[i][j])
			}
		}
	}
	for _, op := range []fast.Op{fast.Sum, fast.Avg} {
		turn := random.IntN(size) // who has which operand
		// sumOf returns the exact sums of the operands of ranks 0..ranks-1.
		sumOf := func(ranks int) []T {
			sums, xs := make([]T, n), make([]T, ranks)
			for j := range sums {
				for r := range xs {
					xs[r] = operands[(r+turn)%size][j]
				}
				if sums[j] = xs[0]; ranks > 1 {
					sums[j] = ref.ExactSum(xs...)
				}
				sums[j] = ref.Finish(op, sums[j], size)
			}
			return sums
		}
		want := sumOf(size)
		counts := make([]int, size) // uneven ones: all that a rank does not take, the next one does
		for i := range counts {
			counts[i] = count + (i%2*2-1)*(count/2)
		}
		counts[size-1] += n - sum(counts)
		for name, call := range map[string]func(c *fast.Comm, mine []T, opt fast.Option) (got, want []T, err error){
			"AllReduce": func(c *fast.Comm, mine []T, opt fast.Option) ([]T, []T, error) {
				return mine, want, fast.AllReduce(ctx, c, mine, op, opt)
			},
			"AllReduce one-shot": func(c *fast.Comm, mine []T, opt fast.Option) ([]T, []T, error) {
				return mine, want, fast.AllReduce(ctx, c, mine, op, opt, fast.WithAlgorithm("one-shot"))
			},
			"AllReduce two-shot": func(c *fast.Comm, mine []T, opt fast.Option) ([]T, []T, error) {
				return mine, want, fast.AllReduce(ctx, c, mine, op, fast.WithAlgorithm("two-shot"), opt)
			},
			"Reduce": func(c *fast.Comm, mine []T, opt fast.Option) ([]T, []T, error) {
				dst := make([]T, n)
				if c.Rank() != size-1 {
					return nil, nil, fast.ReduceInto(ctx, c, nil, mine, op, size-1, opt)
				}
				return dst, want, fast.ReduceInto(ctx, c, dst, mine, op, size-1, opt)
			},
			"ReduceScatter": func(c *fast.Comm, mine []T, opt fast.Option) ([]T, []T, error) {
				dst := make([]T, count)
				return dst, want[c.Rank()*count:][:count], fast.ReduceScatterInto(ctx, c, dst, mine, op, opt)
			},
			"ReduceScatterV": func(c *fast.Comm, mine []T, opt fast.Option) ([]T, []T, error) {
				dst := make([]T, counts[c.Rank()])
				return dst, want[sum(counts[:c.Rank()]):][:len(dst)],
					fast.ReduceScatterVInto(ctx, c, dst, mine, fast.Blocks{Counts: counts}, op, opt)
			},
			"Scan": func(c *fast.Comm, mine []T, opt fast.Option) ([]T, []T, error) {
				return mine, sumOf(c.Rank() + 1), fast.Scan(ctx, c, mine, op, opt)
			},
			"Exscan": func(c *fast.Comm, mine []T, opt fast.Option) ([]T, []T, error) {
				if c.Rank() == 0 {
					return nil, nil, fast.ExscanInto(ctx, c, nil, mine, op, opt)
				}
				return mine, sumOf(c.Rank()), fast.Exscan(ctx, c, mine, op, opt)
			},
		} {
			if size == 1 && strings.Contains(name, "shot") {
				continue
			}
			fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
				got, want, err := call(c, append([]T{}, operands[(c.Rank()+turn)%size]...), fast.Reproducible())
				if err != nil {
					return err
				}
				return sameSums(name, got, want)
			}))
			compared += n
		}
	}
	return compared
}

func sum(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// sameSums compares sums to the bit, but for which NaN they are.
func sameSums[T floats](what string, got, want []T) error {
	for i := range got {
		g, w := fmt.Sprint(got[i]), fmt.Sprint(want[i])
		if string(exec.Bytes(got[i:i+1])) != string(exec.Bytes(want[i:i+1])) && (g != w || !strings.Contains(g, "NaN")) {
			return fmt.Errorf("%s of %T: element %d of %d is %v, want %v", what, got[i], i, len(got), g, w)
		}
	}
	return nil
}

// TestReproducibleJob: a job in which all sums are reproducible, and what is refused.
func TestReproducibleJob(t *testing.T) {
	for _, w := range fasttest.Worlds(fast.Init, fast.WithReproducible()) {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 3)
			defer fasttest.CloseAll(t, all)
			fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
				x := []float64{[]float64{1e300, 1, -1e300}[c.Rank()]}
				if err := fast.AllReduce(t.Context(), c, x, fast.Sum); err != nil || x[0] != 1 {
					return fmt.Errorf("the sum is %v: %w", x[0], err)
				}
				if err := fast.AllReduce(t.Context(), c, x, fast.Prod); !errors.Is(err, fast.ErrInvalidArgument) {
					return fmt.Errorf("a product: %v", err)
				}
				if err := fast.AllReduce(t.Context(), c, []int32{2}, fast.Prod); err != nil {
					return err
				}
				n := []int32{2} // all algorithms have the same sum of integers
				if err := fast.AllReduce(t.Context(), c, n, fast.Sum, fast.WithAlgorithm("ring")); err != nil || n[0] != 6 {
					return fmt.Errorf("of integers around the ring: %d, %w", n[0], err)
				}
				err := fast.AllReduce(t.Context(), c, x, fast.Sum, fast.WithAlgorithm("ring"))
				if !errors.Is(err, fast.ErrInvalidArgument) || !strings.Contains(err.Error(), "op reproducible sum") {
					return fmt.Errorf("around the ring: %v", err)
				}
				x[0] = math.Copysign(0, -1)
				if err := fast.AllReduce(t.Context(), c, x, fast.Sum); err != nil || !math.Signbit(x[0]) {
					return fmt.Errorf("the sum of three -0 is %v: %w", x[0], err)
				}
				return nil
			}))
		})
	}
}

// TestReproducibleDisagreement: where only some ranks want a reproducible sum, all learn so.
func TestReproducibleDisagreement(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 2)
			for rank, err := range fasttest.OnAll(all, func(c *fast.Comm) error {
				defer c.Close()
				opts := []fast.Option{fast.WithAlgorithm("one-shot"), fast.Reproducible()}
				return fast.AllReduce(t.Context(), c, []float32{1}, fast.Sum, opts[:1+c.Rank()]...)
			}) {
				var m *fast.MismatchError
				if !errors.As(err, &m) || m.Rank != 1-rank || m.Field != "op" ||
					!strings.Contains(err.Error(), "reproducible sum") {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
		})
	}
}

// TestReproducibleExplained: Explain says which algorithm a reproducible sum gets, in a job of which all are, too.
func TestReproducibleExplained(t *testing.T) {
	want := map[string][]string{"AllReduce": {"one-shot", "two-shot"}, "Reduce": {"linear"}, "ReduceScatter": {"direct"},
		"ReduceScatterV": {"direct"}, "Scan": {"direct"}, "Exscan": {"direct"}}
	for _, job := range [][]fast.InitOption{nil, {fast.WithReproducible()}} {
		var opts []fast.Option
		if job == nil {
			opts = append(opts, fast.Reproducible())
		}
		w := fasttest.Worlds(fast.Init, job...)[1]
		all := w.Comms(t, 3)
		for name, algorithms := range want {
			for _, bytes := range []int{8, 64 << 10, 16 << 20} {
				x, err := fast.Explain(all[0], fast.Query{Collective: name, Bytes: bytes, Op: fast.Sum}, opts...)
				if err != nil || !slices.Contains(algorithms, x.Algorithm) ||
					x.Rules[len(x.Rules)-1].Rule.Algorithm != x.Algorithm { // the reason
					t.Errorf("%s, %s of %d bytes: %v, %v", w.Name, name, bytes, x, err)
				}
			}
		}
		fasttest.CloseAll(t, all)
	}
}

// TestReproducibleByTurns: the option counts for its call alone, whatever was called before.
func TestReproducibleByTurns(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 3)
			defer fasttest.CloseAll(t, all)
			fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
				oneShot := fast.WithAlgorithm("one-shot")
				for i, opts := range [][]fast.Option{{fast.Reproducible()}, {}, {fast.Reproducible(), oneShot}, {oneShot},
					{fast.Reproducible()}, {}} {
					x := []float64{[]float64{1, 0x1p-53, 0x1p-110}[c.Rank()]} // whose ordinary sum is 1, in any order
					want := []float64{math.Nextafter(1, 2), 1}[i%2]
					if err := fast.AllReduce(t.Context(), c, x, fast.Sum, opts...); err != nil || x[0] != want {
						return fmt.Errorf("the sum of call %d is %v, want %v: %w", i, x[0], want, err)
					}
				}
				err := fast.AllReduce(t.Context(), c, []float64{1}, fast.Prod, fast.Reproducible())
				if !errors.Is(err, fast.ErrInvalidArgument) || !strings.Contains(err.Error(), "is not reproducible") {
					return fmt.Errorf("a product: %v", err)
				}
				return nil
			}))
		})
	}
}
