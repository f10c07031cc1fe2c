package scalar

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// value returns what a rank has.
func value(rank, seed int) int32 { return int32(rank*rank*7+seed*13)%5 - 2 }

// values returns what all ranks have.
func values(size, seed int) (vs []int32) {
	for rank := range size {
		vs = append(vs, value(rank, seed))
	}
	return vs
}

// sum returns the sum of vs.
func sum(vs []int32) (s int32) {
	for _, v := range vs {
		s += v
	}
	return s
}

// library is the calls that are tested.
type library struct {
	reduce map[fast.Op]func(ctx context.Context, c *fast.Comm, x int32, opts ...fast.Option) (int32, error)

	scan, exscan   func(ctx context.Context, c *fast.Comm, x int32, op fast.Op, opts ...fast.Option) (int32, error)
	broadcast      func(ctx context.Context, c *fast.Comm, x int32, root int, opts ...fast.Option) (int32, error)
	gather         func(ctx context.Context, c *fast.Comm, x int32, root int, opts ...fast.Option) ([]int32, error)
	allGather      func(ctx context.Context, c *fast.Comm, x int32, opts ...fast.Option) ([]int32, error)
	argMax, argMin func(ctx context.Context, c *fast.Comm, x int32, opts ...fast.Option) (int32, int, error)
	all, any       func(ctx context.Context, c *fast.Comm, x bool, opts ...fast.Option) (bool, error)
}

// made returns this package.
func made() *library {
	return &library{
		reduce: map[fast.Op]func(ctx context.Context, c *fast.Comm, x int32, opts ...fast.Option) (int32, error){
			fast.Sum: Sum[int32], fast.Max: Max[int32], fast.Min: Min[int32],
		},
		scan: Scan[int32], exscan: Exscan[int32], broadcast: Broadcast[int32], gather: Gather[int32],
		allGather: AllGather[int32], argMax: ArgMax[int32], argMin: ArgMin[int32], all: All, any: Any,
	}
}

// errMeaning is in the error of a call that has succeeded with a wrong result.
var errMeaning = errors.New("a wrong result")

// check makes all calls with that root, and compares their results.
func (l *library) check(ctx context.Context, c *fast.Comm, root int) (all error) {
	rank, mine, have := c.Rank(), value(c.Rank(), root), values(c.Size(), root)
	expect := func(call string, err error, got, want any) {
		if err == nil && fmt.Sprint(got) != fmt.Sprint(want) {
			err = fmt.Errorf("%w of %s on %v: %v, want %v", errMeaning, call, c, got, want)
		}
		all = errors.Join(all, err)
	}
	for _, x := range []struct {
		op   fast.Op
		want int32
	}{{fast.Sum, sum(have)}, {fast.Max, slices.Max(have)}, {fast.Min, slices.Min(have)}} {
		got, err := l.reduce[x.op](ctx, c, mine, opts...)
		expect(x.op.String(), err, got, x.want)
	}
	got, err := l.scan(ctx, c, mine, fast.Sum)
	expect("Scan", err, got, sum(have[:rank+1]))
	got, err = l.exscan(ctx, c, mine, fast.Sum)
	expect("Exscan", err, got, sum(have[:rank]))
	got, err = l.broadcast(ctx, c, mine, root)
	expect("Broadcast", err, got, have[root])
	each, err := l.gather(ctx, c, mine, root)
	if rank == root {
		expect("Gather", err, each, have)
	} else {
		expect("Gather", err, each == nil, true)
	}
	each, err = l.allGather(ctx, c, mine)
	expect("AllGather", err, each, have)
	got, at, err := l.argMax(ctx, c, mine)
	expect("ArgMax", err, []int{int(got), at}, []int{int(slices.Max(have)), slices.Index(have, slices.Max(have))})
	got, at, err = l.argMin(ctx, c, mine)
	expect("ArgMin", err, []int{int(got), at}, []int{int(slices.Min(have)), slices.Index(have, slices.Min(have))})
	for _, x := range []struct {
		mine, all, any bool
	}{{true, true, true}, {false, false, false}, {rank == root, c.Size() == 1, true}} {
		ok, err := l.all(ctx, c, x.mine)
		expect("All", err, ok, x.all)
		ok, err = l.any(ctx, c, x.mine)
		expect("Any", err, ok, x.any)
	}
	return all
}

// opts ask for nothing.
var opts = []fast.Option{{}}

// TestMeaning makes all calls, over all transports, with 1 to 9 ranks and every root.
func TestMeaning(t *testing.T) {
	for _, w := range fasttest.Worlds(fast.Init) {
		t.Run(w.Name, func(t *testing.T) {
			for size := 1; size <= 9; size++ {
				all := w.Comms(t, size)
				fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) (err error) {
					for root := range size {
						err = errors.Join(err, made().check(t.Context(), c, root))
					}
					return err
				}))
				fasttest.CloseAll(t, all)
			}
		})
	}
}

// planted are mistakes in calls.
var planted = map[string]func(l *library){
	"Max is Min":                   func(l *library) { l.reduce[fast.Max] = Min[int32] },
	"Min is Sum":                   func(l *library) { l.reduce[fast.Min] = Sum[int32] },
	"Sum is Max":                   func(l *library) { l.reduce[fast.Sum] = Max[int32] },
	"Exscan has this rank's value": func(l *library) { l.exscan = Scan[int32] },
	"Scan lacks this rank's value": func(l *library) { l.scan = Exscan[int32] },
	"Exscan keeps the value of rank 0": func(l *library) {
		l.exscan = func(ctx context.Context, c *fast.Comm, x int32, op fast.Op, _ ...fast.Option) (int32, error) {
			v := []int32{x}
			err := fast.Exscan(ctx, c, v, op)
			return v[0], err
		}
	},
	"Broadcast has another root": func(l *library) {
		l.broadcast = func(ctx context.Context, c *fast.Comm, x int32, root int, _ ...fast.Option) (int32, error) {
			return Broadcast(ctx, c, x, (root+1)%c.Size())
		}
	},
	"Gather is AllGather": func(l *library) {
		l.gather = func(ctx context.Context, c *fast.Comm, x int32, _ int, _ ...fast.Option) ([]int32, error) {
			return AllGather(ctx, c, x)
		}
	},
	"AllGather is sorted": func(l *library) {
		l.allGather = func(ctx context.Context, c *fast.Comm, x int32, _ ...fast.Option) ([]int32, error) {
			all, err := AllGather(ctx, c, x)
			slices.Sort(all)
			return all, err
		}
	},
	"All is Any":       func(l *library) { l.all = Any },
	"Any is All":       func(l *library) { l.any = All },
	"ArgMax is ArgMin": func(l *library) { l.argMax = ArgMin[int32] },
	"ArgMin has the last rank": func(l *library) {
		l.argMin = func(ctx context.Context, c *fast.Comm, x int32, _ ...fast.Option) (int32, int, error) {
			all, err := AllGather(ctx, c, x)
			least, rank := all[0], 0
			for r, x := range all {
				if x <= least {
					least, rank = x, r
				}
			}
			return least, rank, err
		}
	},
}

// TestPlanted: the comparison of results sees each mistake.
func TestPlanted(t *testing.T) {
	for name, plant := range planted {
		wrong := made()
		plant(wrong)
		if err := fast.Run(t.Context(), 6, func(ctx context.Context, c *fast.Comm) (err error) {
			for root := range c.Size() {
				err = errors.Join(err, wrong.check(ctx, c, root))
			}
			return err
		}); !errors.Is(err, errMeaning) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNaN: a NaN is the largest value only where there is no number, and then the smallest one.
func TestNaN(t *testing.T) {
	nan := math.NaN()
	for _, x := range []struct {
		have       []float64
		most, from int
	}{{[]float64{nan, 1, 2, nan}, 2, 0}, {[]float64{math.Inf(-1), nan, nan}, 0, 1}, {[]float64{nan, nan}, 0, 0}} {
		if err := fast.Run(t.Context(), len(x.have), func(ctx context.Context, c *fast.Comm) error {
			_, most, err := ArgMax(ctx, c, x.have[c.Rank()])
			_, from, err2 := ArgMin(ctx, c, x.have[c.Rank()])
			if most != x.most || from != x.from {
				return fmt.Errorf("%v: the largest is of rank %d, and the smallest of rank %d", x.have, most, from)
			}
			return errors.Join(err, err2)
		}); err != nil {
			t.Error(err)
		}
	}
}

// errorsOf returns the errors of all calls with an option.
func errorsOf(ctx context.Context, c *fast.Comm, opt fast.Option) (all []error) {
	add := func(_ any, err error) { all = append(all, err) }
	add(AllReduce(ctx, c, 1, fast.Sum, opt))
	add(Sum(ctx, c, 1, opt))
	add(Max(ctx, c, 1, opt))
	add(Min(ctx, c, 1, opt))
	add(All(ctx, c, true, opt))
	add(Any(ctx, c, true, opt))
	add(Scan(ctx, c, 1, fast.Sum, opt))
	add(Exscan(ctx, c, 1, fast.Sum, opt))
	add(Broadcast(ctx, c, 1, 0, opt))
	add(Gather(ctx, c, 1, 0, opt))
	add(AllGather(ctx, c, 1, opt))
	_, _, most := ArgMax(ctx, c, 1, opt)
	_, _, least := ArgMin(ctx, c, 1, opt)
	return append(all, most, least)
}

// TestRefused: what package fast refuses is refused here.
func TestRefused(t *testing.T) {
	if err := fast.Run(t.Context(), 2, func(ctx context.Context, c *fast.Comm) error {
		_, complexMax := Max(ctx, c, 1i)
		_, root := Gather(ctx, c, 1, 2)
		_, from := Broadcast(ctx, c, 1, -1)
		_, _, algorithm := ArgMax(ctx, c, 1, fast.WithAlgorithm("none"))
		_, nobody := AllGather[int](ctx, nil, 1)
		for i, err := range errorsOf(ctx, c, fast.WithAlgorithm("none")) {
			if !errors.Is(err, fast.ErrInvalidArgument) {
				return fmt.Errorf("call %d has no such algorithm: %v", i, err)
			}
		}
		for i, err := range []error{complexMax, root, from, algorithm, nobody} {
			if !errors.Is(err, fast.ErrInvalidArgument) {
				return fmt.Errorf("%d: %v", i, err)
			}
		}
		return made().check(ctx, c, 0)
	}); err != nil {
		t.Error(err)
	}
}
