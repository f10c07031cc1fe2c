package commtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/collective"
	"github.com/collgen/collgen/fast/internal/access"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/wire"
)

// lie returns n bools of a rank whose bytes are 0 and anything else, as those of a broken or hostile rank are.
func lie(rank, n int) []bool {
	data := make([]byte, n)
	for i := range data {
		if told(rank, i) {
			data[i] = byte(1 + (rank+i*7)%255)
		}
	}
	return unsafe.Slice((*bool)(unsafe.Pointer(unsafe.SliceData(data))), n)
}

// told reports whether byte i of that rank's lie is not 0.
func told(rank, i int) bool { return (rank+1)*(i+3)%5 > 1 }

// checkBools returns an error unless got is bools, and those that want says, if it is not nil.
func checkBools(got []bool, want func(i int) bool) error {
	for i, b := range exec.Bytes(got) {
		if b > 1 || want != nil && want(i) != (b == 1) {
			return fmt.Errorf("byte %d of %d is %#02x", i, len(got), b)
		}
	}
	return nil
}

// xorOp is a function of the program.
var xorOp = newOp("bool-xor", true, func(dst, a, b []bool) {
	for i := range dst {
		dst[i] = a[i] != b[i]
	}
})

// boolCall is a call that receives bools.
type boolCall struct {
	dst, src []bool // may be the same
	want     func(i int) bool
	make     func(opts ...fast.Option) error
}

// boolCalls are calls with n bools, or as many in each block, by the name of the collective and more words.
func boolCalls(ctx context.Context, c *fast.Comm, n int) map[string]boolCall {
	size, rank, last := c.Size(), c.Rank(), c.Size()-1
	inPlace := func(want func(i int) bool, call func(x []bool, opts ...fast.Option) error) boolCall {
		x := make([]bool, n)
		return boolCall{x, x, want, func(opts ...fast.Option) error { return call(x, opts...) }}
	}
	of := func(sent, received int, want func(i int) bool, call func(x, y []bool, opts ...fast.Option) error) boolCall {
		y, x := make([]bool, received), make([]bool, sent)
		return boolCall{y, x, want, func(opts ...fast.Option) error { return call(y, x, opts...) }}
	}
	blocks := fast.Blocks{Counts: slices.Repeat([]int{n}, size)}
	for r := range blocks.Counts {
		blocks.Displs = append(blocks.Displs, r*(n+1)) // a gap behind each
	}
	return map[string]boolCall{
		"Broadcast": inPlace(func(i int) bool { return told(last, i) }, func(x []bool, opts ...fast.Option) error {
			return fast.Broadcast(ctx, c, x, last, opts...)
		}),
		"AllReduce and": inPlace(ofFirst(size, fast.LAnd), func(x []bool, opts ...fast.Option) error {
			return fast.AllReduce(ctx, c, x, fast.LAnd, opts...)
		}),
		"AllReduce or": of(n, n, ofFirst(size, fast.LOr), func(y, x []bool, opts ...fast.Option) error {
			return fast.AllReduceInto(ctx, c, y, x, fast.LOr, opts...)
		}),
		"AllReduce by a function": inPlace(ofFirst(size, xorOp), func(x []bool, opts ...fast.Option) error {
			return fast.AllReduce(ctx, c, x, xorOp, opts...)
		}),
		"Scan": inPlace(ofFirst(rank+1, xorOp), func(x []bool, opts ...fast.Option) error {
			return fast.Scan(ctx, c, x, xorOp, opts...)
		}),
		"AllGather": of(n, n*size, func(i int) bool { return told(i/n, i%n) },
			func(y, x []bool, opts ...fast.Option) error { return fast.AllGatherInto(ctx, c, y, x, opts...) }),
		"AllToAll": of(n*size, n*size, func(i int) bool { return told(i/n, rank*n+i%n) },
			func(y, x []bool, opts ...fast.Option) error { return fast.AllToAllInto(ctx, c, y, x, opts...) }),
		"AllGatherV": of(n, (n+1)*size, func(i int) bool { return i%(n+1) < n && told(i/(n+1), i%(n+1)) },
			func(y, x []bool, opts ...fast.Option) error {
				return fast.AllGatherVInto(ctx, c, y, blocks, x, opts...)
			}),
		"AllToAllV": of(n*size, (n+1)*size, func(i int) bool { return i%(n+1) < n && told(i/(n+1), rank*n+i%(n+1)) },
			func(y, x []bool, opts ...fast.Option) error {
				return fast.AllToAllV(ctx, c, y, blocks, x, fast.Blocks{Counts: blocks.Counts}, opts...)
			}),
	}
}

// ofFirst returns what op makes of the lies of the first ranks.
func ofFirst(ranks int, op fast.Op) func(i int) bool {
	return func(i int) bool {
		x := told(0, i)
		for r := 1; r < ranks; r++ {
			switch y := told(r, i); op {
			case fast.LAnd:
				x = x && y
			case fast.LOr:
				x = x || y
			default:
				x = x != y
			}
		}
		return x
	}
}

// ways are the ways in which calls are made.
var ways = map[string]func(ctx context.Context, c *fast.Comm, call func(opts ...fast.Option) error,
	opts []fast.Option) error{
	"made": func(_ context.Context, _ *fast.Comm, call func(opts ...fast.Option) error, opts []fast.Option) error {
		return call(opts...)
	},
	"started": func(ctx context.Context, _ *fast.Comm, call func(opts ...fast.Option) error, opts []fast.Option) error {
		return collective.Start(opts, func(opts []fast.Option) error { return call(opts...) }).Wait(ctx)
	},
	"persistent": func(ctx context.Context, c *fast.Comm, call func(opts ...fast.Option) error,
		opts []fast.Option) error {
		p, err := c.Prepare(func(opt fast.Option) error { return call(append(opts, opt)...) })
		if err != nil {
			return err
		}
		return p.Do(ctx)
	},
	"persistent and started": func(ctx context.Context, c *fast.Comm, call func(opts ...fast.Option) error,
		opts []fast.Option) error {
		p, err := c.Prepare(func(opt fast.Option) error { return call(append(opts, opt)...) })
		if err == nil {
			err = p.Start(ctx)
		}
		if err != nil {
			return err
		}
		return p.Wait(ctx)
	},
}

// TestBoolsOfLiars: whatever bytes ranks send as bools, all have bools then, by every algorithm and in every way.
func TestBoolsOfLiars(t *testing.T) {
	for _, w := range worlds {
		for _, size := range []int{2, 3} {
			t.Run(fmt.Sprintf("%s/%d", w.Name, size), func(t *testing.T) {
				all := w.Comms(t, size)
				defer fasttest.CloseAll(t, all)
				fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) (err error) {
					for _, n := range []int{1, 13, 30001} {
						err = errors.Join(err, lieInAll(t.Context(), c, n), lieBetween(t.Context(), c, n))
					}
					return err
				}))
			})
		}
	}
}

// lieInAll makes all calls, and checks what comes of them.
func lieInAll(ctx context.Context, c *fast.Comm, n int) error {
	calls := boolCalls(ctx, c, n)
	for _, name := range sortedKeys(calls) {
		call := calls[name]
		primitive, _, _ := strings.Cut(name, " ")
		for _, algorithm := range fast.Algorithms(primitive) {
			for _, way := range sortedKeys(ways) {
				clear(call.dst)
				copy(call.src, lie(c.Rank(), len(call.src)))
				err := ways[way](ctx, c, call.make, []fast.Option{fast.WithAlgorithm(algorithm)})
				if errors.Is(err, fast.ErrInvalidArgument) {
					continue // it is for other numbers of ranks or hosts
				}
				if err == nil {
					err = checkBools(call.dst, call.want)
				}
				if err != nil {
					return fmt.Errorf("%s by %s, %s: %w", name, algorithm, way, err)
				}
			}
		}
	}
	return nil
}

// lieBetween has each rank send to the next one, in several ways.
func lieBetween(ctx context.Context, c *fast.Comm, n int) error {
	next, before := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	x, y, z := lie(c.Rank(), n), make([]bool, n), lie(c.Rank(), n)
	want := func(i int) bool { return told(before, i) }
	err := fast.SendRecv(ctx, c, x, next, y, before)
	if err == nil {
		err = errors.Join(checkBools(y, want), fast.SendRecvReplace(ctx, c, z, next, before), checkBools(z, want))
	}
	if err != nil {
		return err
	}
	clear(y)
	out, in := fast.StartSend(ctx, c, x, next), fast.StartRecv(ctx, c, y, before)
	if err := errors.Join(in.Wait(ctx), out.Wait(ctx), checkBools(y, want)); err != nil {
		return err
	}
	if err := lieInBatch(ctx, c, n); err != nil {
		return err
	}
	counts := make([]int, c.Size())
	counts[next] = n
	all, _, err := fast.AllToAllVAppend(ctx, c, nil, x, fast.Blocks{Counts: counts})
	return errors.Join(err, checkBools(all, want))
}

// lieInBatch has each rank send to the next one twice, in calls that begin together.
func lieInBatch(ctx context.Context, c *fast.Comm, n int) error {
	next, before := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	x, y, z := lie(c.Rank(), n), make([]bool, n), make([]bool, n)
	var started []*fast.Handle
	err := c.Batch(func() error {
		started = append(started, fast.StartRecv(ctx, c, y, before), fast.StartRecv(ctx, c, z, before),
			fast.StartSend(ctx, c, x, next), fast.StartSend(ctx, c, x, next))
		return nil
	})
	for _, h := range started {
		err = errors.Join(err, h.Wait(ctx))
	}
	want := func(i int) bool { return told(before, i) }
	return errors.Join(err, checkBools(y, want), checkBools(z, want))
}

// TestBytesBetweenBools: what lies between uneven blocks is not of the call, and stays as it is, whatever it is.
func TestBytesBetweenBools(t *testing.T) {
	all := worlds[0].Comms(t, 2)
	defer fasttest.CloseAll(t, all)
	fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
		for _, opts := range [][]fast.Option{nil, {fast.WithLabel("gaps")}} {
			x := make([]bool, 40)
			data := exec.Bytes(x)
			for i := range data {
				data[i] = 7
			}
			blocks := fast.Blocks{Counts: []int{9, 17}, Displs: []int{20, 2}}
			err := fast.AllGatherVInto(t.Context(), c, x, blocks, lie(c.Rank(), blocks.Counts[c.Rank()]), opts...)
			if err != nil {
				return err
			}
			for i, b := range data {
				if within := i >= 2 && i < 19 || i >= 20 && i < 29; within != (b <= 1) {
					return fmt.Errorf("byte %d is %d", i, b)
				}
			}
		}
		return nil
	}))
}

// liar is the transport of a rank whose peers send bytes that are no bools.
type liar struct {
	fasttest.Idle
	after int // Exchanges before the one that ends
	end   func() error
}

func (l *liar) Exchange(_ context.Context, _ []wire.Send, recvs []wire.Recv) error {
	for i := range recvs {
		r := &recvs[i]
		kernel.Apply(r, 0, slices.Repeat([]byte{2, 1, 0, 255, 128}, len(r.Into)/5+1)[:len(r.Into)])
	}
	if l.after--; l.after < 0 {
		return l.end()
	}
	return nil
}

// TestBoolsAfterErrors: whatever a call has received when it fails, or panics, the caller has bools.
func TestBoolsAfterErrors(t *testing.T) {
	errLost := errors.New("the connection is lost")
	ended := 0
	for name, end := range map[string]func() error{
		"success": func() error { return nil },
		"error":   func() error { ended++; return errLost },
		"panic":   func() error { ended++; panic(errLost) },
	} {
		for call := range boolCalls(t.Context(), comms(t, 1)[0], 1) {
			primitive, _, _ := strings.Cut(call, " ")
			for _, algorithm := range fast.Algorithms(primitive) {
				for after := range 3 {
					l := &liar{after: after, end: end}
					c := access.Fast.CommOver(1, 3, l).(*fast.Comm)
					x := boolCalls(t.Context(), c, 100)[call]
					copy(x.src, lie(1, len(x.src)))
					err := recovered(func() error { return x.make(fast.WithAlgorithm(algorithm)) })
					if l.after < 0 && (err == nil) != (name == "success") {
						t.Errorf("%s by %s: %v, want %s", call, algorithm, err, name)
					}
					if errors.Is(err, fast.ErrInvalidArgument) {
						continue
					}
					if err := checkBools(x.dst, nil); err != nil {
						t.Errorf("%s by %s, %s after %d steps: %v", call, algorithm, name, after, err)
					}
					_ = c.Close()
				}
			}
		}
		for _, started := range []bool{false, true} {
			x := make([]bool, 100)
			c := access.Fast.CommOver(0, 2, &liar{end: end}).(*fast.Comm)
			_ = recovered(func() error {
				if started && name != "panic" { // which would end the program
					return fast.StartRecv(t.Context(), c, x, 1).Wait(t.Context())
				}
				return fast.SendRecv(t.Context(), c, []bool{true}, 1, x, 1)
			})
			if err := checkBools(x, nil); err != nil {
				t.Errorf("a receive, %s: %v", name, err)
			}
			_ = c.Close()
		}
	}
	if ended < 20 {
		t.Errorf("%d calls have failed", ended)
	}
}

// recovered returns the error of f, or that with which it has panicked.
func recovered(f func() error) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = x.(error)
		}
	}()
	return f()
}

// sortedKeys returns the keys of m in an order that all ranks have.
func sortedKeys[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
