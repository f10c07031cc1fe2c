package commtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// repeated is a call that is made many times with the same buffers.
type repeated struct {
	call  func(opts ...fast.Option) error
	fill  func(turn int) // writes what the call reads
	check func(turn int) error
}

// repeatedCalls returns calls of different kinds, with n elements and of c, in place and not.
func repeatedCalls(ctx context.Context, c *fast.Comm, n int) []repeated {
	size, rank := c.Size(), c.Rank()
	value := func(turn, rank int) int32 { return int32(turn*100 + rank + 1) }
	total := func(turn int) (s int32) {
		for r := range size {
			s += value(turn, r)
		}
		return s
	}
	all := func(what string, got []int32, want int32) error {
		if i := slices.IndexFunc(got, func(x int32) bool { return x != want }); i >= 0 {
			return fmt.Errorf("%s: element %d is %d, want %d", what, i, got[i], want)
		}
		return nil
	}
	set := func(xs []int32, x int32) {
		for i := range xs {
			xs[i] = x
		}
	}
	sums, src, dst := make([]int32, n), make([]int32, 2*n+1), make([]int32, 2*n+1)
	blocks := make([]int32, n*size+size/2)
	counts := make([]int, size)
	for r := range counts {
		counts[r] = n + r%2
	}
	mine := blocks[sum(counts[:rank]):][:counts[rank]]
	root := make([]int32, n)
	list := []repeated{
		{func(opts ...fast.Option) error { return fast.AllReduce(ctx, c, sums, fast.Sum, opts...) },
			func(turn int) { set(sums, value(turn, rank)) },
			func(turn int) error { return all("AllReduce", sums, total(turn)) }},
		{func(opts ...fast.Option) error { return fast.AllReduceInto(ctx, c, dst, src, fast.Max, opts...) },
			func(turn int) { set(src, value(turn, rank)) },
			func(turn int) error { return all("AllReduceInto", dst, value(turn, size-1)) }},
		{func(opts ...fast.Option) error {
			return fast.AllGatherV(ctx, c, blocks, fast.Blocks{Counts: counts}, append(opts, fast.WithLabel("blocks"))...)
		},
			func(turn int) { set(mine, value(turn, rank)) },
			func(turn int) (err error) {
				for r := range size {
					err = errors.Join(err, all("AllGatherV", blocks[sum(counts[:r]):][:counts[r]], value(turn, r)))
				}
				return err
			}},
		{func(opts ...fast.Option) error { return fast.Broadcast(ctx, c, root, size-1, opts...) },
			func(turn int) { set(root, value(turn, rank)) },
			func(turn int) error { return all("Broadcast", root, value(turn, size-1)) }},
		{func(opts ...fast.Option) error { return fast.Barrier(ctx, c, opts...) }, func(int) {},
			func(int) error { return nil }},
	}
	if rank < 2 && size > 1 {
		between := make([]int32, n)
		list = append(list, repeated{func(opts ...fast.Option) error {
			if rank == 0 {
				return fast.Send(ctx, c, between, 1, opts...)
			}
			return fast.Recv(ctx, c, between, 0, opts...)
		}, func(turn int) { set(between, value(turn, rank)) },
			func(turn int) error { return all("Send", between, value(turn, 0)) }})
	}
	return list
}

// TestPersistent makes calls in turn: on rank 0 by the functions, on the others prepared, and by turns done or started.
func TestPersistent(t *testing.T) {
	for _, w := range worlds {
		for _, size := range []int{1, 2, 3, 5} {
			t.Run(fmt.Sprintf("%s/%d", w.Name, size), func(t *testing.T) {
				comms := w.Comms(t, size)
				defer fasttest.CloseAll(t, comms)
				fasttest.CheckErrors(t, fasttest.OnAll(comms, func(c *fast.Comm) error {
					ctx := t.Context()
					calls := slices.Concat(repeatedCalls(ctx, c, 1), repeatedCalls(ctx, c, 3000))
					prepared := make([]*fast.Persistent, len(calls))
					for i, x := range calls {
						var err error
						if prepared[i], err = c.Prepare(func(opt fast.Option) error { return x.call(opt) }); err != nil {
							return err
						}
					}
					for turn := range 12 {
						for i, x := range calls {
							x.fill(turn)
							err := error(nil)
							switch p := prepared[i]; {
							case c.Rank() == 0 && size > 1:
								if i == 0 && turn%4 == 3 {
									err = fast.Barrier(ctx, c)
								}
								err = errors.Join(err, x.call())
							case i == 0 && turn%4 == 3: // behind a call that was started
								h := fast.StartBarrier(ctx, c)
								err = errors.Join(p.Do(ctx), h.Wait(ctx))
							case turn%3 == 2:
								err = errors.Join(p.Start(ctx), p.Wait(ctx))
							default:
								err = p.Do(ctx)
							}
							if err = errors.Join(err, x.check(turn)); err != nil {
								return fmt.Errorf("turn %d: %w", turn, err)
							}
						}
					}
					return nil
				}))
			})
		}
	}
}

// TestPersistentRefused: what cannot be prepared, or made, is refused, and calls go on.
func TestPersistentRefused(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 2)
			defer fasttest.CloseAll(t, all)
			fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
				ctx, x := t.Context(), []int32{1}
				other, err := c.Dup(ctx)
				if err != nil {
					return err
				}
				defer other.Close()
				reduce := func(opt fast.Option) error { return fast.AllReduce(ctx, c, x, fast.Sum, opt) }
				for want, call := range map[string]func(opt fast.Option) error{
					"call is nil":                 nil,
					"to no function":              func(fast.Option) error { return nil },
					"on another communicator":     func(opt fast.Option) error { return fast.Barrier(ctx, other, opt) },
					"a call was prepared before":  func(opt fast.Option) error { return errors.Join(reduce(opt), reduce(opt)) },
					"none of the ops":             func(opt fast.Option) error { return fast.AllReduce(ctx, c, x, 0, opt) },
					"an option is not a label":    func(opt fast.Option) error { return fast.MonitoredBarrier(ctx, c, opt) },
					"prepare a Send and a Recv":   func(opt fast.Option) error { return fast.SendRecvReplace(ctx, c, x, 1, 0, opt) },
					"started by Persistent.Start": func(opt fast.Option) error { return fast.StartBarrier(ctx, c, opt).Wait(ctx) },
				} {
					p, err := c.Prepare(call)
					if p != nil || !errors.Is(err, fast.ErrInvalidArgument) || !strings.Contains(err.Error(), want) {
						return fmt.Errorf("%s: %v, %v", want, p, err)
					}
				}
				p, err := c.Prepare(reduce)
				if err != nil {
					return err
				}
				var none context.Context
				for want, err := range map[string]error{
					"was not returned by Prepare": errors.Join(new(fast.Persistent).Do(ctx)),
					"was not started":             p.Wait(ctx),
					"the context is nil":          p.Do(none),
				} {
					if !errors.Is(err, fast.ErrInvalidArgument) || !strings.Contains(err.Error(), want) {
						return fmt.Errorf("%s: %v", want, err)
					}
				}
				if err := p.Start(ctx); err != nil {
					return err
				}
				if err := p.Do(ctx); !errors.Is(err, fast.ErrInvalidArgument) {
					return fmt.Errorf("while it is on its way: %v", err)
				}
				if err := p.Wait(ctx); err != nil || x[0] != 2 {
					return fmt.Errorf("the sum is %d: %w", x[0], err)
				}
				return p.Do(ctx)
			}))
		})
	}
}

// TestPersistentWait: a Wait whose context ends leaves the call on its way, and so it cannot be made again.
func TestPersistentWait(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 2)
			defer fasttest.CloseAll(t, all)
			refused := make(chan struct{})
			fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
				x := []int32{1}
				p, err := c.Prepare(func(opt fast.Option) error { return fast.AllReduce(t.Context(), c, x, fast.Sum, opt) })
				if err != nil {
					return err
				}
				if c.Rank() == 0 {
					<-refused
					return p.Do(t.Context())
				}
				defer close(refused)
				over, cancel := context.WithCancel(t.Context())
				cancel()
				if err := p.Start(t.Context()); err != nil {
					return err
				}
				if err := p.Wait(over); !errors.Is(err, context.Canceled) {
					return fmt.Errorf("a Wait that is over: %v", err)
				}
				for what, again := range map[string]func(context.Context) error{"Do": p.Do, "Start": p.Start} {
					if err := again(t.Context()); !errors.Is(err, fast.ErrInvalidArgument) {
						return fmt.Errorf("%s of a call on its way: %v", what, err)
					}
				}
				return nil
			}))
		})
	}
}

// TestPersistentDisagreement: what was prepared is compared as other calls are, and fails on a communicator that was
// given up.
func TestPersistentDisagreement(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			for rank, err := range fasttest.OnAll(w.Comms(t, 2), func(c *fast.Comm) error {
				defer c.Close()
				op := []fast.Op{fast.Sum, fast.Max}[c.Rank()]
				p, err := c.Prepare(func(opt fast.Option) error {
					return fast.AllReduce(t.Context(), c, []int32{1}, op, opt, fast.WithLabel("loss"))
				})
				if err != nil {
					return err
				}
				err = p.Do(t.Context())
				if again := p.Do(t.Context()); !errors.Is(again, fast.ErrAborted) {
					return fmt.Errorf("on a communicator that was given up: %v", again)
				}
				return err
			}) {
				var m *fast.MismatchError
				if !errors.As(err, &m) || m.Field != "op" || !strings.Contains(err.Error(), "loss") {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
		})
	}
}
