package object

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// calls are all calls, with a root where they have one.
var calls = map[string]func(ctx context.Context, c *fast.Comm, root int, opts ...Option) error{
	"object.Broadcast": func(ctx context.Context, c *fast.Comm, root int, opts ...Option) error {
		v := between(root, 2)
		return Broadcast(ctx, c, &v, root, opts...)
	},
	"object.Gather": func(ctx context.Context, c *fast.Comm, root int, opts ...Option) error {
		_, err := Gather(ctx, c, between(c.Rank(), root), root, opts...)
		return err
	},
	"object.AllGather": func(ctx context.Context, c *fast.Comm, _ int, opts ...Option) error {
		_, err := AllGather(ctx, c, between(c.Rank(), 2), opts...)
		return err
	},
	"object.Scatter": func(ctx context.Context, c *fast.Comm, root int, opts ...Option) error {
		_, err := Scatter(ctx, c, toAll(root, c.Size()), root, opts...)
		return err
	},
	"object.AllToAll": func(ctx context.Context, c *fast.Comm, _ int, opts ...Option) error {
		_, err := AllToAll(ctx, c, toAll(c.Rank(), c.Size()), opts...)
		return err
	},
}

// each makes a call on ranks of every kind, odd on one of them, looks at the errors, and has all calls succeed then.
func each(t *testing.T, what string, odd Option, check func(rank, at int, err error) error) {
	for _, w := range fasttest.Worlds(fast.Init) {
		if w.Name != "goroutines" && w.Name != "mixed" { // which has shared memory and TCP
			continue
		}
		for _, size := range []int{1, 3, 4} {
			all := w.Comms(t, size)
			for name, call := range calls {
				for at := range size {
					errs := fasttest.OnAll(all, func(c *fast.Comm) error {
						var opts []Option
						if c.Rank() == at {
							opts = append(opts, odd)
						}
						err := call(t.Context(), c, at, opts...)
						wrong := check(c.Rank(), at, err)
						if wrong == nil && !strings.HasPrefix(err.Error(), name+" on "+c.String()) {
							wrong = err
						}
						if wrong != nil {
							wrong = fmt.Errorf("%s, %s, %s with %d on %v: %w", w.Name, what, name, at, c, wrong)
						}
						return errors.Join(wrong, made.check(t.Context(), c, at))
					})
					fasttest.CheckErrors(t, errs)
				}
			}
			fasttest.CloseAll(t, all)
		}
	}
}

// blames returns an error unless err is of that kind, and blames the rank if it is another one.
func blames(rank, at int, err, kind error) error {
	var peer *fast.PeerError
	switch named := errors.As(err, &peer); {
	case !errors.Is(err, kind):
		return fmt.Errorf("got %v, want %v", err, kind)
	case rank != at && (!named || !slices.Equal(fast.Culprits(err), []int{at})):
		return fmt.Errorf("%w, which does not blame rank %d", err, at)
	case rank == at && named:
		return fmt.Errorf("%w, which blames another rank", err)
	}
	return nil
}

// TestCannotEncode: where one rank cannot encode its value, all ranks get an error that names it, and can go on.
func TestCannotEncode(t *testing.T) {
	boom := errors.New("boom")
	fails := WithCodec(func(any) ([]byte, error) { return []byte("not to be sent"), boom }, json.Unmarshal)
	each(t, "encoding", fails, func(rank, at int, err error) error {
		if rank == at && !errors.Is(err, boom) {
			return fmt.Errorf("got %v, want %v", err, boom)
		}
		return blames(rank, at, err, ErrEncode)
	})
	for _, v := range []any{func() {}, make(chan int), struct{ unexported int }{}, struct{ F record }{}} {
		if err := fast.Run(t.Context(), 2, func(ctx context.Context, c *fast.Comm) error {
			_, err := AllGather(ctx, c, v) // of a type that was not registered
			if !errors.Is(err, ErrEncode) {
				return fmt.Errorf("%T: %v", v, err)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
}

// TestTwoCannotEncode: both know their own reason, and the others blame one of them.
func TestTwoCannotEncode(t *testing.T) {
	if err := fast.Run(t.Context(), 4, func(ctx context.Context, c *fast.Comm) error {
		own := fmt.Errorf("reason %d", c.Rank())
		_, err := AllGather(ctx, c, 1, WithCodec(func(any) ([]byte, error) {
			if c.Rank()%2 == 1 {
				return nil, own
			}
			return nil, nil
		}, json.Unmarshal))
		if c.Rank()%2 == 1 && !errors.Is(err, own) || c.Rank()%2 == 0 && blames(c.Rank(), 1, err, ErrEncode) != nil {
			return fmt.Errorf("got %w", err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestTooLarge: where one rank would get more than its limit, all ranks get an error that names it, and can go on.
func TestTooLarge(t *testing.T) {
	each(t, "limit", WithLimit(1), func(rank, at int, err error) error { return blames(rank, at, err, ErrTooLarge) })
}

// TestLimit: a call of just as many bytes as the limit succeeds, and of one more does not.
func TestLimit(t *testing.T) {
	bytes := WithCodec(func(v any) ([]byte, error) { return v.([]byte), nil }, func(data []byte, v any) error {
		*v.(*[]byte) = data
		return nil
	})
	if err := fast.Run(t.Context(), 3, func(ctx context.Context, c *fast.Comm) error {
		for length, want := range []error{6: nil, 7: ErrTooLarge} {
			mine := make([]byte, 0)
			if c.Rank() == 1 {
				mine = make([]byte, length-length/2)
			} else if c.Rank() == 2 {
				mine = make([]byte, length/2)
			}
			if _, err := AllGather(ctx, c, mine, bytes, WithLimit(6)); !errors.Is(err, want) {
				return fmt.Errorf("%d bytes: %v", length, err)
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestHostileLengths: a rank that sends lengths which are none, and says that it is ready, does no harm.
func TestHostileLengths(t *testing.T) {
	for _, length := range []int64{-1, math.MinInt64, math.MaxInt64, DefaultLimit + 1} {
		if err := fast.Run(t.Context(), 3, func(ctx context.Context, c *fast.Comm) error {
			if c.Rank() != 1 {
				_, err := AllGather(ctx, c, "a value")
				return blames(c.Rank(), c.Rank(), err, ErrTooLarge)
			}
			x, err := begin(c, "object.AllGather", noRoot, nil)
			if err != nil {
				return err
			}
			_, _, err = x.carry(ctx, &encoded{lengths: []int64{length}}, 0, func(_, src []int64) error {
				return fast.AllGatherInto(ctx, c, make([]int64, 3), src, x.opts...)
			}, nil)
			return blames(1, 0, err, ErrTooLarge)
		}); err != nil {
			t.Errorf("length %d: %v", length, err)
		}
	}
}

// TestHostileStates: a rank that says something else of itself than there is to say counts as one with a limit.
func TestHostileStates(t *testing.T) {
	if err := fast.Run(t.Context(), 3, func(ctx context.Context, c *fast.Comm) error {
		if c.Rank() != 1 {
			_, err := AllGather(ctx, c, "a value")
			return blames(c.Rank(), 1, err, ErrTooLarge)
		}
		x, err := begin(c, "object.AllGather", noRoot, nil)
		if err != nil {
			return err
		}
		lengths := fast.AllGatherInto(ctx, c, make([]int64, 3), []int64{5}, x.opts...)
		x.part.Number = 1
		return errors.Join(lengths, fast.AllGatherInto(ctx, c, make([]uint8, 3), []uint8{77}, x.opts...))
	}); err != nil {
		t.Error(err)
	}
}

// TestGone: where a rank leaves after some parts of a call, the others learn of it.
func TestGone(t *testing.T) {
	for parts := range 3 {
		for _, w := range fasttest.Worlds(fast.Init) {
			all := w.Comms(t, 3)
			fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
				if c.Rank() != 1 {
					_, err := AllGather(t.Context(), c, "a value")
					return blames(c.Rank(), 1, err, fast.ErrClosed)
				}
				x, err := begin(c, "object.AllGather", noRoot, nil)
				if err == nil && parts > 0 {
					err = fast.AllGatherInto(t.Context(), c, make([]int64, 3), []int64{5}, x.opts...)
				}
				if err == nil && parts > 1 {
					err = x.agree(t.Context(), nil, true)
				}
				return errors.Join(err, c.Close())
			}))
			for _, c := range all {
				_ = c.Close()
			}
		}
	}
}

// TestCannotDecode: a rank that gets something else than a value says from whom. The others do not fail.
func TestCannotDecode(t *testing.T) {
	for what, odd := range map[string]func(ctx context.Context, c *fast.Comm) error{
		"another type": func(ctx context.Context, c *fast.Comm) error {
			_, err := Gather(ctx, c, map[string]int{"a": 1}, 0)
			return err
		},
		"another codec": func(ctx context.Context, c *fast.Comm) error {
			_, err := Gather(ctx, c, "text", 0, WithCodec(json.Marshal, json.Unmarshal))
			return err
		},
		"bytes that are left over": func(ctx context.Context, c *fast.Comm) error {
			longer := func(v any) ([]byte, error) {
				b, err := marshal(&config{}, v.(string))
				return append(b, 0), err
			}
			_, err := Gather(ctx, c, "text", 0, WithCodec(longer, json.Unmarshal))
			return err
		},
		"nothing": func(ctx context.Context, c *fast.Comm) error {
			_, err := Gather(ctx, c, "text", 0, WithCodec(func(any) ([]byte, error) { return nil, nil }, json.Unmarshal))
			return err
		},
	} {
		if err := fast.Run(t.Context(), 4, func(ctx context.Context, c *fast.Comm) error {
			if c.Rank() == 2 {
				return errors.Join(odd(ctx, c), made.check(ctx, c, 0))
			}
			all, err := Gather(ctx, c, "text", 0)
			if c.Rank() == 0 {
				err = blames(0, 2, err, ErrDecode)
			}
			if err != nil || all != nil {
				return fmt.Errorf("got %v: %w", all, err)
			}
			for _, root := range []int{c.Rank(), 0} {
				if err := Broadcast[int](ctx, c, nil, root); !errors.Is(err, fast.ErrInvalidArgument) {
					return fmt.Errorf("of rank %d, into nil: %w", root, err)
				}
			}
			return made.check(ctx, c, 0)
		}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestBroadcastKeeps: after an error, which names the root, the value is as it was.
func TestBroadcastKeeps(t *testing.T) {
	if err := fast.Run(t.Context(), 2, func(ctx context.Context, c *fast.Comm) error {
		if c.Rank() == 1 {
			v := 1
			_, err := Scatter(ctx, c, []string{"text", "text"}, 1)
			return errors.Join(Broadcast(ctx, c, &v, 1), err)
		}
		v := "as it was"
		_, scatter := Scatter[int](ctx, c, nil, 1)
		err := errors.Join(blames(0, 1, scatter, ErrDecode), blames(0, 1, Broadcast(ctx, c, &v, 1), ErrDecode))
		if v != "as it was" {
			return fmt.Errorf("%q, %w", v, err)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// TestRefused: wrong arguments are refused before anything is sent.
func TestRefused(t *testing.T) {
	if err := fast.Run(t.Context(), 2, func(ctx context.Context, c *fast.Comm) error {
		for name, call := range calls {
			for _, o := range []Option{nil, WithLimit(-1), WithCodec(nil, json.Unmarshal), WithCodec(json.Marshal, nil)} {
				if err := call(ctx, c, 0, o); !errors.Is(err, fast.ErrInvalidArgument) || !strings.Contains(err.Error(), name) {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			if err := call(ctx, nil, 0); err == nil {
				return errors.New(name + " without a communicator")
			}
		}
		for _, n := range []int{0, 1, 3} {
			_, scatter := Scatter(ctx, c, make([]int, n), c.Rank())
			_, all := AllToAll(ctx, c, make([]int, n))
			for _, err := range []error{scatter, all} {
				if !errors.Is(err, fast.ErrInvalidArgument) || !strings.Contains(err.Error(), "want 2, one for each rank") {
					return fmt.Errorf("%d values: %w", n, err)
				}
			}
		}
		v := 1
		if err := Broadcast(ctx, c, &v, 2); !errors.Is(err, fast.ErrInvalidArgument) {
			return fmt.Errorf("root 2: %w", err)
		}
		return made.check(ctx, c, 0)
	}); err != nil {
		t.Error(err)
	}
}

// ending is a context that ends when its Err has been asked for so often.
type ending struct {
	context.Context
	left int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// TestInterrupted: a call whose context ends between two of its parts gives the communicator up, so that no rank waits
// for this one.
func TestInterrupted(t *testing.T) {
	for name, call := range calls {
		given := 0
		for left := range 8 {
			_ = fast.Run(t.Context(), 2, func(ctx context.Context, c *fast.Comm) error {
				if c.Rank() == 1 {
					return call(ctx, c, 0)
				}
				err := call(&ending{ctx, left}, c, 0)
				if err != nil && c.State() == fast.Healthy {
					return call(ctx, c, 0)
				}
				if err != nil {
					given++
				}
				return err
			})
		}
		if given < 2 {
			t.Errorf("%s: of 8 calls, %d gave the communicator up", name, given)
		}
	}
}

// TestMixed: ranks that make different calls, or have different roots, get errors that name the calls.
func TestMixed(t *testing.T) {
	for want, odd := range map[string]func(ctx context.Context, c *fast.Comm) error{
		"object.AllGather":     func(ctx context.Context, c *fast.Comm) error { return calls["object.AllGather"](ctx, c, 0) },
		"object.Gather root 2": func(ctx context.Context, c *fast.Comm) error { return calls["object.Gather"](ctx, c, 2) },
		"primitive is Gather": func(ctx context.Context, c *fast.Comm) error {
			return fast.Gather(ctx, c, make([]int64, 3), 1)
		},
	} {
		var seen [3]error
		_ = fast.Run(t.Context(), 3, func(ctx context.Context, c *fast.Comm) error {
			if c.Rank() == 0 {
				seen[0] = odd(ctx, c)
			} else {
				seen[c.Rank()] = calls["object.Gather"](ctx, c, 1)
			}
			return nil
		})
		for rank, err := range seen {
			if !errors.As(err, new(*fast.MismatchError)) {
				t.Errorf("%s: rank %d: %v", want, rank, err)
			}
		}
		if err := seen[0]; !strings.Contains(err.Error(), want) {
			t.Errorf("%s: rank 0: %v", want, err)
		}
	}
}

// FuzzDecode: whatever a rank sends, decoding ends with values or an error, and values can be encoded again.
func FuzzDecode(f *testing.F) {
	for from := range 4 {
		e := encode(&config{}, between(from, 0), between(from, 1))
		f.Add(e.data, uint(e.lengths[0]), false)
		j := encode(&config{marshal: json.Marshal, own: true}, between(from, 0), between(from, 1))
		f.Add(j.data, uint(j.lengths[0]), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, cut uint, own bool) {
		o := &config{marshal: json.Marshal, unmarshal: json.Unmarshal, own: own}
		first := int(min(cut, uint(len(data))))
		vs, at, err := decode[*record](o, data, []int{first, len(data) - first})
		if err != nil {
			if at < 0 || at > 1 || vs != nil {
				t.Errorf("value %d, %v", at, vs)
			}
			return
		}
		if e := encode(o, vs...); e.err != nil && !own { // JSON has no NaN
			t.Errorf("%v: %v", vs, e.err)
		}
	})
}
